"""Bronze records of `__consumer_offsets` → the silver tables of commits, groups and what could not be read.

Offset commits are nearly all of the topic, so those of an ordinary shape are decoded by Spark's own expressions
(`transforms.silver.plain_commits`), at the speed of reading. Whatever is rare or odd takes the careful way, record by
record through `transforms.wire.records`. Both ways give the same rows; a test holds them equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from schemas.catalog import BY_NAME
from schemas.records.record_types import RECORD_TYPES
from schemas.spark import struct_type
from transforms.silver import plain_commits
from transforms.wire import records

TABLES = ("offset_commits", "group_metadata", "modern_group_records", "rejected")

_ADDED_BY_THE_JOB = ("loaded_at", "seen_at")
_FROM_THE_RECORD = {
    "topic_partition_of_record": "topic_partition",
    "record_offset": "record_offset",
    "recorded_at": "recorded_at",
    "producer_id": "producer_id",
    "cluster": "cluster",
    "source": "source",
}
"""Silver columns that do not come from key and value, with their columns in bronze."""
_CARRIED = ("cluster", "topic_partition", "record_offset", "recorded_at", "producer_id", "is_transactional", "source")
_ROWS_PER_BATCH = 512


def decode(bronze: DataFrame) -> dict[str, DataFrame]:
    """Decode records of `bronze.offsets_records`.

    Args:
        bronze: records, control records among them (they are left out: they say nothing of groups).

    Returns:
        The silver tables by name, without `loaded_at` and `seen_at`, which the job adds. Grain: one row for each data
        record, in exactly one of the tables. Each is a plan of its own over `bronze`.
    """
    data = _data(bronze)
    measured = plain_commits.with_parts(data)
    plain = measured.where(plain_commits.is_plain()).select(*_CARRIED, *plain_commits.columns())
    rare = measured.where(plain_commits.is_other()).select(data.columns)
    careful = {
        # A group's record is never a plain commit: its key alone says so, and sooner.
        table: _carefully(rare if table in ("offset_commits", "rejected") else data, table)
        for table in TABLES
    }
    return careful | {"offset_commits": _completed(plain, "offset_commits").unionByName(careful["offset_commits"])}


def decode_carefully(bronze: DataFrame) -> dict[str, DataFrame]:
    """Decode as `decode` does, all records by the careful way: the measure of the fast one."""
    return {table: _carefully(_data(bronze), table) for table in TABLES}


def silver_type(table: str) -> T.StructType:
    """Return the columns of a silver table that `decode` gives, as a Spark struct."""
    return T.StructType([field for field in struct_type(BY_NAME[table]) if field.name not in _ADDED_BY_THE_JOB])


def _data(bronze: DataFrame) -> DataFrame:
    return bronze.where(F.col("control_type").isNull()).select(*_CARRIED, "key", "value")


def _carefully(data: DataFrame, table: str) -> DataFrame:
    """Decode the records that can belong to one table, one by one."""
    if table != "rejected":
        prefixes = [type_id.to_bytes(2, "big") for type_id in RECORD_TYPES if records.table_of(type_id) == table]
        data = data.where(F.substring("key", 1, 2).isin(prefixes))
    carried = [field for field in data.schema if field.name in _CARRIED]
    decoded = [_as_carried(field) for field in silver_type(table) if field.name not in _FROM_THE_RECORD]
    if table == "rejected":
        decoded = [field for field in decoded if field.name != "position"]
    if table == "offset_commits":
        decoded = [field for field in decoded if field.name != "txn_state"]
    out = T.StructType([*carried, *decoded])
    names = tuple(field.name for field in decoded)
    return _completed(data.mapInArrow(_kernel(table, names, to_arrow_schema(out)), out), table)


def _kernel(table: str, names: tuple[str, ...], schema: pa.Schema) -> Any:
    """Build the function that decodes Arrow batches into the rows of one table."""

    def decode_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for start in range(0, batch.num_rows, _ROWS_PER_BATCH):
                yield from _decode_rows(batch.slice(start, _ROWS_PER_BATCH), table, names, schema)

    return decode_batches


def _decode_rows(
    batch: pa.RecordBatch, table: str, names: tuple[str, ...], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    keys, values = batch.column("key").to_pylist(), batch.column("value").to_pylist()
    decoded = [records.decode(key, value) for key, value in zip(keys, values, strict=True)]
    wanted = [index for index, each in enumerate(decoded) if each.table == table]
    if not wanted:
        return
    kept = batch.take(pa.array(wanted, pa.int64()))
    columns = [
        pa.array([decoded[index].row[field.name] for index in wanted], field.type)
        if field.name in names
        else kept.column(field.name).cast(field.type)
        for field in schema
    ]
    yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _as_carried(field: T.StructField) -> T.StructField:
    """Type of a column between the decoder and Spark: times travel as epoch milliseconds."""
    kind = T.LongType() if isinstance(field.dataType, T.TimestampType) else field.dataType
    return T.StructField(field.name, kind)


def _completed(decoded: DataFrame, table: str) -> DataFrame:
    """Add what comes from the record itself, in the order and with the types of the table."""
    return decoded.select(*(_column(field).alias(field.name) for field in silver_type(table)))


def _column(field: T.StructField) -> Column:
    if field.name == "txn_state":
        return (
            F.when(F.col("is_transactional").isNull(), "unknown")
            .when(F.col("is_transactional"), "open")
            .otherwise("none")
        )
    if field.name == "position":
        return F.concat_ws("/", F.col("topic_partition"), F.col("record_offset"))
    if field.name in _FROM_THE_RECORD:
        return F.col(_FROM_THE_RECORD[field.name])
    if isinstance(field.dataType, T.TimestampType):
        return F.timestamp_millis(F.col(field.name))
    return F.col(field.name)
