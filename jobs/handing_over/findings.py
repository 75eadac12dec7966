"""Hands the findings over: as lines of JSON, as metrics, and to the table that remembers which are known.

The files come first, and the table after them: a run that breaks off in between hands over once more what is new. So
what is new is told at least once, and never lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime, timezone
from math import isfinite
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.frame.job import Job
from jobs.handing_over.files import written
from jobs.handing_over.metrics_file import put_metrics
from jobs.lake.rows import collected, in_ms
from jobs.settings.sources import local_path
from jobs.timelines.standing import STEP as REPLAY
from schemas.tables.gold import FINDINGS, GROUP_HEALTH, KNOWN_FINDINGS, ORPHANED_PARTITIONS
from transforms.findings.handover.json_lines import line
from transforms.findings.handover.kinds import KINDS, Kind
from transforms.findings.handover.tally import WINDOWS, Tally, of_freshness, of_groups
from transforms.gold.known_findings import NEWS, OWN_ID, identified, with_own_id
from transforms.gold.orphaned_partitions import ORPHANED

STEP = "hand_over"

KEY = "findings.json_lines"


def hand_over(job: Job) -> None:
    """Hand over what was found; if neither findings nor settings changed, only how fresh the data are."""
    last = job.lake.progress.last(REPLAY) or {}
    newest = max(last.get("newest", {}).values(), default=None)
    freshness = of_freshness(newest, last.get("horizon"))
    note = {
        "of": {spec.full_name: job.lake.contents.mark(spec) for spec in (*FINDINGS, ORPHANED_PARTITIONS, GROUP_HEALTH)},
        "how": job.settings.findings.model_dump(),
        "new": 0,  # what the files call new; they are written once more after a run that had any
    }
    if job.lake.progress.of(STEP, (KNOWN_FINDINGS,)) == note and all(file.is_file() for file in _files(job)):
        put_metrics(job.settings, freshness)
        return
    job.lake.create([KNOWN_FINDINGS])
    job.report.activity("handing findings over")
    at = datetime.now(timezone.utc)
    tally = Tally(job.settings.findings.named_groups)
    asked = identified(_of_late(job, newest)) if _files(job) else identified()
    ids = job.staged(job.lake.answer(asked, None))
    if _files(job):
        _put_lines(job, _told(job, ids), at, tally)
        for row in collected(job.lake.answer(ORPHANED, None)):
            tally.add_orphans(row)
        put_metrics(job.settings, {**tally.families(), **of_groups(_groups(job)), **freshness})
    _remember(job, ids, at)
    job.lake.progress.note(STEP, (KNOWN_FINDINGS,), {**note, "new": tally.new_count})


def _files(job: Job) -> list[Path]:
    """Return the files that are asked for."""
    asked = (job.settings.findings.json_lines, job.settings.findings.prometheus)
    return [Path(local_path(file)) for file in asked if file]


def _of_late(job: Job, newest: float | None) -> str:
    """Return the condition of findings that are told of though they are not new: those of late, and the open ones."""
    days = job.settings.findings.days
    if not days or newest is None or not isfinite(newest):
        return "true"
    return f"is_open OR ended_at >= timestamp_micros({(round(newest) - days * 86_400_000) * 1000})"


def _told(job: Job, ids: DataFrame) -> Iterator[tuple[Kind, dict[str, Any]]]:
    """Yield the findings that are told of, with their ids; moments as epoch ms."""
    names = ids.select("cluster", OWN_ID, "finding_id", F.col("first_seen_at").alias("seen_first"))
    for kind in KINDS:
        rows = with_own_id(kind, job.lake.read(kind.spec)).join(names, ["cluster", OWN_ID])
        for row in rows.select(*in_ms(rows)).orderBy(*kind.spec.key).toLocalIterator():
            yield kind, row.asDict(recursive=True)


def _put_lines(job: Job, told: Iterator[tuple[Kind, dict[str, Any]]], at: datetime, tally: Tally) -> None:
    """Write a line for each finding, and count it."""
    now_ms, path = at.timestamp() * 1000, job.settings.findings.json_lines
    with ExitStack() as stack:
        file = stack.enter_context(written(Path(local_path(path)), KEY)) if path else None
        for kind, row in told:
            first_seen_at = row["seen_first"]
            is_new = first_seen_at is None
            tally.add(kind, row, is_new)
            if file is not None:
                file.write(line(kind, row, row["finding_id"], is_new, now_ms if is_new else first_seen_at) + "\n")


def _remember(job: Job, ids: DataFrame, at: datetime) -> None:
    """Take down the findings that are new, and those that have grown."""
    news = ids.where(NEWS)
    first = F.coalesce("first_seen_at", F.lit(at.isoformat()).cast("timestamp"))
    rows = news.withColumn("first_seen_at", first)
    if not rows.isEmpty():
        added = job.lake.put(KNOWN_FINDINGS, rows.select(*KNOWN_FINDINGS.columns))
        job.report.wrote(KNOWN_FINDINGS, added)


def _groups(job: Job) -> list[dict[str, Any]]:
    """Count the groups by type and state, and sum up what their health says."""
    sums = [F.sum(name).alias(name) for name in (*_windowed("rebalance_count"), *_windowed("unstable_ms"))]
    health = job.lake.read(GROUP_HEALTH).groupBy("group_type", "state")
    return collected(health.agg(F.count("*").alias("group_count"), *sums))


def _windowed(what: str) -> list[str]:
    return [f"{window}_{what}" for window in WINDOWS.values()]
