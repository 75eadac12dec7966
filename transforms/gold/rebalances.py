"""When a group rebalanced: the moment that a generation is dated by, and which generations are no rebalance."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def begun_at() -> Column:
    """Return the moment that a row of `gold.generations` is dated by; null where no evidence has any."""
    return F.coalesce("preparing_at", "completing_at", "stable_at", "emptied_at")


def rebalances(generations: DataFrame) -> DataFrame:
    """Return the generations that came by a rebalance, each with its moment `at_us` (epoch microseconds).

    Left out are those without any moment, those that a coordinator merely took over, and bumps of a group's epoch while
    it was on its way to an earlier one.
    """
    return generations.withColumn("at_us", F.unix_micros(begun_at())).where(
        "at_us IS NOT NULL AND NOT bump_count <=> 0 "
        "AND NOT (trigger <=> 'coordinator_failover' AND preparing_at IS NULL)"
    )
