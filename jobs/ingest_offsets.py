"""Reads records of `__consumer_offsets` into bronze and decodes what is new into silver.

What cannot be read or decoded goes to `silver.rejected`. The fate of transactional commits is settled as far as their
markers have come; commits that an earlier run had to leave open are settled when their marker comes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.frame.hashes import require_same_hashes
from jobs.frame.job import Job, execute
from jobs.frame.keeping import at_hand, folder_aside, keeping, with_rows
from jobs.lake.increments import Increment, increment, new_rows
from jobs.lake.rows import good_rows, rejected_rows
from jobs.session.brief_queries import FEW_BYTES, FEW_ROWS
from jobs.sources import exported
from jobs.sources.bronze import records
from jobs.sources.decoded_tables import WRITTEN, RecordsRead
from jobs.sources.reached import note_reached, reached
from jobs.sources.segments import bulk
from jobs.sources.segments import reader as segments
from jobs.sources.segments.files import SegmentFile, find_segments, is_unique, newest
from jobs.sources.topic import live as live_topic
from schemas.tables.bronze import OFFSETS_RECORDS
from schemas.tables.silver import GROUP_METADATA, MODERN_GROUP_RECORDS, OFFSET_COMMITS, REJECTED, TOPIC_NAMES
from transforms.given_rows import given
from transforms.silver import offsets, topic_names, transactions

READ_STEP, DECODE_STEP = "read_segments", "decode_offsets"

_FEW_RECORDS = 200_000
"""Up to so many, what is decoded of them is kept, and no table is written that they tell nothing for."""

_DECODED = (REJECTED, GROUP_METADATA, MODERN_GROUP_RECORDS, OFFSET_COMMITS)
_SILVER = (TOPIC_NAMES, *_DECODED)


def run(job: Job) -> None:
    """Ingest, decode and settle."""
    load = LOADERS.get(job.settings.offsets.kind)
    if load is None:
        job.report.note("offsets.kind is none")
        return
    at = job.lake.contents.next_load_time([OFFSETS_RECORDS, GROUP_METADATA, MODERN_GROUP_RECORDS, OFFSET_COMMITS])
    job.lake.create([OFFSETS_RECORDS, *_SILVER])
    require_same_hashes(job, "offsets", (GROUP_METADATA, MODERN_GROUP_RECORDS, OFFSET_COMMITS))
    is_caught_up = _found(job).is_empty or _decode_in_bulk(job, at)
    load(job, at)
    _decode(job, at, is_caught_up)


def _found(job: Job) -> Increment:
    return increment(job.lake, DECODE_STEP, [OFFSETS_RECORDS], _SILVER)


def _load_segments(job: Job, at: datetime) -> None:
    """Segment files → bronze, for the files that have changed."""
    files = find_segments(job.settings.offsets.path)
    before = reached(job.lake, READ_STEP, OFFSETS_RECORDS) or {}
    read_before, growing = set(before.get("files", ())), before.get("growing", {})
    changed = [file for file in files if file.mark() not in read_before]
    if not changed:
        return
    job.report.activity(f"reading {job.settings.offsets.path}")
    tails = {file.source: (file.size, file.tail(file.size)) for file in newest(files)}
    changed = [file.read_on(*growing[file.source]) if file.source in growing else file for file in changed]
    has_rejected = _load_in_bulk(job, changed, at)
    if has_rejected is None:
        has_rejected = _load_by_spark(job, changed, at)
    note = {"files": sorted(file.mark() for file in files), "growing": tails}
    note_reached(job.lake, READ_STEP, OFFSETS_RECORDS, note, has_rejected)


def _load_by_spark(job: Job, files: Sequence[SegmentFile], at: datetime) -> bool:
    """Segment files → bronze, by Spark; tell whether something may have been rejected."""
    is_little = sum(file.unread for file in files) <= FEW_BYTES
    here = segments.read_here(job.spark, files, FEW_ROWS) if is_little else None
    with keeping() as keep, job.brief(is_little):
        read = here or segments.read(job.spark, files)
        if is_little:  # of more, what is rejected is read a second time
            read = here or keep(read)
            bad = rejected_rows(read)
            rejected = [(REJECTED, bad)] if bad.take(1) else []
        else:
            rejected = [(REJECTED, rejected_rows(segments.read_rejected(job.spark, files)))]
        good = good_rows(read, OFFSETS_RECORDS, is_unique=is_unique(files))
        job.append([(OFFSETS_RECORDS, good), *rejected], at)
    return bool(rejected)


def _load_in_bulk(job: Job, files: Sequence[SegmentFile], at: datetime) -> bool | None:
    """Segment files → bronze and silver at one go, by processes of this machine.

    First comes bronze: what silver lacks of it the next run decodes, or this one if another run came in between.

    Returns:
        Whether something was rejected; None if they could not do it.
    """
    landings = job.landings(bulk.WRITTEN, at) if is_unique(files) and _is_decoded(job) else []
    if not landings:
        return None
    with folder_aside(job.spark) as aside:
        read = bulk.read(files, landings, aside, job.spark.sparkContext.defaultParallelism)
        bronze, *silver = landings
        is_alone = job.add_files([bronze], read.files) == read.count_of(OFFSETS_RECORDS)
        job.append_aside(read, REJECTED, at)
        if is_alone:
            job.add_files(silver, read.files)
            _append_open(job, read, at)
    if is_alone:
        _append_names(job, read, at)
        job.lake.progress.note(DECODE_STEP, _SILVER, _found(job).now)
    return REJECTED.name in read.aside


def _is_decoded(job: Job) -> bool:
    """Tell whether silver has all of bronze, and nothing else: what is new to bronze is new to silver."""
    found = _found(job)
    return found.is_empty or not sum(job.lake.contents.row_counts([OFFSETS_RECORDS, *_DECODED]).values())


def _append_open(job: Job, read: RecordsRead, at: datetime) -> None:
    """Append commits whose transaction is open, settled as far as markers have come, and settle earlier ones."""
    rows = read.rows_aside(job.spark, OFFSET_COMMITS)
    with job.brief(read.count_aside(OFFSET_COMMITS) <= FEW_ROWS):
        if rows is not None:
            rows = rows.withColumn("cluster", F.lit(job.lake.cluster))
            job.append([(OFFSET_COMMITS, transactions.resolve(rows, _markers(job)))], at, are_new=True)
        if read.has_markers:
            _settle(job, at)


def _append_names(job: Job, read: RecordsRead, at: datetime) -> None:
    """Note the names of topic ids that records gave; of several for one id, which are none of Kafka's, the first."""
    if read.topics:
        names = dict(sorted(read.topics, reverse=True))
        rows = ({"topic_id": topic_id, "topic": topic} for topic_id, topic in sorted(names.items()))
        with job.brief(True):
            job.append([(TOPIC_NAMES, given(job.spark, "topic_id STRING, topic STRING", rows))], at)


def _load_records(job: Job, at: datetime) -> None:
    """Exported rows → bronze."""
    job.report.activity(f"reading {job.settings.offsets.path}")
    read = exported.read(job.spark, job.settings.offsets.path)
    job.append([(OFFSETS_RECORDS, good_rows(read, OFFSETS_RECORDS)), (REJECTED, rejected_rows(read))], at)


LOADERS = {"segments": _load_segments, "records": _load_records, "kafka": live_topic.load}
"""Source → bronze, by `offsets.kind`."""


def _decode(job: Job, at: datetime, is_caught_up: bool) -> None:
    """Bronze → silver, for the records that have not been decoded yet.

    Args:
        job: the job.
        at: start of the run.
        is_caught_up: there were none when the run began, so that silver has no row of those that there are now.
    """
    found = _found(job)
    if found.is_empty:
        return
    if _decode_in_bulk(job, at):
        return
    new = found.new(job.lake, OFFSETS_RECORDS)
    batch = new.agg(
        F.count("*").alias("count"),
        F.coalesce(F.max("is_transactional"), F.lit(False)).alias("is_transactional"),
        F.coalesce(F.max(F.col("control_type").isNotNull()), F.lit(False)).alias("has_markers"),
    ).collect()[0]
    job.report.activity("decoding")
    are_few = batch["count"] <= FEW_ROWS
    with keeping() as keep, job.brief(are_few):
        rest = offsets.not_plain(new)
        decoded = offsets.decode(new, at_hand(rest, FEW_ROWS)[0] if are_few else keep(rest))
        if batch["is_transactional"]:  # mostly none is, and to resolve is to decode twice
            decoded[OFFSET_COMMITS.name] = transactions.resolve(decoded[OFFSET_COMMITS.name], _markers(job))
        if batch["count"] <= _FEW_RECORDS:
            decoded = {name: keep(rows) for name, rows in decoded.items()}
            told = with_rows(decoded)
        else:
            told = set(decoded)
        job.append([(spec, decoded[spec.name]) for spec in _DECODED if spec.name in told], at, are_new=is_caught_up)
    if batch["has_markers"] or not is_caught_up:
        _settle(job, at)
    _name_topics(job, found, at)
    job.lake.progress.note(DECODE_STEP, _SILVER, found.now)


def _decode_in_bulk(job: Job, at: datetime) -> bool:
    """Bronze → silver that has nothing yet, by processes of this machine; tell whether they could."""
    now = _found(job).now
    if not any(now.values()) or any(job.lake.contents.row_counts(WRITTEN).values()):
        return False
    landings = job.landings((OFFSETS_RECORDS, *WRITTEN), at)
    if not landings:
        return False
    job.report.activity("decoding")
    bronze, *silver = landings
    with folder_aside(job.spark) as aside:
        read = records.decode(bronze.there, silver, aside, job.spark.sparkContext.defaultParallelism)
        job.append_aside(read, REJECTED, at)
        job.add_files(silver, read.files)
        _append_open(job, read, at)
    _append_names(job, read, at)
    job.lake.progress.note(DECODE_STEP, _SILVER, now)
    return True


def _markers(job: Job) -> DataFrame:
    """Return the control records, which say how transactions ended."""
    return job.lake.read(OFFSETS_RECORDS).where("control_type IS NOT NULL")


def _settle(job: Job, at: datetime) -> None:
    """Settle commits that earlier runs left open."""
    commits = job.lake.read(OFFSET_COMMITS).where("txn_state = 'open'")
    if not commits.take(1):
        return
    settled = transactions.resolve(commits, _markers(job)).where(F.col("txn_state") != "open")
    job.report.wrote(OFFSET_COMMITS, job.lake.update(OFFSET_COMMITS, settled, ["txn_state"], at))


def _name_topics(job: Job, found: Increment, at: datetime) -> None:
    """Note the names of topic ids, as far as what was decoded since the step was last through tells any."""
    through = (found.before or {}).get(OFFSETS_RECORDS.full_name)
    read = [new_rows(job.lake, spec, through) for spec in (OFFSET_COMMITS, MODERN_GROUP_RECORDS)]
    with keeping() as keep:
        names = keep(topic_names.named(*read))
        if names.take(1):
            job.append([(TOPIC_NAMES, names)], at)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, sections=("offsets",), step="ingest_offsets")


if __name__ == "__main__":
    sys.exit(main())
