"""A group as it was at one moment, in the terms of DescribeGroups."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

_LIFE = ("cluster", "group_id", "life")


def state_at(transitions: DataFrame, generations: DataFrame, group_id: str, at: Column) -> DataFrame:
    """Return the state that a group was in.

    Args:
        transitions: `gold.transitions`.
        generations: `gold.generations`.
        group_id: the group.
        at: the moment.

    Returns:
        At most one row: cluster, group_id, life, state, generation, since, protocol_type, protocol, leader_member_id,
        trigger. No row if nothing is known of the group up to then.
    """
    entered = F.coalesce(F.col("at"), F.to_timestamp(F.lit("1970-01-01")))
    last = (
        transitions.where((F.col("group_id") == group_id) & (entered <= at))
        .orderBy(F.desc("life"), F.desc("seq"))
        .limit(1)
        .select(*_LIFE, F.col("to_state").alias("state"), "generation", F.col("at").alias("since"))
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
        topic-partition, ordered; empty if it owned none).
    """
    is_there = (F.col("group_id") == group_id) & (F.col("life") == life)
    present = sessions.where(
        is_there & F.coalesce(F.col("joined_at") <= at, F.lit(True)) & F.coalesce(F.col("ended_at") > at, F.lit(True))
    )
    in_force = is_there & (F.col("valid_from") <= at) & F.coalesce(F.col("valid_to") > at, F.lit(True))
    place = F.struct("topic", "partition")
    owned = (
        assignments.where(in_force)
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
