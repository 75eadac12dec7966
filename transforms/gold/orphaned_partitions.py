"""What nobody has where the data end, although its group is Stable: one row a group."""

from __future__ import annotations

from pyspark.sql import DataFrame

STILL_ORPHANED = """
    SELECT cluster, group_id, max_by(group_type, from_at) AS group_type,
        CAST(count(DISTINCT topic, partition) AS INT) AS orphaned_partition_count, min(from_at) AS orphaned_since
    FROM {orphaned_partitions} WHERE to_at IS NULL GROUP BY cluster, group_id"""
"""The query for it, over the table by name."""


def still_orphaned(orphans: DataFrame) -> DataFrame:
    """Count what nobody has still; a group that is deleted ends all that it had.

    Args:
        orphans: `gold.orphaned_partitions`.

    Returns:
        One row for each group that has some: cluster, group_id, group_type, orphaned_partition_count INT,
        orphaned_since (begin of the longest of these stretches).
    """
    return orphans.sparkSession.sql(STILL_ORPHANED, orphaned_partitions=orphans)
