"""What nobody has where the data end, although its group is Stable: one row a group."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def still_orphaned(orphans: DataFrame) -> DataFrame:
    """Count what nobody has still; a group that is deleted ends all that it had.

    Args:
        orphans: `gold.orphaned_partitions`.

    Returns:
        One row for each group that has some: cluster, group_id, group_type, orphaned_partition_count INT,
        orphaned_since (begin of the longest of these stretches).
    """
    return (
        orphans.where("to_at IS NULL")
        .groupBy("cluster", "group_id")
        .agg(
            F.max_by("group_type", "from_at").alias("group_type"),
            F.count_distinct("topic", "partition").cast("int").alias("orphaned_partition_count"),
            F.min("from_at").alias("orphaned_since"),
        )
    )
