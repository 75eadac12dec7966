"""A group as it was at one moment, in the terms of DescribeGroups."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.gold.rebalances import rebalances

_LIFE = ("cluster", "group_id", "life")


def state_at(transitions: DataFrame, generations: DataFrame, group_id: str, at: Column) -> DataFrame:
    """Return the state that a group was in.

    Args:
        transitions: `gold.transitions`.
        generations: `gold.generations`.
        group_id: the group.
        at: the moment.

    Returns:
        At most one row: cluster, group_id, life, group_type, state, generation, since, protocol_type, protocol,
        leader_member_id, trigger. No row if nothing is known of the group up to then.
    """
    entered = F.coalesce(F.col("at"), F.to_timestamp(F.lit("1970-01-01")))
    last = (
        transitions.where((F.col("group_id") == group_id) & (entered <= at))
        .orderBy(F.desc("life"), F.desc("seq"))
        .limit(1)
        .select(*_LIFE, "group_type", F.col("to_state").alias("state"), "generation", F.col("at").alias("since"))
    )
    told = generations.select(*_LIFE, "generation", "protocol_type", "protocol", "leader_member_id", "trigger")
    return last.join(told, [*_LIFE, "generation"], "left")


def members_at(sessions: DataFrame, assignments: DataFrame, group_id: str, life: int, at: Column) -> DataFrame:
    """Return the members that a group had, with what they owned.

    Args:
        sessions: `gold.member_sessions`.
        assignments: `gold.assignments`.
        group_id: the group.
        life: life of the group.
        at: the moment.

    Returns:
        One row for each member: member_id, group_instance_id, client_id, client_host, joined_at, partitions (array of
        topic-partition, ordered; empty if it owned none; without those that were taken away and not yet given back).
    """
    is_there = (F.col("group_id") == group_id) & (F.col("life") == life)
    present = sessions.where(
        is_there & F.coalesce(F.col("joined_at") <= at, F.lit(True)) & F.coalesce(F.col("ended_at") > at, F.lit(True))
    )
    in_force = is_there & (F.col("valid_from") <= at) & F.coalesce(F.col("valid_to") > at, F.lit(True))
    place = F.struct("topic", "partition")
    owned = (
        assignments.where(in_force & ~F.col("hold").eqNullSafe("revoking"))
        .groupBy("member_id")
        .agg(F.array_sort(F.collect_set(place)).alias("places"))
        .select(
            "member_id",
            F.transform("places", lambda each: F.concat_ws("-", each["topic"], each["partition"])).alias("partitions"),
        )
    )
    nothing = F.array().cast("array<string>")
    return present.join(owned, "member_id", "left").select(
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "joined_at",
        F.coalesce("partitions", nothing).alias("partitions"),
    )


def last_rebalance_at(generations: DataFrame, group_id: str, at: Column) -> DataFrame:
    """Return the generation that a group's last rebalance before a moment led to, or was to lead to.

    Args:
        generations: `gold.generations`.
        group_id: the group.
        at: the moment.

    Returns:
        At most one row: the columns of `gold.generations`, and `began_at`.
    """
    begun = rebalances(generations.where(F.col("group_id") == group_id))
    began = begun.withColumn("began_at", F.timestamp_micros("at_us")).drop("at_us").where(F.col("began_at") <= at)
    return began.orderBy(F.desc("life"), F.desc("generation")).limit(1)


def findings_at(findings: DataFrame, group_id: str, at: Column) -> DataFrame:
    """Return the findings of a group, of a table that has `is_open`, that cover a moment.

    One that is still open where the data end covers all that comes after its begin.
    """
    has_begun = F.col("started_at") <= at
    is_over = (F.col("ended_at") < at) & ~F.col("is_open")
    return findings.where((F.col("group_id") == group_id) & has_begun & ~is_over).orderBy("started_at")


def near_names(groups: DataFrame, group_id: str, most: int = 5) -> DataFrame:
    """Return the names of groups that one may have meant: those that hold the name or lie in it, then those like it.

    Args:
        groups: has `group_id`.
        group_id: the name that no group has.
        most: how many names at most.
    """
    wanted, name = F.lower(F.lit(group_id)), F.lower("group_id")
    holds = F.contains(name, wanted) | F.contains(wanted, name)
    distance = F.levenshtein(name, wanted)
    return (
        groups.select("group_id")
        .distinct()
        .where((name != "") & (holds | (distance <= max(2, len(group_id) // 3))))
        .orderBy(F.desc(holds), distance, "group_id")
        .limit(most)
    )
