"""Which groups a run replays: those that there is new evidence of, and those that were left unfinished.

A group is unfinished if some of its evidence lay beyond the horizon, or too close to it, when it was last replayed.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transforms.coordinator.evidence.tolerances import LOOK_AHEAD_MS
from transforms.gold.timelines.evidence import GROUP, LINE, moment
from transforms.gold.timelines.starting_points import ms


def of_groups(new: dict[str, DataFrame]) -> DataFrame:
    """Return the groups that new rows name, and the oldest moment of these.

    Args:
        new: by kind, the new rows that name a group.

    Returns:
        cluster, group_id, oldest DOUBLE (epoch ms).
    """
    return _oldest(
        reduce(
            DataFrame.unionByName,
            (rows.select(*GROUP, moment(kind).alias("oldest")) for kind, rows in new.items()),
        )
    )


def of_coordinators(wide: DataFrame, known_homes: DataFrame) -> DataFrame:
    """Return the known groups that new lines about coordinators or brokers concern, and the oldest moment of these.

    Args:
        wide: the new lines.
        known_homes: cluster, group_id and partition of the groups.
    """
    partition = F.col("topic_partition_of_group").alias("partition")
    lines = wide.select("cluster", partition, moment(LINE).alias("oldest"))
    by_partition = lines.groupBy("cluster", "partition").agg(F.min("oldest").alias("oldest"))
    of_brokers = by_partition.where("partition IS NULL").drop("partition")
    of_partitions = known_homes.join(F.broadcast(by_partition), ["cluster", "partition"])
    of_clusters = known_homes.join(F.broadcast(of_brokers), "cluster")
    return _oldest(of_partitions.select(*GROUP, "oldest").unionByName(of_clusters.select(*GROUP, "oldest")))


def of_places(new_places: DataFrame, known_homes: DataFrame) -> DataFrame:
    """Return the groups that were not seen in a partition before.

    Args:
        new_places: cluster, group_id, partition of new records.
        known_homes: the same of the groups that were replayed.
    """
    unknown = new_places.join(known_homes, [*GROUP, "partition"], "left_anti")
    return unknown.select(*GROUP, F.lit(None).cast("double").alias("oldest"))


def of_names(
    named: DataFrame, assignments: DataFrame, reconciliations: DataFrame, orphaned: DataFrame, generations: DataFrame
) -> DataFrame:
    """Return the groups with rows that name a topic by its id, as no name was known then; and the oldest of these rows.

    Epochs of these groups whose assignor could not be told are among them: it may be for want of the name.

    Args:
        named: topic_id of the names that are new; few.
        assignments: `gold.assignments`.
        reconciliations: `gold.reconciliations`.
        orphaned: `gold.orphaned_partitions`.
        generations: `gold.generations`.
    """
    without_number = F.regexp_replace("partition", "-[0-9]+$", "")
    waiting = reconciliations.select(*GROUP, "from_at", F.explode("partitions").alias("partition"))
    held = assignments.select(*GROUP, ms("valid_from").alias("oldest"), F.col("topic").alias("topic_id"))
    left_over = orphaned.select(*GROUP, ms("from_at").alias("oldest"), F.col("topic").alias("topic_id"))
    sought = waiting.select(*GROUP, ms("from_at").alias("oldest"), without_number.alias("topic_id"))
    rows = held.unionByName(left_over).unionByName(sought)
    found = _oldest(rows.join(F.broadcast(named.select("topic_id")), "topic_id", "left_semi"))
    is_untold = (F.col("group_type") == "consumer") & F.col("completing_at").isNotNull() & F.col("assignor").isNull()
    untold = generations.where(is_untold).select(*GROUP, ms("preparing_at").alias("oldest"))
    return _oldest(found.unionByName(untold.join(found.select(*GROUP), [*GROUP], "left_semi")))


def unfinished(snapshots: DataFrame) -> DataFrame:
    """Return the groups whose youngest snapshot does not hold all of their evidence."""
    youngest = snapshots.groupBy(*GROUP).agg(F.max_by(F.struct("at", "seen_until"), "at").alias("last"))
    is_waiting = ms("last.seen_until") + F.lit(LOOK_AHEAD_MS) >= ms("last.at")
    return youngest.where(is_waiting).select(*GROUP, F.lit(None).cast("double").alias("oldest"))


def together(touched: list[DataFrame]) -> DataFrame:
    """Return each group once: cluster, group_id, oldest moment of what is new; null = nothing is older than known."""
    return _oldest(reduce(DataFrame.unionByName, touched))


def _oldest(groups: DataFrame) -> DataFrame:
    return groups.groupBy(*GROUP).agg(F.min("oldest").alias("oldest"))
