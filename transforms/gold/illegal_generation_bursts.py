"""Bursts of fencing errors: a group's coordinator refuses requests, several in a row, by one and the same error.

The requests of one group that were answered with one error of `schemas.words.FENCING_ERRORS` are ordered by
`answered_at` and split where the gap is longer than allowed; a run that is long enough is a burst. Any API counts.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas.spark import struct_type
from schemas.tables.gold import ILLEGAL_GENERATION_BURSTS
from schemas.words import FENCING_ERRORS
from transforms.gold.advice import BURST_RULES, HEARTBEAT_INTERVAL_MS, REMOVAL_CAUSES

_GROUP = ("cluster", "group_id")
_BURST = (*_GROUP, "error", "burst")


def illegal_generation_bursts(
    group_requests: DataFrame,
    generations: DataFrame,
    gap_ms: int,
    min_errors: int,
    member_sessions: DataFrame | None = None,
) -> DataFrame:
    """Find the bursts of fencing errors of all groups, and what they point to.

    `current_generation` is the group's at the burst's first answer: the latest that had completed its join phase (or
    ended it without members) by then, over all lives. A request sent without a generation (null, or below 0) has no
    part in `stale_generation_min` and `stale_generation_max`.

    Args:
        group_requests: `silver.group_requests`.
        generations: `gold.generations`.
        gap_ms: longest gap between two errors of a burst, in milliseconds.
        min_errors: fewest errors of a burst.
        member_sessions: `gold.member_sessions`, which says of every member how it went. Without it only those are
            known whose going triggered a generation.

    Returns:
        `gold.illegal_generation_bursts`, one row for each burst; `suspected_cause` and `advice` by the first rule of
        `transforms.gold.advice.BURST_RULES` that holds.

    Raises:
        ValueError: if a threshold is out of its range.
    """
    if gap_ms < 0 or min_errors < 1:
        raise ValueError(f"gap_ms {gap_ms} must be 0 or more, min_errors {min_errors} 1 or more")
    refused = _date_by_generation(_number_bursts(group_requests, gap_ms * 1000, min_errors), generations)
    bursts = _summarise(refused)
    removals = _removals_by_trigger(generations) if member_sessions is None else _removals_by_session(member_sessions)
    explained = _explain(bursts.join(_removal_causes(bursts, removals), list(_BURST), "left"))
    return explained.select(
        *(F.col(field.name).cast(field.dataType) for field in struct_type(ILLEGAL_GENERATION_BURSTS))
    )


def _number_bursts(group_requests: DataFrame, gap_us: int, min_errors: int) -> DataFrame:
    """Keep the refused requests that belong to a burst, each with the number of its burst."""
    in_order = Window.partitionBy(*_GROUP, "error").orderBy("at_us")
    is_first = F.coalesce(F.col("at_us") - F.lag("at_us").over(in_order) > gap_us, F.lit(True))
    return (
        group_requests.where(F.col("error").isin(*FENCING_ERRORS))
        .withColumn("at_us", F.unix_micros("answered_at"))
        .withColumn("is_first", is_first.cast("int"))
        .withColumn("burst", F.sum("is_first").over(in_order))
        .withColumn("length", F.count("*").over(Window.partitionBy(*_BURST)))
        .where(F.col("length") >= min_errors)
        .withColumn("sent", F.when(F.col("generation") >= 0, F.col("generation")))
        .select(*_BURST, "at_us", "api", "sent", _not_empty("member_id"), _not_empty("client_id"))
    )


def _not_empty(name: str) -> Column:
    """Null for the empty string, which is how Kafka spells that a client has no member id yet."""
    return F.when(F.col(name) != "", F.col(name)).alias(name)


def _date_by_generation(refused: DataFrame, generations: DataFrame) -> DataFrame:
    """Add to each request what the group was at then.

    `current` is the generation in force, `rebalance` the last one begun (its trigger, and when it was over). One
    ordered pass over requests and generations together takes the place of a join by time, which would compare every
    request with every generation.
    """
    of_group = generations.join(refused.select(*_GROUP).distinct(), list(_GROUP), "left_semi")
    place = (*_GROUP, "life", "generation")
    in_force_at = F.coalesce("completing_at", "stable_at", "emptied_at")
    begun_at = F.coalesce("preparing_at", "completing_at", "stable_at", "emptied_at")
    over_us = F.unix_micros(F.coalesce("stable_at", "emptied_at", "ended_at")).alias("over_us")
    in_force = of_group.select(*place, F.unix_micros(in_force_at).alias("at_us"), F.col("generation").alias("current"))
    begun = of_group.select(
        *place, F.unix_micros(begun_at).alias("at_us"), F.struct("trigger", over_us).alias("rebalance")
    )
    # Of equal times the generation comes first: it is in force from its very millisecond.
    until_now = (
        Window.partitionBy(*_GROUP)
        .orderBy("at_us", F.col("error").isNotNull(), "life", "generation")
        .rowsBetween(Window.unboundedPreceding, 0)
    )
    return (
        refused.unionByName(in_force.where("at_us IS NOT NULL"), allowMissingColumns=True)
        .unionByName(begun.where("at_us IS NOT NULL"), allowMissingColumns=True)
        .withColumn("current", F.last("current", ignorenulls=True).over(until_now))
        .withColumn("rebalance", F.last("rebalance", ignorenulls=True).over(until_now))
        .where("error IS NOT NULL")
        .drop("life", "generation")
    )


def _summarise(refused: DataFrame) -> DataFrame:
    """One row for each burst, with the facts that the rules ask for.

    Facts beside the table's columns: `is_ahead` (every generation sent was newer than the group's), `is_after_failover`
    (the first answer fell into or just after a rebalance by coordinator failover), `is_in_flight` (every request fell
    into or just after a rebalance and was at most one generation behind), `persisted_ms` (longest time for which one
    member went on with one generation after its first refusal).
    """
    grace_us = HEARTBEAT_INTERVAL_MS * 1000
    is_near_rebalance = F.col("rebalance").isNotNull() & (
        F.col("rebalance.over_us").isNull() | (F.col("at_us") <= F.col("rebalance.over_us") + grace_us)
    )
    is_at_most_one_behind = F.coalesce(F.col("sent") >= F.col("current") - 1, F.lit(True))
    of_member = Window.partitionBy(*_BURST, "member_id", "sent")
    persisted_us = F.max("at_us").over(of_member) - F.min("at_us").over(of_member)
    of_api = Window.partitionBy(*_BURST, "api")
    return (
        refused.withColumn("of_api", F.count("*").over(of_api))
        .withColumn("persisted_us", F.when(F.col("sent").isNotNull(), persisted_us))
        .withColumn("is_near", is_near_rebalance)
        .withColumn("is_failover", F.col("is_near") & (F.col("rebalance.trigger") == "coordinator_failover"))
        .groupBy(*_BURST)
        .agg(
            F.timestamp_micros(F.min("at_us")).alias("started_at"),
            F.timestamp_micros(F.max("at_us")).alias("ended_at"),
            F.count("*").alias("error_count"),
            F.map_from_entries(F.array_sort(F.collect_set(F.struct("api", "of_api")))).alias("apis"),
            F.array_sort(F.collect_set("member_id")).alias("member_ids"),
            F.array_sort(F.collect_set("client_id")).alias("client_ids"),
            F.min("sent").alias("stale_generation_min"),
            F.max("sent").alias("stale_generation_max"),
            F.min_by("current", "at_us").alias("current_generation"),
            F.coalesce(F.bool_and(F.col("sent") > F.col("current")), F.lit(False)).alias("is_ahead"),
            F.coalesce(F.min_by("is_failover", "at_us"), F.lit(False)).alias("is_after_failover"),
            F.bool_and(F.col("is_near") & is_at_most_one_behind).alias("is_in_flight"),
            (F.max("persisted_us") / 1000).alias("persisted_ms"),
        )
    )


def _removals_by_trigger(generations: DataFrame) -> DataFrame:
    """How members went, as far as their going triggered a generation."""
    return generations.select(
        *_GROUP,
        F.col("trigger_member_id").alias("member_id"),
        F.coalesce("preparing_at", "completing_at", "stable_at", "emptied_at").alias("removed_at"),
        F.col("trigger").alias("how"),
    )


def _removals_by_session(member_sessions: DataFrame) -> DataFrame:
    """How members went, by the end of their stay."""
    return member_sessions.select(
        *_GROUP, "member_id", F.col("ended_at").alias("removed_at"), F.col("end_cause").alias("how")
    )


def _removal_causes(bursts: DataFrame, removals: DataFrame) -> DataFrame:
    """What the removal of most senders of a burst points to; of equally many the latest. No row if none is known.

    Only of UNKNOWN_MEMBER_ID and the epochs: who gets ILLEGAL_GENERATION is still a member, because the coordinator
    looks at the member first.
    """
    cause_of = F.create_map(*(F.lit(word) for pair in REMOVAL_CAUSES.items() for word in pair))
    senders = bursts.where("error <> 'ILLEGAL_GENERATION'").select(
        *_BURST, "ended_at", F.explode("member_ids").alias("member_id")
    )
    return (
        senders.join(removals.withColumn("cause", cause_of[F.col("how")]), [*_GROUP, "member_id"])
        .where("cause IS NOT NULL AND removed_at <= ended_at")
        .groupBy(*_BURST, "cause")
        .agg(F.struct(F.count_distinct("member_id"), F.max("removed_at"), "cause").alias("weight"))
        .groupBy(*_BURST)
        .agg(F.max("weight").getField("cause").alias("removal_cause"))
    )


def _explain(bursts: DataFrame) -> DataFrame:
    """Add the cause and the advice of the first rule that holds."""
    verdict: Column = F.lit(None)
    for rule in reversed(BURST_RULES):
        answer = F.struct(F.lit(rule.cause).alias("cause"), F.lit(rule.advice).alias("advice"))
        verdict = F.when(F.expr(rule.condition), answer).otherwise(verdict)
    return (
        bursts.withColumn("verdict", verdict)
        .withColumn("suspected_cause", F.col("verdict.cause"))
        .withColumn("advice", F.col("verdict.advice"))
    )
