"""Replays the groups that have new evidence, and replaces their rows in gold.

A group is always replayed from its first evidence on: what comes late may change what was thought of it before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.frame.job import Job, execute
from jobs.lake.increments import Increment, increment
from schemas.tables.gold import REPLAYED
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_METADATA, GROUP_REQUESTS, OFFSET_COMMITS
from transforms.coordinator.evidence.brokers import BROKER_EVENTS
from transforms.coordinator.evidence.ownership import LOAD_EVENTS
from transforms.gold.timelines import BUCKETS, bucket, rebuild, table_of

STEP = "rebuild_timelines"

_INPUTS = (GROUP_METADATA, OFFSET_COMMITS, COORDINATOR_EVENTS, GROUP_REQUESTS, CLIENT_EVENTS)
_BUCKET = f"pmod(crc32(cast(group_id AS BINARY)), {BUCKETS})"
"""`timelines.bucket` in SQL, as Delta's replace-where wants it; Delta refuses rows that do not fulfil it."""


def run(job: Job) -> None:
    """Replay what has new evidence; with `--all`, everything."""
    found = increment(job.lake, STEP, _INPUTS, REPLAYED)
    if getattr(job.arguments, "all", False):
        found = Increment(None, found.now)
    if found.is_empty:
        return
    job.lake.create(REPLAYED)
    job.report.activity("looking for groups with new evidence")
    buckets = touched_buckets(job, found)
    if buckets is None or buckets:
        _replay(job, buckets)
    job.lake.progress.note(STEP, REPLAYED, found.now)


def touched_buckets(job: Job, found: Increment) -> list[int] | None:
    """Return the buckets of groups that have new evidence; None = all, as it concerns coordinators as a whole."""
    if found.before is None:
        return None
    buckets = []
    for spec in _INPUTS:
        rows = found.new(job.lake, spec)
        if spec is COORDINATOR_EVENTS:
            rows = rows.where(F.col("group_id").isNotNull() | F.col("event").isin(*LOAD_EVENTS, *BROKER_EVENTS))
        elif spec is CLIENT_EVENTS:
            rows = rows.where(F.col("group_id").isNotNull())
        buckets.append(rows.select(bucket(F.col("group_id")).alias("bucket")).distinct())
    touched = {row.bucket for row in reduce(DataFrame.unionAll, buckets).distinct().collect()}
    return None if None in touched else sorted(touched)


def _replay(job: Job, buckets: list[int] | None) -> None:
    where = "" if buckets is None else f"{_BUCKET} IN ({', '.join(map(str, buckets))})"
    silver = [job.lake.read(spec) for spec in _INPUTS]
    job.report.activity("replaying")
    replayed = rebuild(*silver, buckets, None).persist()  # type: ignore[arg-type, call-arg]
    try:
        replayed.count()  # once, before several tables are taken from it at the same time
        job.replace([(spec, table_of(replayed, spec)) for spec in REPLAYED], where)
    finally:
        replayed.unpersist()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the job's own arguments."""
    parser.add_argument("--all", action="store_true", help="replay every group, as after an upgrade")


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, add_arguments=add_arguments, step=STEP)


if __name__ == "__main__":
    sys.exit(main())
