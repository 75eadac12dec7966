"""What findings are held against: of the timelines, the rows that they name or lie among, and no others."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.table import TableSpec
from schemas.tables.gold import ASSIGNMENTS, COMMIT_GAPS, GENERATIONS, ILLEGAL_GENERATION_BURSTS, REBALANCE_STORMS
from transforms.gold.findings.kernel import GROUP
from transforms.gold.rebalances import begun_at
from transforms.gold.timelines.looking_back import new_of

_GENERATION = (*GROUP, "life", "generation")
_ASSIGNMENT = (*_GENERATION, "member_id", "topic", "partition")

Rows = Mapping[TableSpec, DataFrame]


def held_against(timelines: Rows, found: Rows) -> dict[TableSpec, DataFrame]:
    """Return the rows of the timelines that findings are held against.

    Args:
        timelines: generations and assignments, of the findings' groups at least.
        found: storms, bursts and gaps.
    """
    gaps = found[COMMIT_GAPS].select(*_ASSIGNMENT)
    return {
        GENERATIONS: _generations(timelines[GENERATIONS], found),
        ASSIGNMENTS: timelines[ASSIGNMENTS].join(F.broadcast(gaps), [*_ASSIGNMENT], "left_semi"),
    }


def _generations(generations: DataFrame, found: Rows) -> DataFrame:
    """Return the generations since the first new storm of their group, and those that its bursts were fenced by."""
    since = new_of(found[REBALANCE_STORMS]).groupBy(*GROUP).agg(F.min("started_at").alias("since"))
    fenced_by = [F.col(f"fenced_by_{name}").alias(name) for name in ("life", "generation")]
    named = found[ILLEGAL_GENERATION_BURSTS].select(*GROUP, *fenced_by, F.lit(True).alias("is_named")).distinct()
    beside = generations.join(F.broadcast(since), [*GROUP], "left").join(F.broadcast(named), [*_GENERATION], "left")
    return beside.where((begun_at() >= F.col("since")) | F.col("is_named")).select(generations.columns)
