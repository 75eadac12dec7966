"""Rebalance storms: stretches of time in which a group rebalances too often.

A group's rebalances are its entries into PreparingRebalance. An interval [t_j, t_k] of consecutive rebalances is
stormy if it holds at least `min_rebalances` of them and is no longer than the window; stormy intervals that overlap
or touch are one storm.

It is enough to look at intervals of exactly `min_rebalances`: a longer stormy one is the union of those inside it, and
neighbours among them share all but one of their rebalances. Only for `min_rebalances` = 1 they share none, so there
intervals of two tie the storm together, and a rebalance on its own is a storm as well.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas.spark import struct_type
from schemas.tables.gold import REBALANCE_STORMS
from transforms.gold.advice import ALSO_FROM_SHARE, MILDEST_SEVERITY, SEVERITY_RULES, STORM_ADVICE

_GROUP = ("cluster", "group_id")
_STORM = (*_GROUP, "storm")
_ORDER = ("at_us", "life", "generation")


def rebalance_storms(generations: DataFrame, window_ms: int, min_rebalances: int) -> DataFrame:
    """Find the rebalance storms of all groups.

    A rebalance is dated by `preparing_at`; where that is not known by `completing_at`, else `stable_at`, else
    `emptied_at`. Generations without any of these, those that no evidence shows (`missing_before`), and those that a
    coordinator merely took over do not count.

    `unstable_ms` is the length of the union of the storm's rebalances, each from `preparing_at` to `stable_at` or
    `emptied_at`; an abandoned one lasts until the next rebalance, or to the end of the group. Where the start is not
    known, or the end lies behind the data, nothing (or the part up to `completing_at`) is counted, so it is a lower
    bound; it is null if no start is known. The last rebalance may outlast `ended_at`, which is its start: the storm's
    length, of which `unstable_ratio` is the share, is therefore measured to the end of the last rebalance.

    Args:
        generations: `gold.generations`.
        window_ms: longest stormy interval, in milliseconds, both ends included.
        min_rebalances: fewest rebalances of a stormy interval.

    Returns:
        `gold.rebalance_storms`, one row for each storm. Of triggers that are equally frequent the earlier seen is the
        main one; likewise of clients.

    Raises:
        ValueError: if a threshold is out of its range.
    """
    if window_ms < 0 or min_rebalances < 1:
        raise ValueError(f"window_ms {window_ms} must be 0 or more, min_rebalances {min_rebalances} 1 or more")
    numbered = _number_storms(_rebalances(generations), window_ms * 1000, min_rebalances)
    storms = _judge(_summarise(numbered))
    return storms.select(*(F.col(field.name).cast(field.dataType) for field in struct_type(REBALANCE_STORMS)))


def _rebalances(generations: DataFrame) -> DataFrame:
    """One row for each rebalance: its time and the interval without a stable assignment, in microseconds."""
    at = F.coalesce("preparing_at", "completing_at", "stable_at", "emptied_at")
    in_order = Window.partitionBy(*_GROUP).orderBy(*_ORDER)
    is_over_us = F.coalesce(
        _us("stable_at"), _us("emptied_at"), F.least(_us("ended_at"), "next_us"), _us("completing_at"), "from_us"
    )
    return (
        generations.withColumn("at_us", F.unix_micros(at))
        .where("at_us IS NOT NULL AND NOT (trigger <=> 'coordinator_failover' AND preparing_at IS NULL)")
        .withColumn("from_us", _us("preparing_at"))
        .withColumn("next_us", F.lead("at_us").over(in_order))
        .withColumn("until_us", F.when(F.col("from_us").isNotNull(), is_over_us))
        .select(*_GROUP, *_ORDER, "from_us", "until_us", "trigger", "trigger_client_id", "trigger_client_host")
    )


def _us(name: str) -> Column:
    return F.unix_micros(F.col(name))


def _number_storms(rebalances: DataFrame, window_us: int, min_rebalances: int) -> DataFrame:
    """Keep the rebalances that belong to a storm, each with the number of its storm and the count of its window.

    `in_window` counts the rebalances from this one to the end of the window that it opens.
    """
    in_order = Window.partitionBy(*_GROUP).orderBy(*_ORDER)
    in_time = Window.partitionBy(*_GROUP).orderBy("at_us")
    size = max(min_rebalances, 2)
    opens_interval = F.lead("at_us", size - 1).over(in_order) - F.col("at_us") <= window_us
    # An interval that opened before this rebalance and includes it ties it to the one before.
    is_tied = F.max("opens_interval").over(in_order.rowsBetween(1 - size, -1))
    is_in_storm = F.lit(True) if min_rebalances == 1 else F.col("is_tied") | F.col("opens_interval")
    return (
        rebalances.withColumn("opens_interval", F.coalesce(opens_interval, F.lit(False)))
        .withColumn("is_tied", F.coalesce(is_tied, F.lit(False)))
        .withColumn("in_window", F.count("*").over(in_time.rangeBetween(0, window_us)))
        .where(is_in_storm)
        .withColumn("storm", F.sum(F.when(F.col("is_tied"), 0).otherwise(1)).over(in_order))
        .drop("opens_interval", "is_tied")
    )


def _summarise(numbered: DataFrame) -> DataFrame:
    """One row for each storm, without a judgement."""
    place = F.struct(*_ORDER)
    client = F.struct("trigger_client_id", "trigger_client_host")
    by_trigger = Window.partitionBy(*_STORM, "trigger")
    by_client = Window.partitionBy(*_STORM, "trigger_client_id", "trigger_client_host")
    before = Window.partitionBy(*_STORM).orderBy(*_ORDER).rowsBetween(Window.unboundedPreceding, -1)
    # Counted is only what no earlier rebalance covers; `greatest` ignores the null of the first one. Records carry the
    # time of the append, lines that of the logger, so an end can seem to lie before its beginning: that counts 0.
    unstable_us = F.greatest(F.lit(0), F.col("until_us") - F.greatest("from_us", F.max("until_us").over(before)))
    return (
        numbered.withColumn("unstable_us", F.when(F.col("from_us").isNotNull(), unstable_us))
        .withColumn("of_trigger", F.count("*").over(by_trigger))
        .withColumn("trigger_rank", F.struct(-F.col("of_trigger"), F.min(place).over(by_trigger)))
        .withColumn("client_rank", F.struct(-F.count("*").over(by_client), F.min(place).over(by_client)))
        .groupBy(*_STORM)
        .agg(
            F.min("at_us").alias("started_us"),
            F.max("at_us").alias("ended_us"),
            F.max("until_us").alias("until_us"),
            F.count("*").alias("rebalance_count"),
            F.min_by("generation", place).alias("first_generation"),
            F.max_by("generation", place).alias("last_generation"),
            F.max("in_window").alias("peak_count"),
            F.sum("unstable_us").alias("unstable_us"),
            F.map_from_entries(F.array_sort(F.collect_set(F.struct("trigger", "of_trigger")))).alias("triggers"),
            F.min_by("trigger", "trigger_rank").alias("main_trigger"),
            F.min_by(client, F.when(F.col("trigger_client_id").isNotNull(), F.col("client_rank"))).alias("client"),
        )
    )


def _judge(storms: DataFrame) -> DataFrame:
    """Add what follows from the sums: times, shares, severity and advice."""
    length_us = F.greatest("ended_us", "until_us") - F.col("started_us")
    gap_ms = (F.col("ended_us") - F.col("started_us")) / 1000 / (F.col("rebalance_count") - 1)
    return (
        storms.withColumn("started_at", F.timestamp_micros("started_us"))
        .withColumn("ended_at", F.timestamp_micros("ended_us"))
        .withColumn("unstable_ms", F.round(F.col("unstable_us") / 1000))
        .withColumn("unstable_ratio", F.when(length_us > 0, F.col("unstable_us") / length_us))
        .withColumn("mean_gap_ms", F.when(F.col("rebalance_count") > 1, gap_ms))
        .withColumn("severity", _severity())
        .withColumn("advice", _advice())
        .withColumn("main_client_id", F.col("client.trigger_client_id"))
        .withColumn("main_client_host", F.col("client.trigger_client_host"))
    )


def _severity() -> Column:
    """The first severity of which a limit is reached."""
    severity = F.lit(MILDEST_SEVERITY)
    for rule in reversed(SEVERITY_RULES):
        is_reached = F.coalesce(F.col("unstable_ratio") >= rule.unstable_ratio, F.lit(False))
        is_reached |= F.coalesce(F.col("mean_gap_ms") <= rule.mean_gap_ms, F.lit(False))
        severity = F.when(is_reached, F.lit(rule.severity)).otherwise(severity)
    return severity


def _advice() -> Column:
    """What helps against the main trigger, then against the others that matter, the more frequent first."""
    text_of = F.create_map(*(F.lit(word) for pair in STORM_ADVICE.items() for word in pair))
    others = F.filter(
        F.map_entries("triggers"),
        lambda entry: (
            (entry["key"] != F.col("main_trigger")) & (entry["value"] >= F.col("rebalance_count") * ALSO_FROM_SHARE)
        ),
    )
    ranked = F.array_sort(F.transform(others, lambda entry: F.struct(-entry["value"], entry["key"].alias("trigger"))))
    also = F.transform(
        ranked, lambda entry: F.concat(F.lit("Also "), entry["trigger"], F.lit(": "), text_of[entry["trigger"]])
    )
    return F.array_join(F.concat(F.array(text_of[F.col("main_trigger")]), also), " ")
