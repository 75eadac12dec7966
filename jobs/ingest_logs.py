"""Reads the broker's logs into bronze, and what their lines tell into silver.

Files that have not changed since an earlier run are not read again. What cannot be read or parsed goes to
`silver.rejected`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime

from pyspark.sql import DataFrame

from jobs.frame.hashes import require_same_hashes
from jobs.frame.job import Job, execute
from jobs.frame.keeping import keeping
from jobs.lake.increments import increment
from jobs.settings.settings import LogsSettings
from jobs.sources.logs import reader as source
from jobs.sources.logs.files import LogFile, find_log_files
from schemas.tables.bronze import LOG_LINES
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, REJECTED
from transforms.silver import logs

READ_STEP, PARSE_STEP = "read_logs", "parse_logs"

_READ = (REJECTED, LOG_LINES)
_SILVER = (REJECTED, CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS)


def run(job: Job) -> None:
    """Ingest and parse."""
    if not job.settings.logs.path:
        job.report.note("logs.path is empty")
        return
    at = job.lake.contents.next_load_time([LOG_LINES, CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS])
    job.lake.create([LOG_LINES, *_SILVER])
    require_same_hashes(job, "logs", (CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS))
    _catch_up(job, at)
    _load(job, at)


def _catch_up(job: Job, at: datetime) -> None:
    """Bronze → silver, for what an earlier run left: it was cut short, or silver was deleted to be parsed anew."""
    found = increment(job.lake, PARSE_STEP, [LOG_LINES], _SILVER)
    if found.is_empty or not any(found.now.values()):
        return
    job.report.activity("parsing what earlier runs left")
    _append_facts(job, logs.parse(found.new(job.lake, LOG_LINES)), at)
    job.lake.progress.note(PARSE_STEP, _SILVER, found.now)


def _load(job: Job, at: datetime) -> None:
    """Source → bronze, then source → silver, for the files that have changed.

    Between the two a broker may rotate its files. Then nothing is noted, and the next run catches up from bronze.
    """
    settings = job.settings.logs
    how = (settings.time_zone, settings.layout)
    files = _files(settings)
    read_before = (job.lake.progress.of(READ_STEP, _READ) or {}).get("files", [])
    changed = [file for file in files if file.mark(*how) not in read_before]
    if not changed:
        return
    job.report.activity(f"reading {settings.path}")
    entries = source.read(job.spark, changed, *how, wanted=[logs.Wanted.ENTRIES])
    job.append([(LOG_LINES, logs.split(entries)[LOG_LINES.name])], at)
    job.report.activity("parsing")
    _append_facts(job, source.read(job.spark, changed, *how, wanted=[logs.Wanted.FACTS]), at)
    in_place = {(file.path, file.lasting_name) for file in _files(settings)}
    if any((file.path, file.lasting_name) not in in_place for file in changed):
        job.report.note("files were rotated while they were read; the next run reads the rest")
        return
    job.lake.progress.note(PARSE_STEP, _SILVER, job.lake.contents.newest_load([LOG_LINES]))
    read_whole = sorted(file.mark(*how) for file in files if file.is_whole)
    job.lake.progress.note(READ_STEP, _READ, {"files": read_whole})


def _files(settings: LogsSettings) -> list[LogFile]:
    return find_log_files(settings.path, settings.broker, settings.layout)


def _append_facts(job: Job, facts: DataFrame, at: datetime) -> None:
    with keeping() as keep:
        facts = keep(facts)
        told = {row[logs.TABLE] for row in facts.groupBy(logs.TABLE).count().collect()}
        parsed = logs.split(facts)
        job.append([(spec, parsed[spec.name]) for spec in _SILVER if spec.name in told], at)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, sections=("logs",), step="ingest_logs")


if __name__ == "__main__":
    sys.exit(main())
