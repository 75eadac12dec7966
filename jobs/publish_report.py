"""Publishes the report: a static site of what was found, a page for each group, and how far it can be trusted."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from jobs.frame.job import Job, execute
from jobs.jvm.storage import Storage
from jobs.lake.storage_errors import storage_errors
from jobs.report.pages import Site, data_end_js, findings_html, group_html, index_html, layout, quality_html
from jobs.report.reading import READ, GoldReader, Standing
from jobs.report.site import GROUPS, Manifest, SiteFiles
from transforms.report.fleet import fleet, group_rows
from transforms.report.group_page import group_page
from transforms.report.names import page_name
from transforms.report.quality_page import quality_page

STEP = "publish_report"


def run(job: Job) -> None:
    """Write what has changed since the report was published last, and say where it is."""
    where = job.settings.report.folder(job.lake.root)
    with job.report.step(STEP), storage_errors(f"report {where}"):
        written = _publish(job, where)
        job.report.note("nothing new" if written is None else f"pages of groups written: {written:,}")
    job.report.say(f"Report: {where}/index.html")


def _publish(job: Job, where: str) -> int | None:
    """Write the pages that need it; return how many of them are of groups, None if no table has changed."""
    site = SiteFiles(Storage(job.spark, where).files(), where)
    cluster = job.settings.cluster
    kept = site.manifest(cluster)
    checks = site.checks()
    marks = {spec.full_name: job.lake.contents.mark(spec) for spec in READ} | {"layout": layout(), "checks": checks}
    if kept.marks == marks:
        return None
    job.report.activity("asking what has changed")
    reader = GoldReader(job.lake)
    standing = reader.standing()
    made_of = {
        page_name(cluster, group_id): (group_id, f"{layout()} {rows}") for group_id, rows in standing.digests.items()
    }
    stale = [group_id for name, (group_id, source) in made_of.items() if kept.pages.get(name) != source]
    site.write_assets()
    job.report.activity(f"writing the pages of {len(stale):,} groups")
    about = Site(cluster)
    for rows in reader.groups(stale, standing):
        page = group_page(rows)
        site.write(f"{GROUPS}/{page.file}", group_html(about, page))
    site.delete_groups(kept.pages.keys() - made_of.keys())
    _write_overview(reader, standing, site, about, checks)
    pages = {name: source for name, (_, source) in made_of.items()}
    site.keep(Manifest(cluster, marks, pages))
    return len(stale)


def _write_overview(reader: GoldReader, standing: Standing, site: SiteFiles, about: Site, checks: str) -> None:
    """Write the pages about all groups."""
    found, width_ms = reader.overview(standing)
    groups = group_rows(standing.row_counts, found["line"], found["state"])
    bins = {(row["group_id"], row["bin"]): row["rebalance_count"] for row in found["bin"]}
    whole = fleet(
        about.cluster,
        groups,
        found["rebalance_storms"],
        found["illegal_generation_bursts"],
        bins,
        width_ms,
        standing.since,
        standing.until,
        found["slow_revokers"],
    )
    site.write("index.html", index_html(about, whole))
    site.write("findings.html", findings_html(about, whole))
    totals = found["generations"][0] | found["homes"][0]
    differing = [{**row, "page": f"{GROUPS}/{page_name(about.cluster, row['group_id'])}"} for row in found["differing"]]
    trust = quality_page(found["audit"], differing, found["evidence"], totals, found["rejected"])
    site.write("quality.html", quality_html(about, trust, checks))
    site.write("assets/data-end.js", data_end_js(standing.until))


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, writes=False)


if __name__ == "__main__":
    sys.exit(main())
