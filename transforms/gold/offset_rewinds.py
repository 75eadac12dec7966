"""Committed offsets that go back, skip far ahead, or are deleted.

Commits of a partition are compared in the order of their records. A commit of a transaction that was aborted never took
effect: it is not told of, but what comes after it and lies before it is, because that work is done again. One that is
still open is passed over.

Spark finds the steps; who is behind one is `transforms.findings.offsets`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from schemas.rows import OffsetRewindRow
from schemas.table import TableSpec
from schemas.tables.gold import ASSIGNMENTS, GENERATIONS, OFFSET_REWINDS
from schemas.tables.silver import GROUP_REQUESTS, OFFSET_COMMITS
from transforms.findings.evidence import Evidence
from transforms.findings.offsets.rewinds import COMMITS, DELETED_WITHIN_MS, DELETIONS, Step, rewind_row
from transforms.gold.findings.kernel import (
    FINDING,
    FRAME,
    GROUP,
    REQUEST,
    Few,
    Hold,
    around,
    as_it_is,
    by_workers,
    judged,
    nothing,
    packed,
)
from transforms.gold.rebalances import begun_at

READ = (OFFSET_COMMITS, GENERATIONS, ASSIGNMENTS, GROUP_REQUESTS)
"""Tables that steps are found in. The last two, which tell who is behind them, may be missing."""

_PARTITION = (*GROUP, "topic", "partition")
_RECORD = ("topic_partition_of_record", "record_offset")
_NEAR_US = DELETED_WITHIN_MS * 1000


def offset_rewinds(
    tables: Mapping[TableSpec, DataFrame],
    jump: int,
    retention_ms: int,
    hold: Hold = as_it_is,
    few: Few = by_workers,
) -> DataFrame:
    """Find the steps of committed offsets that are worth telling.

    Args:
        tables: those of READ that there are.
        jump: a commit that skips more offsets than this is one.
        retention_ms: after how long without a commit offsets expire.
        hold: keeps the steps.
        few: fetches evidence if there is little of it.

    Returns:
        `gold.offset_rewinds`, one row for each.
    """
    found = hold(_steps(tables[OFFSET_COMMITS], jump))
    if found is None:
        return nothing(tables[OFFSET_COMMITS], OFFSET_REWINDS)
    known = tables[GENERATIONS].select(*GROUP).distinct().withColumn("has_generations", F.lit(True))
    steps = found.join(known, list(GROUP), "left").fillna(False, ["has_generations"])
    parts = [packed(steps.select(*FINDING, *Step.__struct_fields__), FRAME), *_beside(tables, steps)]
    return judged(found, parts, partial(_judge, retention_ms), OFFSET_REWINDS, few)


def _judge(retention_ms: int, evidence: Evidence, frame: dict[str, Any]) -> list[OffsetRewindRow]:
    return [rewind_row(evidence.in_order(), msgspec.convert(frame, Step, strict=False), retention_ms)]


def _steps(commits: DataFrame, jump: int) -> DataFrame:
    in_order = Window.partitionBy(*_PARTITION).orderBy(*_RECORD)
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    this = F.struct("committed_offset", "recorded_at", "is_tombstone")
    back = F.col("committed_offset") < F.col("effective.committed_offset")
    again = F.col("committed_offset") < F.col("aborted.committed_offset")
    skips = F.col("committed_offset") - F.col("effective.committed_offset") > jump
    has_effective = F.col("effective").isNotNull() & ~F.col("effective.is_tombstone")
    return (
        commits.withColumn("is_effective", ~F.coalesce("txn_state", F.lit("none")).isin("aborted", "open"))
        .where("is_effective OR txn_state = 'aborted'")
        .withColumn("effective", F.last(F.when(F.col("is_effective"), this), ignorenulls=True).over(before))
        .withColumn("aborted", F.when(~F.lag("is_effective").over(in_order), F.lag(this).over(in_order)))
        .where("is_effective")
        .withColumn(
            "kind",
            F.when(F.col("is_tombstone"), F.when(has_effective, "deleted"))
            .when(has_effective & back, "rewind")
            .when(again, "rewind")
            .when(has_effective & skips, "jump"),
        )
        .where("kind IS NOT NULL")
        .withColumn("is_aborted", F.coalesce(again & ~(has_effective & back), F.lit(False)) & ~F.col("is_tombstone"))
        .withColumn("base", F.when(F.col("is_aborted"), F.col("aborted")).otherwise(F.col("effective")))
        .withColumn("from_offset", F.col("base.committed_offset"))
        .withColumn("from_at", F.col("base.recorded_at"))
        .withColumn("to_offset", F.col("committed_offset"))
        .withColumn("at", F.col("recorded_at"))
        .withColumn("since_us", F.least(F.unix_micros("from_at"), F.unix_micros("at") - _NEAR_US))
        .withColumn("until_us", F.unix_micros("at") + _NEAR_US)
        .withColumn("finding", F.row_number().over(Window.partitionBy(*GROUP).orderBy(*_RECORD)))
    )


def _beside(tables: Mapping[TableSpec, DataFrame], steps: DataFrame) -> Iterator[DataFrame]:
    """What other tables have on the steps, from the commit before to a few seconds after."""
    begun = tables[GENERATIONS].withColumn("begun", begun_at())
    yield packed(around(begun, steps, "begun", "ended_at").drop("begun"), "generations")
    if (assignments := tables.get(ASSIGNMENTS)) is not None:
        own = steps.select(*FINDING, "topic", "partition")
        near = around(assignments, steps, "valid_from", "valid_to")
        yield packed(near.join(own, [*FINDING, "topic", "partition"], "left_semi"), "assignments")
    if (requests := tables.get(GROUP_REQUESTS)) is not None:
        taken = requests.where(F.col("api").isin(*COMMITS, *DELETIONS) & (F.col("error") == "NONE"))
        moment = steps.withColumn("since_us", F.unix_micros("at") - _NEAR_US)
        yield packed(around(taken, moment, "answered_at", "answered_at").select(*FINDING, *REQUEST), "requests")
