"""Silver rows as evidence: packed for the kernel, each with its moment, so that a group's can be put in order.

Grain: one piece of evidence of one (cluster, group_id):

    cluster STRING, group_id STRING, at DOUBLE, kind STRING, row BINARY

`at` is the row's own moment (epoch ms); `row` is the row as JSON, without its nulls, bytes in base64, times as epoch
ms; `kind` says of which table it is. JSON, because the rows are wide and mostly null. A line about a coordinator as a
whole is evidence of every group of its partition.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from schemas.codegen import NOT_EVIDENCE
from schemas.table import TableSpec
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_METADATA, GROUP_REQUESTS, MODERN_GROUP_RECORDS
from transforms.coordinator.evidence.brokers import BROKER_EVENTS
from transforms.coordinator.evidence.ownership import LOAD_EVENTS
from transforms.sql import among

GROUP = ("cluster", "group_id")

RECORD, MODERN, LINE, REQUEST, PLACE, STATE = "record", "modern", "line", "request", "place", "state"
"""Kinds: rows of the four tables; a partition that holds records of the group; where its replay stood."""

KINDS: dict[str, tuple[TableSpec, str, str]] = {
    RECORD: (GROUP_METADATA, "recorded_at", "recorded_at"),
    MODERN: (MODERN_GROUP_RECORDS, "recorded_at", "recorded_at"),
    LINE: (COORDINATOR_EVENTS, "logged_at", "logged_at"),
    REQUEST: (GROUP_REQUESTS, "coalesce(handled_at, answered_at)", "answered_at"),
}
"""By kind: the table; the moment of its rows; and when they were written, a request when it is answered."""

IS_OF_COORDINATOR = f"group_id IS NULL AND {among('event', sorted({*LOAD_EVENTS, *BROKER_EVENTS}))}"
"""Condition of lines about the coordinators of partitions, and about brokers, that matter to groups."""

FIRST = float("-inf")
"""Moment of what a group's evidence begins with."""

OF_GROUP = "of_group"
"""The group that a line about a coordinator is given to."""


def moment(kind: str) -> Column:
    """Return the moment of a row as epoch ms."""
    return F.unix_micros(F.expr(KINDS[kind][1])) / F.lit(1000.0)


def written_since(kind: str, at: Column | float) -> Column:
    """Tell whether a row was written at or after a moment (epoch ms); as Delta can skip files by."""
    since = F.lit(at) if isinstance(at, float) else at
    return F.col(KINDS[kind][2]) >= F.timestamp_micros((since * F.lit(1000.0)).cast("bigint"))


def packed(rows: DataFrame, kind: str) -> DataFrame:
    """Pack rows of a silver table; rows without a moment have no place in the order, and are left out."""
    group = F.col(OF_GROUP if OF_GROUP in rows.columns else "group_id").alias("group_id")
    names = [name for name in rows.columns if name not in NOT_EVIDENCE and name != OF_GROUP]
    return rows.select(
        "cluster", group, moment(kind).alias("at"), F.lit(kind).alias("kind"), as_json(rows, names).alias("row")
    ).where("at IS NOT NULL")


def as_json(rows: DataFrame, names: Iterable[str]) -> Column:
    """Return columns of a row as JSON, as msgspec reads it: without nulls, bytes in base64, times as epoch ms."""
    fields = [
        (F.unix_micros(name) / F.lit(1000.0)).alias(name)
        if isinstance(rows.schema[name].dataType, T.TimestampType)
        else F.col(name)
        for name in names
    ]
    return F.to_json(F.struct(*fields)).cast("binary")


def packed_places(places: DataFrame) -> DataFrame:
    """Pack partitions that groups have records in: cluster, group_id, partition."""
    row = F.col("partition").cast("string").cast("binary")
    return places.select(*GROUP, F.lit(FIRST).alias("at"), F.lit(PLACE).alias("kind"), row.alias("row"))


def packed_states(states: DataFrame) -> DataFrame:
    """Pack the states that groups go on from: cluster, group_id, state."""
    return states.select(*GROUP, F.lit(FIRST).alias("at"), F.lit(STATE).alias("kind"), F.col("state").alias("row"))


def of_groups(rows: DataFrame) -> DataFrame:
    """Return the rows that name a group."""
    return rows.where(F.col("group_id").isNotNull())


def of_coordinators(events: DataFrame) -> DataFrame:
    """Return the lines about the coordinators of partitions, and about brokers, that matter to groups."""
    return events.where(IS_OF_COORDINATOR)


def given_to_groups(wide: DataFrame, homes: DataFrame) -> DataFrame:
    """Give each group the lines of its partitions' coordinators, and of its cluster's brokers.

    Args:
        wide: what `of_coordinators` gives.
        homes: cluster, group_id, partition and is_seen of the groups, and `since`: moment (epoch ms) from which on they
            want the lines; null = all.

    Returns:
        The lines, with the group in `of_group`.
    """
    wanted = homes.withColumnRenamed("group_id", OF_GROUP)
    lines = wide.withColumn("line_at", moment(LINE))
    of_partition = lines.where(F.col("event").isin(*LOAD_EVENTS)).withColumn(
        "partition", F.col("topic_partition_of_group")
    )
    of_broker = lines.where(F.col("event").isin(*BROKER_EVENTS))
    groups = wanted.select("cluster", OF_GROUP, "since").distinct()
    is_wanted = "since IS NULL OR line_at >= since"
    return (
        of_partition.join(wanted, ["cluster", "partition"])
        .where(is_wanted)
        .drop("partition", "is_seen")
        .unionByName(of_broker.join(groups, "cluster").where(is_wanted))
        .drop("since", "line_at")
    )
