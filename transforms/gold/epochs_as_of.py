"""Rows that tell where a group of epochs stood at one moment: few of the many that there are of a life.

What follows from them is `transforms.findings.description.epochs`.
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transforms.gold.rebalances import begun_at


def generations_at(generations: DataFrame, group_id: str, life: int, at: Column) -> DataFrame:
    """Return the epochs that had begun, from the newest one with targets on, and the one before that.

    Args:
        generations: `gold.generations`.
        group_id: the group.
        life: life of the group.
        at: the moment.
    """
    of_group = Window.partitionBy("group_id")
    planned = F.max(F.when(F.col("completing_at") <= at, F.col("generation"))).over(of_group)
    following = F.lead("generation").over(of_group.orderBy("generation"))
    return (
        generations.where(_is_of(group_id, life) & (begun_at() <= at))
        .withColumn("planned", planned)
        .withColumn("following", F.coalesce(following, "generation"))
        .where((F.col("following") >= F.col("planned")) | F.col("planned").isNull())
        .drop("planned", "following")
    )


def members_of(generation_members: DataFrame, group_id: str, life: int, epochs: Collection[int]) -> DataFrame:
    """Return the members of some epochs of a life of a group.

    Args:
        generation_members: `gold.generation_members`.
        group_id: the group.
        life: life of the group.
        epochs: the epochs.
    """
    return generation_members.where(_is_of(group_id, life) & F.col("generation").isin(*epochs))


def assignments_at(assignments: DataFrame, group_id: str, life: int, epoch: int, at: Column) -> DataFrame:
    """Return the assignments that were in force, and all of members at one epoch.

    Args:
        assignments: `gold.assignments`.
        group_id: the group.
        life: life of the group.
        epoch: the epoch.
        at: the moment.
    """
    is_near = _covers("valid_from", "valid_to", at) | (F.col("generation") == epoch)
    return assignments.where(_is_of(group_id, life) & is_near)


def reconciliations_at(reconciliations: DataFrame, group_id: str, life: int, epoch: int, at: Column) -> DataFrame:
    """Return what members were about, and all that those at one epoch were about.

    Args:
        reconciliations: `gold.reconciliations`.
        group_id: the group.
        life: life of the group.
        epoch: the epoch.
        at: the moment.
    """
    is_near = _covers("from_at", "to_at", at) | (F.col("from_epoch") == epoch)
    return reconciliations.where(_is_of(group_id, life) & is_near)


def stored_at(records: DataFrame, group_id: str, types: Collection[int], at: Column) -> DataFrame:
    """Return what records of some types said last: their type, and their fields as JSON, null of a tombstone.

    Args:
        records: `silver.modern_group_records`.
        group_id: the group.
        types: the types.
        at: the moment.
    """
    of_types = (F.col("group_id") == group_id) & F.col("record_type").isin(*types) & (F.col("recorded_at") <= at)
    place = F.struct("recorded_at", "record_offset", "body")
    last = records.where(of_types).groupBy("record_type").agg(F.max(place).alias("last"))
    return last.select("record_type", F.col("last.body").alias("body"))


def targets_at(records: DataFrame, group_id: str, record_type: int, at: Column) -> DataFrame:
    """Return what the records of members' targets said last: member_id, and their fields as JSON, null of a tombstone.

    Args:
        records: `silver.modern_group_records`.
        group_id: the group.
        record_type: their type.
        at: the moment.
    """
    of_type = (F.col("group_id") == group_id) & (F.col("record_type") == record_type) & (F.col("recorded_at") <= at)
    place = F.struct("recorded_at", "record_offset", "body")
    last = records.where(of_type).groupBy("member_id").agg(F.max(place).alias("last"))
    return last.select("member_id", F.col("last.body").alias("body"))


def orphans_at(orphans: DataFrame, group_id: str, life: int, at: Column) -> DataFrame:
    """Return what nobody had, although the group was Stable.

    Args:
        orphans: `gold.orphaned_partitions`.
        group_id: the group.
        life: life of the group.
        at: the moment.
    """
    return orphans.where(_is_of(group_id, life) & _covers("from_at", "to_at", at))


def _is_of(group_id: str, life: int) -> Column:
    return (F.col("group_id") == group_id) & (F.col("life") == life)


def _covers(since: str, until: str, at: Column) -> Column:
    return F.coalesce(F.col(since) <= at, F.lit(True)) & F.coalesce(F.col(until) > at, F.lit(True))
