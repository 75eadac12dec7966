"""The partitions of `__consumer_offsets` in which groups live: those they were seen in, and those they should be in."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column
from pyspark.sql import functions as F

from schemas.table import TableSpec
from schemas.tables.gold import COORDINATORS
from transforms.question import of_table

STARTING, COMPUTED = "starting", "computed"
"""Names of the groups, and of the partition in which each should be: cluster, group_id, partition."""

_INTS = 1 << 32
"""How many numbers a Java int can be."""


def seen(holding: Iterable[TableSpec]) -> str:
    """Return the statement for the partitions that hold records of groups: cluster, group_id, partition.

    Args:
        holding: tables of records.
    """
    return " UNION ".join(
        f"SELECT cluster, group_id, topic_partition_of_record AS partition FROM {of_table(spec)}" for spec in holding
    )


def known() -> str:
    """Return the statement for the homes of groups that were replayed: cluster, group_id, partition, is_seen."""
    return f"""
        SELECT cluster, group_id, observed_partition AS partition, true AS is_seen
        FROM {of_table(COORDINATORS)} WHERE observed_partition IS NOT NULL
        UNION SELECT cluster, group_id, computed_partition, false FROM {of_table(COORDINATORS)}"""


def homes(holding: Iterable[TableSpec]) -> str:
    """Return the statement for the homes of the groups STARTING; those that are new should be where COMPUTED says.

    Args:
        holding: tables of records, whose new ones are read.

    Returns:
        SQL that gives the columns of the groups, partition and is_seen: it holds records of the group.
    """
    return f"""
        SELECT cluster, group_id, partition, bool_or(is_seen) AS is_seen, since, needs_older
        FROM (
            SELECT cluster, group_id, partition, false AS is_seen FROM {{{COMPUTED}}}
            LEFT ANTI JOIN ({known()}) known USING (cluster, group_id)
            UNION ALL SELECT cluster, group_id, partition, true AS is_seen FROM ({seen(holding)})
            UNION ALL SELECT cluster, group_id, partition, is_seen FROM ({known()})
        ) JOIN (SELECT cluster, group_id, since, needs_older FROM {{{STARTING}}}) starting USING (cluster, group_id)
        WHERE partition IS NOT NULL
        GROUP BY cluster, group_id, partition, since, needs_older"""


def partition_of(group_id: Column, count: Column) -> Column:
    """Return the partition of `__consumer_offsets` that a group lives in.

    `transforms.coordinator.kafka.java_hashing.offsets_partition` by Spark's own expressions, for which no process has
    to be started; a test holds the two together.
    """
    units = F.regexp_extract_all(F.hex(F.encode(group_id, "UTF-16BE")), F.lit("(....)"), F.lit(1))
    numbers = F.transform(units, lambda unit: F.conv(unit, 16, 10).cast("bigint"))
    hashed = F.aggregate(numbers, F.lit(0).cast("bigint"), lambda value, unit: (31 * value + unit) % _INTS)
    # A Java int above its greatest is negative, and of the least of all the absolute value is taken for 0.
    absolute = F.when(hashed < _INTS // 2, hashed).otherwise(_INTS - hashed) % (_INTS // 2)
    return (absolute % count).cast("int")
