"""Silver to gold: every group's evidence through the state machine, one grouped-map call per group.

This module only gathers rows and binds types; what is done with them is `transforms.coordinator.replay`.

Grain: one call of the kernel takes all evidence of one (cluster, group_id), in no order, as

    cluster STRING, group_id STRING, record STRUCT, event STRUCT, request STRUCT, partition INT

where exactly one of the last four is set: a row of `silver.group_metadata`, `silver.coordinator_events` or
`silver.group_requests`, or a partition that holds offset commits of the group. It returns the group's gold rows, each
in the struct column that is named like its table. On the way times are BIGINT: epoch microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import REPLAYED
from transforms.coordinator.brokers import BROKER_EVENTS, DEFAULT_PARTITION_COUNT, LOAD_EVENTS
from transforms.coordinator.order import offsets_partition
from transforms.coordinator.replay import replay_group

BUCKETS = 64
"""Groups are replayed and replaced in this many parts."""

_US = 1000
"""Microseconds of a millisecond."""

_GROUP = ("cluster", "group_id")


def bucket(group_id: Column) -> Column:
    """Return the part that a group belongs to, from 0 to BUCKETS - 1."""
    return F.pmod(F.crc32(group_id.cast("binary")), F.lit(BUCKETS))


def rebuild(
    group_metadata: DataFrame,
    offset_commits: DataFrame,
    coordinator_events: DataFrame,
    group_requests: DataFrame,
    buckets: list[int] | None,
    partition_count: int | None,
) -> DataFrame:
    """Replay groups and return all their gold rows, one struct column for each table (`table_of` parts them).

    Args:
        group_metadata: `silver.group_metadata`.
        offset_commits: `silver.offset_commits`.
        coordinator_events: `silver.coordinator_events`.
        group_requests: `silver.group_requests`.
        buckets: parts to replay; None = all.
        partition_count: partitions of `__consumer_offsets`; None = as the brokers printed it.
    """
    chosen = F.lit(True) if buckets is None else bucket(F.col("group_id")).isin(buckets)
    places = (
        offset_commits.where(chosen).select(*_GROUP, F.col("topic_partition_of_record").alias("partition")).distinct()
    )
    records = _evidence(group_metadata.where(chosen), "record")
    events = _evidence(coordinator_events.where(F.col("group_id").isNotNull() & chosen), "event")
    requests = _evidence(group_requests.where(chosen), "request")
    groups = _groups(places, records, events, requests, _printed_count(coordinator_events, partition_count))
    evidence = (
        _union(records, events)
        .unionByName(_union(_of_coordinator(coordinator_events, groups), requests), allowMissingColumns=True)
        .unionByName(places, allowMissingColumns=True)
    )
    return evidence.groupBy(*_GROUP).applyInPandas(_kernel(evidence.schema, partition_count), _result_schema())


def table_of(replayed: DataFrame, spec: TableSpec) -> DataFrame:
    """Return one gold table's rows out of what `rebuild` returned."""
    rows = replayed.where(F.col(spec.name).isNotNull()).select(f"{spec.name}.*")
    times = {field.name for field in struct_type(spec) if isinstance(field.dataType, T.TimestampType)}
    return rows.select(
        *(F.timestamp_micros(name).alias(name) if name in times else F.col(name) for name in spec.columns)
    )


# --- gathering -----------------------------------------------------------------------------------------------------


def _evidence(rows: DataFrame, name: str) -> DataFrame:
    """Pack rows of a silver table into one struct column, times as microseconds."""
    fields = [
        F.unix_micros(field.name).alias(field.name)
        if isinstance(field.dataType, T.TimestampType)
        else F.col(field.name)
        for field in rows.schema
        if field.name not in ("cluster", "loaded_at")
    ]
    return rows.select(*_GROUP, F.struct(*fields).alias(name))


def _union(left: DataFrame, right: DataFrame) -> DataFrame:
    return left.unionByName(right, allowMissingColumns=True)


def _printed_count(events: DataFrame, partition_count: int | None) -> Column:
    """Partitions of the offsets topic as a number in the plan: set, printed by a broker, or Kafka's default."""
    if partition_count is not None:
        return F.lit(partition_count)
    printed = (
        events.where(F.col("event") == "broker_settings")
        .select(F.col("attributes")["offsets.topic.num.partitions"].cast("int").alias("count"), "logged_at")
        .orderBy(F.desc("logged_at"))
        .limit(1)
        .collect()
    )
    return F.lit(printed[0]["count"] if printed and printed[0]["count"] else DEFAULT_PARTITION_COUNT)


@F.pandas_udf(T.IntegerType())  # type: ignore[call-overload]
def _partition_of(group_id: pd.Series, count: pd.Series) -> pd.Series:
    return pd.Series(
        [offsets_partition(group, int(n)) for group, n in zip(group_id, count, strict=True)], dtype="int32"
    )


def _groups(places: DataFrame, records: DataFrame, events: DataFrame, requests: DataFrame, count: Column) -> DataFrame:
    """Return each group with the partitions it was seen in or should be in: cluster, group_id, partition."""
    everyone = [frame.select(*_GROUP) for frame in (places, records, events, requests)]
    named = everyone[0].union(everyone[1]).union(everyone[2]).union(everyone[3]).distinct()
    seen_in_records = records.select(*_GROUP, F.col("record.topic_partition_of_record").alias("partition"))
    return (
        named.withColumn("partition", _partition_of("group_id", count))
        .unionByName(places)
        .unionByName(seen_in_records)
        .distinct()
    )


def _of_coordinator(events: DataFrame, groups: DataFrame) -> DataFrame:
    """Give each group the events of its partition's coordinator, and of its cluster's brokers."""
    wide = events.where(F.col("group_id").isNull() & F.col("event").isin(*LOAD_EVENTS, *BROKER_EVENTS))
    packed = _evidence(wide, "event").drop("group_id")
    of_partition = packed.where(F.col("event.topic_partition_of_group").isNotNull())
    of_broker = packed.where(F.col("event.topic_partition_of_group").isNull())
    by_partition = of_partition.withColumn("partition", F.col("event.topic_partition_of_group"))
    return (
        groups.join(F.broadcast(by_partition), ["cluster", "partition"])
        .select(*_GROUP, "event")
        .unionByName(groups.select(*_GROUP).distinct().join(F.broadcast(of_broker), "cluster").select(*_GROUP, "event"))
    )


# --- the kernel ----------------------------------------------------------------------------------------------------


def _kernel(evidence: T.StructType, partition_count: int | None) -> Any:
    """Bind the kernel to the shape of its rows."""
    times = {name: _time_fields(struct) for name, struct in _structs(evidence)}

    def replay(key: tuple[str, str], pdf: pd.DataFrame) -> pd.DataFrame:
        cluster, group_id = key
        rows = {name: _rows(pdf[name], times[name]) for name in times}
        tables = replay_group(
            cluster,
            group_id,
            rows["record"],
            rows["event"],
            rows["request"],
            partition_count,
            [int(value) for value in pdf["partition"].dropna()],
        )
        return _result(tables)

    return replay


def _structs(schema: T.StructType) -> Iterator[tuple[str, T.StructType]]:
    for field in schema:
        if isinstance(field.dataType, T.StructType):
            yield field.name, field.dataType


_TIMES = ("recorded_at", "state_changed_at", "logged_at", "received_at", "handled_at", "answered_at")
"""Times in the silver tables that the replay reads."""


def _time_fields(struct: T.StructType) -> tuple[str, ...]:
    return tuple(field.name for field in struct if field.name in _TIMES)


def _rows(column: pd.Series, times: tuple[str, ...]) -> list[dict[str, Any]]:
    """Turn a column of structs into rows with times in ms."""
    rows = []
    for value in column:
        if value is None:
            continue
        row = _plain(value)
        for name in times:
            micros = row[name]
            if micros is not None:
                row[name] = micros // _US if micros % _US == 0 else micros / _US
        rows.append(row)
    return rows


def _plain(value: Any) -> Any:
    """Undo what pandas makes of nested values: arrays become lists again, rows dictionaries."""
    if isinstance(value, np.ndarray | list):
        return [_plain(each) for each in value]
    if isinstance(value, Row):
        value = value.asDict()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _result(tables: dict[str, list[dict[str, Any]]]) -> pd.DataFrame:
    """Lay rows of several tables into one frame: each in its table's column, the other columns empty."""
    total = sum(len(rows) for rows in tables.values())
    columns: dict[str, list[Any]] = {}
    position = 0
    for spec in REPLAYED:
        rows = tables.get(spec.name, [])
        times = [field.name for field in struct_type(spec) if isinstance(field.dataType, T.TimestampType)]
        column: list[Any] = [None] * total
        for row in rows:
            column[position] = row
            for name in times:
                if row.get(name) is not None:
                    row[name] = round(row[name] * _US)
            position += 1
        columns[spec.name] = column
    return pd.DataFrame({name: pd.Series(values, dtype="object") for name, values in columns.items()})


def _result_schema() -> T.StructType:
    """The kernel's result: one nullable struct for each table, times as BIGINT."""
    return T.StructType([T.StructField(spec.name, _transit(struct_type(spec))) for spec in REPLAYED])


def _transit(struct: T.StructType) -> T.StructType:
    return T.StructType(
        [
            T.StructField(field.name, T.LongType() if isinstance(field.dataType, T.TimestampType) else field.dataType)
            for field in struct
        ]
    )
