"""Reads the broker's logs into bronze and parses what is new into silver.

What cannot be read or parsed goes to `silver.rejected`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime

from jobs._runtime.increments import increment, split_rejected
from jobs._runtime.job import Job, execute
from jobs._runtime.sources import logs as source
from schemas.tables.bronze import LOG_LINES
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, REJECTED
from transforms.silver import logs

STEP = "parse_logs"

_SILVER = (REJECTED, CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS)


def run(job: Job) -> None:
    """Ingest and parse."""
    if not job.settings.logs.path:
        job.report.note("logs.path is empty")
        return
    at = job.lake.next_load_time([LOG_LINES, CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS])
    job.lake.create([LOG_LINES, *_SILVER])
    _load(job, at)
    _parse(job, at)


def _load(job: Job, at: datetime) -> None:
    """Source → bronze."""
    settings = job.settings.logs
    job.report.activity(f"reading {settings.path}")
    read = source.read(job.spark, settings.path, settings.broker, settings.time_zone, settings.layout).persist()
    try:
        good, bad = split_rejected(read, LOG_LINES)
        job.append([(LOG_LINES, good), (REJECTED, bad)], at)
    finally:
        read.unpersist()


def _parse(job: Job, at: datetime) -> None:
    """Bronze → silver, for the lines that have not been parsed yet."""
    found = increment(job.lake, STEP, [LOG_LINES], _SILVER)
    if found.is_empty:
        return
    job.report.activity("parsing")
    facts = logs.tagged(found.new(job.lake, LOG_LINES)).persist()
    try:
        parsed = logs.split(facts)
        job.append([(spec, parsed[spec.name]) for spec in _SILVER], at)
    finally:
        facts.unpersist()
    job.lake.note_progress(STEP, _SILVER, found.now)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, sections=("logs",), step="ingest_logs")


if __name__ == "__main__":
    sys.exit(main())
