"""All groups at one go, from their beginning: every row of silver is evidence, and nothing more will come."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from math import inf

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.table import TableSpec
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_METADATA, GROUP_REQUESTS, OFFSET_COMMITS
from transforms.coordinator.rows.coordinators import DEFAULT_PARTITION_COUNT
from transforms.gold.timelines import evidence as packing
from transforms.gold.timelines.evidence import GROUP, LINE, RECORD, REQUEST
from transforms.gold.timelines.kernel import Replay, replayed
from transforms.gold.timelines.starting_points import homes


def replay_everything(
    silver: Mapping[TableSpec, DataFrame], partition_count: int | None = None, partitions: int = 2
) -> DataFrame:
    """Replay all groups.

    Args:
        silver: the tables `GROUP_METADATA`, `COORDINATOR_EVENTS`, `GROUP_REQUESTS` and `OFFSET_COMMITS`.
        partition_count: partitions of `__consumer_offsets`; None = Kafka's default.
        partitions: tasks in which it is done.

    Returns:
        What `transforms.gold.timelines.kernel.replayed` does, nothing of it settled.
    """
    events = silver[COORDINATOR_EVENTS]
    named = {
        RECORD: silver[GROUP_METADATA],
        LINE: packing.of_groups(events),
        REQUEST: silver[GROUP_REQUESTS],
    }
    places = places_of(silver[OFFSET_COMMITS])
    groups = reduce(DataFrame.union, (rows.select(*GROUP) for rows in (*named.values(), places))).distinct()
    seen = places.unionByName(places_of(silver[GROUP_METADATA]))
    at_home = homes(groups, seen, partition_count or DEFAULT_PARTITION_COUNT).withColumn(
        "since", F.lit(None).cast("double")
    )
    wide = packing.given_to_groups(packing.of_coordinators(events), at_home)
    parts = [packing.packed(rows, kind) for kind, rows in named.items()]
    parts += [packing.packed(wide, LINE), packing.packed_places(places)]
    return replayed(packing.together(parts), Replay(inf, partition_count), partitions)


def places_of(records: DataFrame) -> DataFrame:
    """Return the partitions of `__consumer_offsets` that hold records of groups: cluster, group_id, partition."""
    return records.select(*GROUP, F.col("topic_partition_of_record").alias("partition")).distinct()
