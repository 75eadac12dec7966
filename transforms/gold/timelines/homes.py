"""The partitions of `__consumer_offsets` in which groups live: those they were seen in, and those they should be in."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.coordinator.rows.coordinators import DEFAULT_PARTITION_COUNT
from transforms.gold.timelines.evidence import GROUP

HOME = (*GROUP, "partition")

_INTS = 1 << 32
"""How many numbers a Java int can be."""


def seen_in(records: DataFrame) -> DataFrame:
    """Return the partitions that hold records of groups: cluster, group_id, partition."""
    return records.select(*GROUP, F.col("topic_partition_of_record").alias("partition")).distinct()


def known(coordinators: DataFrame) -> DataFrame:
    """Return the homes of the groups that were replayed.

    Args:
        coordinators: `gold.coordinators`.

    Returns:
        cluster, group_id, partition, is_seen.
    """
    both = F.explode(
        F.array(
            F.struct(F.col("observed_partition").alias("partition"), F.lit(True).alias("is_seen")),
            F.struct(F.col("computed_partition").alias("partition"), F.lit(False).alias("is_seen")),
        )
    )
    return coordinators.select(*GROUP, both.alias("home")).select(*GROUP, "home.*").where("partition IS NOT NULL")


def homes(groups: DataFrame, seen: DataFrame, known_homes: DataFrame, partition_count: int | None = None) -> DataFrame:
    """Return the homes of groups.

    Args:
        groups: cluster, group_id, and what else is to be told beside.
        seen: cluster, group_id, partition: where there are new records.
        known_homes: what `known` gives.
        partition_count: partitions of the topic; None = Kafka's default.

    Returns:
        The columns of `groups`, partition and is_seen: it holds records of the group.
    """
    count = F.lit(partition_count or DEFAULT_PARTITION_COUNT)
    new = groups.select(*GROUP).join(known_homes, [*GROUP], "left_anti")
    computed = new.withColumn("partition", partition_of(F.col("group_id"), count)).withColumn("is_seen", F.lit(False))
    places = computed.unionByName(seen.withColumn("is_seen", F.lit(True))).unionByName(known_homes)
    each_once = places.where("partition IS NOT NULL").groupBy(*HOME).agg(F.max("is_seen").alias("is_seen"))
    return each_once.join(groups, [*GROUP])


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
