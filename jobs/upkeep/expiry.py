"""Lets go of rows that are older than they are to be kept, as far as nobody needs them any more.

Bronze goes once it has been decoded. Silver goes once the replay has read it; and evidence that groups are replayed
from only where a snapshot of its group stands for it: the oldest one, as late evidence sends a group back to any of
them. What tells of a broker and of no group is little, and stays, as every group may need it; the lines of clients
stay, as those of a group are always taken together. Gold stays, but for the audit's single requests, which are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.frame.job import Job
from jobs.ingest_logs import PARSE_STEP
from jobs.ingest_offsets import DECODE_STEP
from jobs.lake.load_clock import iso
from jobs.lake.retired import source_of, written_at
from jobs.timelines import standing
from schemas.table import TableSpec
from schemas.tables.bronze import LOG_LINES, OFFSETS_RECORDS
from schemas.tables.gold import REPLAY_AUDIT, REPLAY_SNAPSHOTS
from schemas.tables.silver import (
    COORDINATOR_EVENTS,
    GROUP_METADATA,
    GROUP_REQUESTS,
    MODERN_GROUP_RECORDS,
    OFFSET_COMMITS,
    REJECTED,
)
from transforms.coordinator.evidence.tolerances import REORDER_MS
from transforms.coordinator.state import VERSION

_READ_BY = {
    OFFSETS_RECORDS: DECODE_STEP,
    LOG_LINES: PARSE_STEP,
    **dict.fromkeys(
        (OFFSET_COMMITS, GROUP_METADATA, MODERN_GROUP_RECORDS, COORDINATOR_EVENTS, GROUP_REQUESTS), standing.STEP
    ),
}
"""By table, the step that has to have read its rows before they go."""

_BRONZE = (OFFSETS_RECORDS, LOG_LINES)
_EVIDENCE = (GROUP_METADATA, MODERN_GROUP_RECORDS, COORDINATOR_EVENTS, GROUP_REQUESTS)
_REST_OF_SILVER = (OFFSET_COMMITS, REJECTED)


def expire(job: Job, now: datetime | None = None) -> dict[str, int]:
    """Let go of rows that are too old.

    Args:
        job: the job.
        now: the time that ages are counted to; None = that of the machine.

    Returns:
        Rows that went, by table; tables that lost none are left out.
    """
    now = now or datetime.now(timezone.utc)
    gone = {}
    for spec, days in _kept_for(job):
        if days and job.lake.exists(spec):
            job.report.activity(f"{spec.full_name}: rows older than {days} days")
            gone[spec.full_name] = _expire(job, spec, now - timedelta(days=days))
    return {name: count for name, count in gone.items() if count}


def _kept_for(job: Job) -> Iterator[tuple[TableSpec, int]]:
    retention = job.settings.retention
    for spec in _BRONZE:
        yield spec, retention.bronze_days
    for spec in (*_EVIDENCE, *_REST_OF_SILVER):
        yield spec, retention.silver_days
    yield REPLAY_AUDIT, retention.audit_days


def _expire(job: Job, spec: TableSpec, before: datetime) -> int:
    """Let go of a table's rows from before a moment."""
    lake, source = job.lake, source_of(spec)
    if "loaded_at" in spec.columns:
        lake.contents.newest_load([spec])  # found out now, as it must not go back when the newest row goes
    is_free = _is_free(job, spec)
    is_going = f"{_is_old(spec, before)} AND {is_free}"
    if source is not None:
        sources = [row[0] for row in lake.read(spec).where(is_going).select(source).distinct().collect()]
        if not sources:
            return 0
        lake.retired.note(spec, sources, before)
    if spec in _EVIDENCE:
        stood_for = f"old.group_id = new.group_id AND {written_at(spec)} < below"
        return lake.delete(spec, f"{stood_for} AND {is_free}", _stood_for(job, before))
    return lake.delete(spec, is_going)


def _is_old(spec: TableSpec, before: datetime) -> str:
    """Return the condition of rows from before a moment; of one without a moment, from when it was loaded."""
    age, moment = written_at(spec), f"TIMESTAMP '{iso(before)}'"
    if age in spec.not_null:
        return f"{age} < {moment}"
    return f"({age} < {moment} OR ({age} IS NULL AND loaded_at < {moment}))"


def _is_free(job: Job, spec: TableSpec) -> str:
    """Return the condition of rows that no step is yet to read or to write anew."""
    if spec in _READ_BY:
        note = job.lake.progress.last(_READ_BY[spec]) or {}
        read_up_to = note.get("loaded", note).get(spec.full_name)
        return "false" if read_up_to is None else f"loaded_at <= TIMESTAMP '{read_up_to}'"
    return "is_settled" if "is_settled" in spec.columns else "true"


def _stood_for(job: Job, before: datetime) -> DataFrame:
    """Return the groups that go back, for whatever is younger than a moment, to a snapshot at most.

    Returns:
        group_id, below: what was written before it is in every snapshot of the group.
    """
    snapshots = job.lake.read(REPLAY_SNAPSHOTS).where(F.col("version") == VERSION)
    oldest = snapshots.groupBy("group_id").agg(F.min("at").alias("at"))
    reordered = F.expr(f"INTERVAL {REORDER_MS / 1000} SECONDS")
    stand = oldest.where(F.col("at") <= F.lit(iso(before)).cast("timestamp"))
    return stand.select("group_id", (F.col("at") - reordered).alias("below"))
