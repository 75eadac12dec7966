"""Reads the broker's logs into bronze, and what their lines tell into silver.

Files that have not changed since an earlier run are not read again, those that have grown are read on. What cannot be
read or parsed goes to `silver.rejected`. Entries that tell nothing of groups are counted, and are not kept unless the
settings want that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.frame.hashes import require_same_hashes
from jobs.frame.job import Job, execute
from jobs.frame.keeping import folder_aside, keeping
from jobs.lake.increments import increment
from jobs.lake.rows import fetched
from jobs.session.brief_queries import FEW_BYTES, FEW_ROWS
from jobs.settings.settings import LogsSettings
from jobs.sources.bronze import lines
from jobs.sources.logs import bulk
from jobs.sources.logs import reader as source
from jobs.sources.logs.files import LogFile, find_log_files
from jobs.sources.logs.progress import Count, Counted, LogsRead, logs_read, note_logs_read
from schemas.tables.bronze import LOG_LINES
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, REJECTED
from transforms.given_rows import rows_held
from transforms.loglines.entries.lines import Place
from transforms.silver import logs

PARSE_STEP = "parse_logs"

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
    if not _parse_in_bulk(job, at):
        _append_facts(job, logs.parse(found.new(job.lake, LOG_LINES)), at)
    job.lake.progress.note(PARSE_STEP, _SILVER, found.now)


def _parse_in_bulk(job: Job, at: datetime) -> bool:
    """Bronze → silver that has nothing yet, by processes of this machine; tell whether they could."""
    if any(job.lake.contents.row_counts(lines.WRITTEN).values()):
        return False
    landings = job.landings((LOG_LINES, *lines.WRITTEN), at)
    if not landings:
        return False
    bronze, *silver = landings
    with folder_aside(job.spark) as aside:
        parsed = lines.parse(bronze.there, silver, aside, job.spark.sparkContext.defaultParallelism)
        job.add_files(silver, parsed.files)
        job.append_aside(parsed, REJECTED, at)
    return True


def _load(job: Job, at: datetime) -> None:
    """Source → bronze, then source → silver, for the files that have changed.

    Between the two a broker may rotate its files. Then nothing is noted, and the next run catches up from bronze.
    """
    settings = job.settings.logs
    files = _files(settings)
    before = logs_read(job.lake)
    marks = {file: _mark(file, settings, before.files) for file in files}
    changed = [file for file in files if marks[file] not in before.files]
    if not changed:
        return
    job.report.activity(f"reading {settings.path}")
    found = _read(job, changed, before, at)
    if found is None:
        job.report.note("files were rotated while they were read; the next run reads the rest")
        return
    job.lake.progress.note(PARSE_STEP, _SILVER, job.lake.contents.newest_load([LOG_LINES]))
    job.report.leave_out(sum(each.left_out for each in found.of_logs.values()))
    sizes = {file.lasting_name: file.size for file in changed}
    counts_on = settings.keep == source.RELEVANT
    counted = {
        name: msgspec.structs.replace(
            each,
            left_out=each.left_out + (before.count_of(name).left_out if counts_on else 0),
            size=sizes[name],
            how=_how(settings),
        )
        for name, each in found.of_logs.items()
    }
    read_whole = sorted(mark for file, mark in marks.items() if file.is_whole)
    read = before.read(read_whole, counted, {file.lasting_name for file in files})
    note_logs_read(job.lake, read, found.has_rejected)


def _read(job: Job, changed: list[LogFile], before: LogsRead, at: datetime) -> Counted | None:
    """Read files into bronze and silver; return what was counted of each, None if they were rotated meanwhile."""
    settings = job.settings.logs
    changed = [_read_on(file, before.count_of(file.lasting_name), settings) for file in changed]
    is_little = sum(file.unread for file in changed) <= FEW_BYTES
    with job.brief(is_little):
        counted = _read_in_bulk(job, changed, at) or _read_by_spark(job, changed, is_little, at)
    in_place = {(file.path, file.lasting_name) for file in _files(settings)}
    if any((file.path, file.lasting_name) not in in_place for file in changed):
        return None
    return counted


def _read_in_bulk(job: Job, files: Sequence[LogFile], at: datetime) -> Counted | None:
    """Read files into bronze and silver by processes of this machine; None where only Spark can do it all.

    First comes bronze: what silver lacks of it the next run parses.
    """
    landings = job.landings(bulk.WRITTEN, at)
    if not landings:
        return None
    settings = job.settings.logs
    with folder_aside(job.spark) as aside:
        how = (settings.time_zone, settings.layout, settings.keep)
        read = bulk.read(files, how, landings, aside, job.spark.sparkContext.defaultParallelism)
        job.add_files(landings[:1], read.files)
        job.add_files(landings[1:], read.files)
        job.append_aside(read, REJECTED, at)
    return Counted(_counts(read.of_logs), REJECTED.name in read.aside)


def _read_by_spark(job: Job, files: Sequence[LogFile], are_little: bool, at: datetime) -> Counted:
    """Read files into bronze and silver by Spark; what is little this process reads, and hands to it."""
    settings = job.settings.logs
    how = (settings.time_zone, settings.layout)
    here = source.read_here(job.spark, files, *how, settings.keep, FEW_ROWS) if are_little else None
    entries = here or source.read(job.spark, files, *how, wanted=[logs.Wanted.ENTRIES], keep=settings.keep)
    job.append([(LOG_LINES, logs.split(entries)[LOG_LINES.name])], at)
    job.report.activity("parsing")
    facts = here or source.read(job.spark, files, *how, wanted=[logs.Wanted.FACTS], keep=settings.keep)
    return _append_facts(job, facts, at)


def _read_on(file: LogFile, read: Count, settings: LogsSettings) -> LogFile:
    """Leave out of a file what an earlier run has read."""
    file = replace(file, counted_to=read.line_number if settings.keep == source.RELEVANT else 0)
    goes_on = read.read_at is not None and read.how == _how(settings)
    if not goes_on:
        return file
    return replace(file, read_from=read.read_to, read_at=read.read_at, read_bytes=read.size, place=read.place)


def _how(settings: LogsSettings) -> str:
    return repr((settings.time_zone, settings.layout, settings.keep))


def _files(settings: LogsSettings) -> list[LogFile]:
    return find_log_files(settings.path, settings.broker, settings.layout)


def _mark(file: LogFile, settings: LogsSettings, read_before: Sequence[str]) -> str:
    """Return the mark of a file; one that was kept whole need not be read again for a part of it."""
    whole = file.mark(settings.time_zone, settings.layout)
    if settings.keep == source.ALL or whole in read_before:
        return whole
    return file.mark(settings.time_zone, settings.layout, settings.keep)


def _append_facts(job: Job, facts: DataFrame, at: datetime) -> Counted:
    """Append what lines tell; return what was counted of them."""
    with keeping() as keep:
        facts = facts if rows_held(facts) is not None else keep(facts)
        tables, counted = _told(facts)
        parsed = logs.split(facts)
        job.append([(spec, parsed[spec.name]) for spec in _SILVER if spec.name in tables], at)
    return Counted(counted, REJECTED.name in tables)


def _told(facts: DataFrame) -> tuple[set[str], dict[str, Count]]:
    """Return the tables that lines tell something for, and what was counted of each log, by its lasting name."""
    known = rows_held(facts)
    if known is not None:
        of_logs = known.filter(pc.is_in(known[logs.TABLE], pa.array(logs.OF_LOGS))).select([*logs.SAID]).to_pylist()
        return set(known[logs.TABLE].unique().to_pylist()), _counts(of_logs)
    log = F.when(F.col(logs.TABLE).isin(*logs.OF_LOGS), F.col("source_file")).alias("source_file")
    last = (F.max(name).alias(name) for name in logs.SAID_OF_LOG)
    told = fetched(facts.groupBy(logs.TABLE, log).agg(*last)).to_pylist()
    return {row[logs.TABLE] for row in told}, _counts([row for row in told if row[logs.TABLE] in logs.OF_LOGS])


def _counts(of_logs: Iterable[Mapping[str, Any]]) -> dict[str, Count]:
    counts: dict[str, Count] = {}
    for row in of_logs:
        count = counts.get(row["source_file"], Count())
        if row[logs.TABLE] == logs.LEFT_OUT:
            count = msgspec.structs.replace(count, line_number=row["line_number"], left_out=row["left_out_count"])
        else:
            read_at = round(row["logged_at"].timestamp() * 1000)
            place = Place(*(row[name] for name in logs.OF_PLACE))
            count = msgspec.structs.replace(count, read_to=row["line_number"], read_at=read_at, place=place)
        counts[row["source_file"]] = count
    return counts


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, sections=("logs",), step="ingest_logs")


if __name__ == "__main__":
    sys.exit(main())
