"""Silver to gold: every group's evidence through the state machine, one grouped-map call per group.

This module only gathers rows and binds types; what is done with them is `transforms.coordinator.replay`.

Grain: one call of the kernel takes all evidence of one (cluster, group_id), in no order, as

    cluster STRING, group_id STRING, kind STRING, row STRING

where `row` is a row of a silver table as JSON, without its nulls, bytes in base64, times as epoch ms; `kind` says of
which table (`RECORD` and the like). JSON, because the rows are wide and mostly null, and a grouped map turns nested
columns into objects one field at a time. It returns the group's gold rows, each in the struct column that is named like
its table, times as epoch microseconds.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import msgspec
import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.functions import pandas_udf

from schemas.rows import ClientEventRow, CoordinatorEventRow, GroupMetadataRow, GroupRequestRow
from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import REPLAYED
from transforms.coordinator.evidence.brokers import BROKER_EVENTS
from transforms.coordinator.evidence.ownership import LOAD_EVENTS
from transforms.coordinator.kafka.java_hashing import offsets_partition
from transforms.coordinator.replay import replay
from transforms.coordinator.rows.clients import take_clients
from transforms.coordinator.rows.coordinators import DEFAULT_PARTITION_COUNT
from transforms.coordinator.rows.tables import Rows

BUCKETS = 64
"""Groups are replayed and replaced in this many parts."""

_GROUP = ("cluster", "group_id")

RECORD, EVENT, REQUEST, PLACE, CLIENT = "record", "event", "request", "place", "client"
"""Kinds of evidence: `silver.group_metadata`, `silver.coordinator_events`, `silver.group_requests`, a partition that
holds offset commits of the group, and `silver.client_events`."""


def bucket(group_id: Column) -> Column:
    """Return the part that a group belongs to, from 0 to BUCKETS - 1."""
    return F.pmod(F.crc32(group_id.cast("binary")), F.lit(BUCKETS))


def rebuild(
    group_metadata: DataFrame,
    offset_commits: DataFrame,
    coordinator_events: DataFrame,
    group_requests: DataFrame,
    client_events: DataFrame,
    buckets: list[int] | None,
    partition_count: int | None,
) -> DataFrame:
    """Replay groups and return all their gold rows, one struct column for each table (`table_of` parts them).

    Args:
        group_metadata: `silver.group_metadata`.
        offset_commits: `silver.offset_commits`.
        coordinator_events: `silver.coordinator_events`.
        group_requests: `silver.group_requests`.
        client_events: `silver.client_events`.
        buckets: parts to replay; None = all.
        partition_count: partitions of `__consumer_offsets`; None = as the brokers printed it.
    """
    chosen = F.lit(True) if buckets is None else bucket(F.col("group_id")).isin(buckets)
    places = (
        offset_commits.where(chosen).select(*_GROUP, F.col("topic_partition_of_record").alias("partition")).distinct()
    )
    records = group_metadata.where(chosen)
    events = coordinator_events.where(F.col("group_id").isNotNull() & chosen)
    requests = group_requests.where(chosen)
    clients = client_events.where(F.col("group_id").isNotNull() & chosen)
    count = _printed_count(coordinator_events, partition_count)
    groups = _groups(places, records, events, requests, clients, count)
    evidence = reduce(
        DataFrame.unionByName,
        (
            _evidence(records, RECORD),
            _evidence(events, EVENT),
            _evidence(_of_coordinator(coordinator_events, groups), EVENT, is_of_group=False),
            _evidence(requests, REQUEST),
            _evidence(places, PLACE),
            _evidence(clients, CLIENT),
        ),
    )
    return evidence.groupBy(*_GROUP).applyInPandas(_kernel(partition_count), _result_schema())


def table_of(replayed: DataFrame, spec: TableSpec) -> DataFrame:
    """Return one gold table's rows out of what `rebuild` returned."""
    rows = replayed.where(F.col(spec.name).isNotNull()).select(f"{spec.name}.*")
    times = {field.name for field in struct_type(spec) if isinstance(field.dataType, T.TimestampType)}
    return rows.select(
        *(F.timestamp_micros(name).alias(name) if name in times else F.col(name) for name in spec.columns)
    )


# --- gathering -----------------------------------------------------------------------------------------------------


def _evidence(rows: DataFrame, kind: str, is_of_group: bool = True) -> DataFrame:
    """Pack rows into one column; rows that are not of the group itself have no group_id."""
    wanted = _DECODERS[kind].type.__struct_fields__
    fields = [
        (F.unix_micros(field.name) / F.lit(1000.0)).alias(field.name)
        if isinstance(field.dataType, T.TimestampType)
        else F.col(field.name)
        for field in rows.schema
        if field.name in wanted and field.name not in _GROUP
    ]
    packed = F.to_json(F.struct("group_id", *fields) if is_of_group else F.struct(*fields))
    return rows.select(*_GROUP, F.lit(kind).alias("kind"), packed.alias("row"))


def _printed_count(events: DataFrame, partition_count: int | None) -> int:
    """Partitions of the offsets topic: set, printed by a broker, or Kafka's default."""
    if partition_count is not None:
        return partition_count
    printed = (
        events.where(F.col("event") == "broker_settings")
        .select(F.col("attributes")["offsets.topic.num.partitions"].cast("int").alias("count"), "logged_at")
        .orderBy(F.desc("logged_at"))
        .limit(1)
        .collect()
    )
    return printed[0]["count"] if printed and printed[0]["count"] else DEFAULT_PARTITION_COUNT


@pandas_udf(T.IntegerType())  # type: ignore[untyped-decorator, call-overload]
def _partition_of(group_id: pd.Series, count: pd.Series) -> pd.Series:
    return pd.Series(
        [offsets_partition(group, int(n)) for group, n in zip(group_id, count, strict=True)], dtype="int32"
    )


def _groups(
    places: DataFrame, records: DataFrame, events: DataFrame, requests: DataFrame, clients: DataFrame, count: int
) -> DataFrame:
    """Return each group with the partitions it was seen in or should be in: cluster, group_id, partition."""
    evidence = (places, records, events, requests, clients)
    named = reduce(DataFrame.union, (frame.select(*_GROUP) for frame in evidence)).distinct()
    seen_in_records = records.select(*_GROUP, F.col("topic_partition_of_record").alias("partition"))
    return (
        named.withColumn("partition", _partition_of(F.col("group_id"), F.lit(count)))
        .unionByName(places)
        .unionByName(seen_in_records)
        .distinct()
    )


def _of_coordinator(events: DataFrame, groups: DataFrame) -> DataFrame:
    """Give each group the events of its partition's coordinator, and of its cluster's brokers."""
    wide = events.where(F.col("group_id").isNull()).drop("group_id")
    of_partition = wide.where(F.col("event").isin(*LOAD_EVENTS))
    of_broker = wide.where(F.col("event").isin(*BROKER_EVENTS))
    by_partition = of_partition.withColumn("partition", F.col("topic_partition_of_group"))
    return (
        groups.join(F.broadcast(by_partition), ["cluster", "partition"])
        .drop("partition")
        .unionByName(groups.select(*_GROUP).distinct().join(F.broadcast(of_broker), "cluster"))
    )


# --- the kernel ----------------------------------------------------------------------------------------------------


class _Place(msgspec.Struct):
    partition: int


def _kernel(partition_count: int | None) -> Any:
    """Bind the kernel to the settings."""

    def replay_one(key: tuple[str, str], pdf: pd.DataFrame) -> pd.DataFrame:
        return _replayed(*key, pdf, partition_count)

    return replay_one


def _replayed(cluster: str, group_id: str, pdf: pd.DataFrame, partition_count: int | None) -> pd.DataFrame:
    """Replay one group; a function of this module, so that workers import it and its decoders."""
    found: dict[str, list[Any]] = {kind: [] for kind in _DECODERS}
    for kind, text in zip(pdf["kind"], pdf["row"], strict=True):
        found[kind].append(_DECODERS[kind].decode(text))
    places = [place.partition for place in found[PLACE]]
    rows = replay(cluster, group_id, found[RECORD], found[EVENT], found[REQUEST], partition_count, places)
    take_clients(rows, cluster, found[CLIENT])
    return _result(rows)


_DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    RECORD: msgspec.json.Decoder(GroupMetadataRow),
    EVENT: msgspec.json.Decoder(CoordinatorEventRow),
    REQUEST: msgspec.json.Decoder(GroupRequestRow),
    PLACE: msgspec.json.Decoder(_Place),
    CLIENT: msgspec.json.Decoder(ClientEventRow),
}


def _result(rows: Rows) -> pd.DataFrame:
    """Lay rows of several tables into one frame: each in its table's column, the other columns empty."""
    tables = [(spec, getattr(rows, spec.name)) for spec in REPLAYED]
    total = sum(len(found) for _, found in tables)
    columns: dict[str, list[Any]] = {}
    position = 0
    for spec, found in tables:
        times = [field.name for field in struct_type(spec) if isinstance(field.dataType, T.TimestampType)]
        column: list[Any] = [None] * total
        for typed in found:
            row = column[position] = msgspec.structs.asdict(typed)
            for name in times:
                if row[name] is not None:
                    row[name] = round(row[name] * 1000)
            position += 1
        columns[spec.name] = column
    frame: pd.DataFrame = pd.DataFrame({name: pd.Series(values, dtype="object") for name, values in columns.items()})
    return frame


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
