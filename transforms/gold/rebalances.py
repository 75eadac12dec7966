"""When a group rebalanced: the moment that a generation is dated by, and which generations are no rebalance."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.tables.gold import BEGINS

IS_REBALANCE = "NOT bump_count <=> 0"
"""Tells of a row of `gold.generations` that it is no bump of a group's epoch on its way to an earlier one."""

IS_TAKEN_OVER = "trigger <=> 'coordinator_failover' AND preparing_at IS NULL"
"""Tells of such a row that a coordinator merely took its generation over."""

IS_OF_REBALANCE = f"{IS_REBALANCE} AND NOT ({IS_TAKEN_OVER})"
"""Tells of such a row that its generation came by a rebalance, and was not merely taken over by a coordinator."""

BEGUN_AT = f"coalesce({', '.join(BEGINS)})"
"""The moment that such a row is dated by; null where no evidence has any."""

OF_REBALANCE = f"""max(CASE WHEN {IS_REBALANCE} THEN generation END) OVER (
    PARTITION BY cluster, group_id, life ORDER BY generation)"""
"""The generation of the rebalance that such a row is, or is part of; null where none is known before it."""

IS_FURTHER_BUMP = "bump_count <=> 0 AND trigger <> 'converted' AND of IS NOT NULL"
"""Tells of such a row, with OF_REBALANCE as `of`, that its bump came while that rebalance was under way.

What a conversion merely took over is part of none. Only modern groups have any.
"""

_LIFE = ("cluster", "group_id", "life")


def begun_at() -> Column:
    """Return the moment that a row of `gold.generations` is dated by; null where no evidence has any."""
    return F.expr(BEGUN_AT)


def rebalances(generations: DataFrame) -> DataFrame:
    """Return the generations that came by a rebalance, each with its moment `at_us` (epoch microseconds).

    Left out are those without any moment, those that a coordinator merely took over, and bumps of a group's epoch while
    it was on its way to an earlier one.
    """
    return _dated(generations).where(f"at_us IS NOT NULL AND {IS_OF_REBALANCE}")


def _dated(generations: DataFrame) -> DataFrame:
    return generations.withColumn("at_us", F.unix_micros(begun_at()))


def whole_rebalances(generations: DataFrame) -> DataFrame:
    """Return one row for each rebalance: its first bump, with the end and the outcome of its last.

    They are joined and timed as `transforms.findings.rebalances` does it to the rows of one group: a rebalance of one
    bump lasted as long as its row says; one of several from its first bump until the group was settled, which is not
    what its rows add up to.

    Args:
        generations: rows of `gold.generations`.

    Returns:
        cluster, group_id, life, generation (the first bump's), outcome, lasted_ms BIGINT (null = not known, or not
        over), partitions_moved BIGINT.
    """
    bumps = _with_rebalance(generations).where(f"of IS NOT NULL AND ({IS_REBALANCE} OR trigger <> 'converted')")
    first = ("bump_count", "rebalance_ms", "preparing_at", "trigger")
    last = ("stable_at", "emptied_at", "outcome")
    joined = bumps.groupBy(*_LIFE, "of").agg(
        F.min_by(F.struct(*first), "generation").alias("first"),
        F.min_by("completing_at", F.when(F.col("completing_at").isNotNull(), F.col("generation"))).alias(
            "completing_at"
        ),
        F.max_by(F.struct(*last), "generation").alias("last"),
        F.sum("partitions_moved").alias("partitions_moved"),
    )
    whole = joined.select(
        *_LIFE,
        F.col("of").alias("generation"),
        *(F.col(f"first.{name}").alias(name) for name in first),
        "completing_at",
        *(F.col(f"last.{name}").alias(name) for name in last),
        "partitions_moved",
    )
    is_of_one = F.coalesce("bump_count", F.lit(1)) == 1
    from_to_ms = F.unix_millis(F.coalesce("stable_at", "emptied_at")) - F.unix_millis(begun_at())
    lasted_ms = F.when(is_of_one, F.col("rebalance_ms")).when(
        ~F.expr(IS_TAKEN_OVER), F.when(from_to_ms < 0, F.lit(0)).otherwise(from_to_ms)
    )
    return whole.select(*_LIFE, "generation", "outcome", lasted_ms.alias("lasted_ms"), "partitions_moved")


def _with_rebalance(generations: DataFrame) -> DataFrame:
    """Add the generation of the rebalance that each row is, or is part of; null where none is known before it."""
    return generations.withColumn("of", F.expr(OF_REBALANCE))
