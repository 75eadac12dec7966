"""Reads records of `__consumer_offsets` into bronze and decodes what is new into silver.

What cannot be read or decoded goes to `silver.rejected`. The fate of transactional commits is settled as far as their
markers have come; commits that an earlier run had to leave open are settled when their marker comes.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs._runtime.increments import increment, split_rejected, stamped
from jobs._runtime.job import Job, execute
from schemas.tables.bronze import OFFSETS_RECORDS
from schemas.tables.silver import GROUP_METADATA, MODERN_GROUP_RECORDS, OFFSET_COMMITS, REJECTED
from transforms.silver import offsets, transactions

STEP = "decode_offsets"
SOURCES = {kind: f"jobs._runtime.sources.{kind}" for kind in ("segments", "records")}
"""Modules that read one kind of source each, by `offsets.kind`."""

_SILVER = (REJECTED, GROUP_METADATA, MODERN_GROUP_RECORDS, OFFSET_COMMITS)


def run(job: Job) -> None:
    """Ingest, decode and settle."""
    if job.settings.offsets.kind == "none":
        job.report.note("offsets.kind is none")
    else:
        at = job.lake.next_load_time([OFFSETS_RECORDS, GROUP_METADATA, MODERN_GROUP_RECORDS, OFFSET_COMMITS])
        job.lake.create([OFFSETS_RECORDS, *_SILVER])
        _load(job, at)
        _decode(job, at)


def _load(job: Job, at: datetime) -> None:
    """Source → bronze."""
    source = importlib.import_module(SOURCES[job.settings.offsets.kind])
    job.report.activity(f"reading {job.settings.offsets.path}")
    read = source.read(job.spark, job.settings.offsets.path).persist()
    try:
        good, bad = split_rejected(read, OFFSETS_RECORDS)
        job.append([(OFFSETS_RECORDS, good), (REJECTED, bad)], at)
    finally:
        read.unpersist()


def _decode(job: Job, at: datetime) -> None:
    """Bronze → silver, for the records that have not been decoded yet."""
    found = increment(job.lake, STEP, [OFFSETS_RECORDS], _SILVER)
    if found.is_empty:
        return
    new = found.new(job.lake, OFFSETS_RECORDS)
    control_records = job.lake.read(OFFSETS_RECORDS).where("control_type IS NOT NULL")
    decoded = offsets.decode(new)
    decoded[OFFSET_COMMITS.name] = transactions.resolve(decoded[OFFSET_COMMITS.name], control_records)
    job.report.activity("decoding")
    job.append([(spec, decoded[spec.name]) for spec in _SILVER], at)
    _settle(job, control_records, at)
    job.lake.note_progress(STEP, _SILVER, found.now)


def _settle(job: Job, control_records: DataFrame, at: datetime) -> None:
    """Settle commits that earlier runs left open."""
    commits = job.lake.read(OFFSET_COMMITS).where("txn_state = 'open'")
    if not commits.take(1):
        return
    settled = transactions.resolve(commits, control_records).where(F.col("txn_state") != "open")
    count = job.lake.update(OFFSET_COMMITS, stamped(OFFSET_COMMITS, settled, at), ["txn_state", "loaded_at"])
    if count:
        job.lake.note_load(OFFSET_COMMITS, at)
        job.report.wrote(OFFSET_COMMITS, count)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, sections=("offsets",), step="ingest_offsets")


if __name__ == "__main__":
    sys.exit(main())
