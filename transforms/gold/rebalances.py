"""When a group rebalanced: the moment that a generation is dated by, and which generations are no rebalance."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

IS_REBALANCE = "NOT bump_count <=> 0"
"""Tells of a row of `gold.generations` that it is no bump of a group's epoch on its way to an earlier one."""


def begun_at() -> Column:
    """Return the moment that a row of `gold.generations` is dated by; null where no evidence has any."""
    return F.coalesce("preparing_at", "completing_at", "stable_at", "emptied_at")


def rebalances(generations: DataFrame) -> DataFrame:
    """Return the generations that came by a rebalance, each with its moment `at_us` (epoch microseconds).

    Left out are those without any moment, those that a coordinator merely took over, and bumps of a group's epoch while
    it was on its way to an earlier one.
    """
    return generations.withColumn("at_us", F.unix_micros(begun_at())).where(
        f"at_us IS NOT NULL AND {IS_REBALANCE} AND NOT (trigger <=> 'coordinator_failover' AND preparing_at IS NULL)"
    )


def further_bumps(generations: DataFrame) -> DataFrame:
    """Return the bumps that came while a rebalance was under way, each with that rebalance's generation as `of`.

    What a conversion merely took over is part of none. Only modern groups have any.
    """
    before = Window.partitionBy("cluster", "group_id", "life").orderBy("generation")
    owner = F.last(F.when(~F.col("bump_count").eqNullSafe(0), F.col("generation")), ignorenulls=True).over(before)
    return generations.withColumn("of", owner).where("bump_count <=> 0 AND trigger <> 'converted' AND of IS NOT NULL")
