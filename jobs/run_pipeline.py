"""Runs all steps once: whatever is new goes from the sources to the findings, and the summary says what was found."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from jobs import check_quality, detect_findings, ingest_logs, ingest_offsets, publish_report, rebuild_timelines
from jobs.findings.summary import summarise
from jobs.frame.job import Body, Job, execute
from jobs.handing_over.metrics_file import note_end
from jobs.session.brief_queries import FEW_ROWS
from jobs.timelines.standing import newest_load, standing
from schemas.tables.bronze import TABLES as BRONZE
from transforms.errors import QualityError

STEPS: dict[str, Body] = {
    "ingest_offsets": ingest_offsets.run,
    "ingest_logs": ingest_logs.run,
    "rebuild_timelines": rebuild_timelines.run,
    "detect_findings": detect_findings.run,
    check_quality.STEP: check_quality.run,
}


def run(job: Job) -> None:
    """Run the steps, and say what came of it.

    Raises:
        QualityError: the gate is closed; the summary, of what was published, is shown nevertheless.
    """
    closed: QualityError | None = None
    is_caught_up = _is_caught_up(job)
    try:
        for name, step in STEPS.items():
            with (
                job.report.step(name),
                job.brief(is_caught_up and not name.startswith("ingest_") and _has_little_news(job)),
            ):
                step(job)
    except QualityError as error:
        closed = error
    with job.brief(is_caught_up and _has_little_news(job)):
        summarise(job)
    if closed is not None:
        raise closed
    if getattr(job.arguments, "publish", False):
        job.record.keep_verdicts(job.lake)  # the report leads to them
        publish_report.run(job)


def _is_caught_up(job: Job) -> bool:
    """Tell whether there was nothing to replay before this run read anything."""
    last, loaded = standing(job), newest_load(job)
    return not any(loaded.values()) if last is None else last.loaded == loaded


def _has_little_news(job: Job) -> bool:
    """Tell whether what this run has read is little."""
    return sum(job.report.written[spec.full_name] for spec in BRONZE) <= FEW_ROWS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the job's own arguments."""
    parser.add_argument("--publish", action="store_true", help="publish the report at the end")


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, sections=("offsets", "logs"), add_arguments=add_arguments, at_end=note_end)


if __name__ == "__main__":
    sys.exit(main())
