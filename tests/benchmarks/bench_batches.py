"""Whether a batch costs what is new, however long the history behind it is.

    python -m tests.benchmarks.bench_batches [times]

Two lakes are filled with calm groups that send heartbeats and with groups that rebalance every three seconds: one with
a history, one with as many times more of it. Then the same new batches come to both: the time of the job that replays
them and the number of its Spark jobs, the median of three, and the ratio of the two lakes.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from jobs.session.spark_session import spark_session
from jobs.settings.settings import SparkSettings
from schemas.catalog import BY_NAME
from tests.benchmarks.bench_linear import heartbeats, records
from tests.support.silver_batches import BatchedLake, Piece

CALM, BUSY = 40, 10
BEATS, GENERATIONS = 250, 50
"""Of each group, in the shorter history; a group has a generation every three seconds, and five heartbeats."""

NEW_BEATS, NEW_GENERATIONS = 75, 5
BATCHES = 3
ORIGIN_MS = 1_790_000_000_000.0


def evidence(beats: range, generations: range) -> Iterator[Piece]:
    """Rows of all groups: of calm ones heartbeats, of busy ones generations, by their numbers."""
    for number in range(CALM):
        group = f"calm-{number}"
        yield from (_piece("group_metadata", row, group) for row in records(1) if not beats.start)
        sent = heartbeats(beats.stop)
        yield from (_piece("group_requests", row, group) for row in sent if row.line_number in beats)
    for number in range(BUSY):
        stored = records(generations.stop)
        yield from (_piece("group_metadata", row, f"busy-{number}") for row in stored if row.generation in generations)


def _piece(table: str, row: Any, group: str) -> Piece:
    found = dict.fromkeys(BY_NAME[table].columns) | msgspec.to_builtins(row, builtin_types=(bytes,))
    for name in ("recorded_at", "state_changed_at", "answered_at", "handled_at"):
        if found.get(name) is not None:
            found[name] += ORIGIN_MS
    named = {"group_id": group, "source_file": f"{group}.log"} if "source_file" in found else {"group_id": group}
    if table == "group_metadata":
        named |= {"topic_partition_of_record": int(group.split("-")[1]) + (0 if group.startswith("calm") else 100)}
    else:
        named |= {"error": "NONE"}
    return table, {**found, **named}


def measured(spark: SparkSession, root: Path, times: int) -> tuple[float, int]:
    """Fill a lake with a history, and return seconds and Spark jobs of a batch that comes to it."""
    lake = BatchedLake(spark, root, lateness_ms=5_000)
    lake.load(evidence(range(times * BEATS), range(1, times * GENERATIONS + 1)))
    lake.replay()
    seconds, jobs = [], []
    scheduler = spark.sparkContext._jsc.sc().dagScheduler()
    for number in range(BATCHES + 1):
        beats = times * BEATS + number * NEW_BEATS
        generations = times * GENERATIONS + number * NEW_GENERATIONS + 1
        lake.load(evidence(range(beats, beats + NEW_BEATS), range(generations, generations + NEW_GENERATIONS)))
        began, before = time.monotonic(), scheduler.nextJobId()
        lake.replay()
        seconds.append(time.monotonic() - began)
        jobs.append(scheduler.nextJobId() - before)
    return statistics.median(seconds[1:]), int(statistics.median(jobs[1:]))


def main(times: int) -> None:
    spark = spark_session(SparkSettings())
    with tempfile.TemporaryDirectory() as scratch:
        short, jobs_short = measured(spark, Path(scratch) / "short", 1)
        long, jobs_long = measured(spark, Path(scratch) / "long", times)
    new = CALM * NEW_BEATS + BUSY * NEW_GENERATIONS
    sys.stdout.write(
        f"{new:,} new rows of {CALM + BUSY} groups: {short:.1f} s and {jobs_short} Spark jobs on a history of "
        f"{CALM * BEATS + BUSY * GENERATIONS:,} rows, {long:.1f} s and {jobs_long} jobs on one of "
        f"{times * (CALM * BEATS + BUSY * GENERATIONS):,}: {long / short:.2f}×\n"
    )


if __name__ == "__main__":
    main(*[int(each) for each in sys.argv[1:]] or [20])
