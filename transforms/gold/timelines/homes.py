"""The partitions of `__consumer_offsets` in which groups live: those they were seen in, and those they should be in."""

from __future__ import annotations

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.functions import pandas_udf

from transforms.coordinator.kafka.java_hashing import offsets_partition
from transforms.coordinator.rows.coordinators import DEFAULT_PARTITION_COUNT
from transforms.gold.timelines.evidence import GROUP

HOME = (*GROUP, "partition")


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
    computed = new.withColumn("partition", _partition_of(F.col("group_id"), count)).withColumn("is_seen", F.lit(False))
    places = computed.unionByName(seen.withColumn("is_seen", F.lit(True))).unionByName(known_homes)
    each_once = places.where("partition IS NOT NULL").groupBy(*HOME).agg(F.max("is_seen").alias("is_seen"))
    return each_once.join(groups, [*GROUP])


@pandas_udf(T.IntegerType())  # type: ignore[untyped-decorator, call-overload]
def _partition_of(group_id: pd.Series, count: pd.Series) -> pd.Series:
    return pd.Series(
        [offsets_partition(group, int(n)) for group, n in zip(group_id, count, strict=True)], dtype="int32"
    )
