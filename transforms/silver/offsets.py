"""Bronze records of `__consumer_offsets` → the silver tables of commits, groups and what could not be read.

Offset commits are nearly all of the topic, so those of an ordinary shape are decoded by Spark's own expressions
(`transforms.silver.plain_commits`). Whatever is rare or odd takes the careful way through Python: commits by the many
(`transforms.wire.commit_columns`), all else record by record (`transforms.wire.records`). Both ways give the same rows;
a test holds them equal.
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
from transforms.given_rows import held, rows_held
from transforms.silver import plain_commits
from transforms.wire import records
from transforms.wire.commit_columns import CommitColumns

TABLES = ("offset_commits", "group_metadata", "modern_group_records", "rejected")

_ADDED_BY_THE_JOB = ("loaded_at", "seen_at")
FROM_THE_RECORD = {
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


def not_plain(bronze: DataFrame) -> DataFrame:
    """Return the data records that are no plain commits: few, and read for each table, so worth keeping.

    Args:
        bronze: records, control records among them.
    """
    data = _data(bronze)
    return plain_commits.with_parts(data).where(plain_commits.is_other()).select(data.columns)


def decode(bronze: DataFrame, rest: DataFrame | None = None) -> dict[str, DataFrame]:
    """Decode records of `bronze.offsets_records`.

    Args:
        bronze: records, control records among them (they are left out: they say nothing of groups).
        rest: what `not_plain` gives for them, where the caller keeps it; if these are rows that the driver has, they
            are decoded at once, and by no other process.

    Returns:
        The silver tables by name, without `loaded_at` and `seen_at`, which the job adds. Grain: one row for each data
        record, in exactly one of the tables. Each is a plan of its own: that of commits over `bronze`, for the plain
        ones, and all of them over `rest`.
    """
    careful = _all_carefully(not_plain(bronze) if rest is None else rest)
    plain = plain_commits.with_parts(_data(bronze)).where(plain_commits.is_plain())
    commits = _completed(plain.select(*_CARRIED, *plain_commits.columns()), "offset_commits")
    return careful | {"offset_commits": commits.unionByName(careful["offset_commits"])}


def decode_carefully(bronze: DataFrame) -> dict[str, DataFrame]:
    """Decode as `decode` does, all records by the careful way: the measure of the fast one."""
    return _all_carefully(_data(bronze))


def silver_type(table: str) -> T.StructType:
    """Return the columns of a silver table that `decode` gives, as a Spark struct."""
    return T.StructType([field for field in struct_type(BY_NAME[table]) if field.name not in _ADDED_BY_THE_JOB])


def _data(bronze: DataFrame) -> DataFrame:
    return bronze.where(F.col("control_type").isNull()).select(*_CARRIED, "key", "value")


def _all_carefully(data: DataFrame) -> dict[str, DataFrame]:
    return {table: _carefully(data, table) for table in TABLES}


def _carefully(data: DataFrame, table: str) -> DataFrame:
    """Decode the records that can belong to one table, one by one; those that the driver has, here."""
    carried = [field for field in data.schema if field.name in _CARRIED]
    decoded = [_as_carried(field) for field in silver_type(table) if field.name not in FROM_THE_RECORD]
    if table == "rejected":
        decoded = [field for field in decoded if field.name != "position"]
    if table == "offset_commits":
        decoded = [field for field in decoded if field.name != "txn_state"]
    out = T.StructType([*carried, *decoded])
    schema = to_arrow_schema(out)
    kernel = _kernel(table, tuple(field.name for field in decoded), schema)
    here = rows_held(data)
    if here is not None:
        rows = pa.Table.from_batches(kernel(here.to_batches()), schema)
        return _completed(held(data.sparkSession, rows, out), table)
    if table != "rejected":
        prefixes = [type_id.to_bytes(2, "big") for type_id in RECORD_TYPES if records.table_of(type_id) == table]
        data = data.where(F.substring("key", 1, 2).isin(prefixes))
    return _completed(data.mapInArrow(kernel, out), table)


def _kernel(table: str, names: tuple[str, ...], schema: pa.Schema) -> Any:
    """Build the function that decodes Arrow batches into the rows of one table."""

    def decode_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        commits = CommitColumns()
        for batch in batches:
            for start in range(0, batch.num_rows, _ROWS_PER_BATCH):
                part = batch.slice(start, _ROWS_PER_BATCH)
                at, columns = _decoded(part, table, names, commits)
                if at:
                    yield _rows(part.take(pa.array(at, pa.int64())), columns, schema)

    return decode_batches


def _decoded(
    batch: pa.RecordBatch, table: str, names: tuple[str, ...], commits: CommitColumns
) -> tuple[list[int], dict[str, list[Any]]]:
    """Decode records; return which of them belong to a table, and its columns."""
    keys, values = batch.column("key").to_pylist(), batch.column("value").to_pylist()
    columns, others = commits.decode(keys, values)
    decoded = {at: records.decode(keys[at], values[at]) for at in others}
    wanted = [at for at in others if decoded[at].table == table]
    many = columns if table == "offset_commits" else {}
    return [*many.get("at", ()), *wanted], {
        name: [*many.get(name, ()), *(decoded[at].row[name] for at in wanted)] for name in names
    }


def _rows(kept: pa.RecordBatch, columns: dict[str, list[Any]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [
        pa.array(columns[field.name], field.type) if field.name in columns else kept.column(field.name).cast(field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


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
            F.when(F.col("is_transactional"), "open")
            .when(F.col("is_transactional").isNull(), "unknown")
            .otherwise("none")
        )
    if field.name == "position":
        return F.concat_ws("/", F.col("topic_partition"), F.col("record_offset"))
    if field.name in FROM_THE_RECORD:
        return F.col(FROM_THE_RECORD[field.name])
    if isinstance(field.dataType, T.TimestampType):
        return F.timestamp_millis(F.col(field.name))
    return F.col(field.name)
