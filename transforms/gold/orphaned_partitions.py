"""What nobody has where the data end, although its group is Stable: one row a group."""

from __future__ import annotations

from pyspark.sql import types as T

from schemas.tables.gold import ORPHANED_PARTITIONS
from transforms.question import Question

STILL_ORPHANED = """
    SELECT cluster, group_id, max_by(group_type, from_at) AS group_type,
        CAST(count(DISTINCT topic, partition) AS INT) AS orphaned_partition_count, min(from_at) AS orphaned_since
    FROM {orphaned_partitions} WHERE to_at IS NULL GROUP BY cluster, group_id"""
"""The query for it, over the table by name."""

ORPHANED = Question(
    STILL_ORPHANED,
    (ORPHANED_PARTITIONS,),
    T.StructType()
    .add("cluster", "string")
    .add("group_id", "string")
    .add("group_type", "string")
    .add("orphaned_partition_count", "integer")
    .add("orphaned_since", "timestamp"),
)
"""The question for what nobody has still; a group that is deleted ends all that it had.

One row for each group that has some; `orphaned_since`: begin of the longest of these stretches.
"""
