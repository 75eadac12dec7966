"""Records of `__consumer_offsets` → rows of the silver tables, in Arrow, without Spark.

What `transforms.silver.offsets` has Spark do with bronze, for processes that read segment files themselves; a test
holds the two equal.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_schema

from transforms.silver.commit_arrays import CommitArrays
from transforms.silver.offsets import FROM_THE_RECORD, TABLES, silver_type
from transforms.wire import records

Columns = dict[str, Any]

OFFSET_COMMITS = "offset_commits"

_SCHEMAS = {
    table: pa.schema([field for field in to_arrow_schema(silver_type(table).toNullable()) if field.name != "cluster"])
    for table in TABLES
}


class Decoder:
    """Decodes records; it remembers the keys that it has read."""

    def __init__(self) -> None:
        self._commits = CommitArrays()

    def decode(self, bronze: pa.RecordBatch) -> dict[str, pa.RecordBatch]:
        """Decode records.

        Args:
            bronze: columns of `bronze.offsets_records`, control records among them (they say nothing of groups).

        Returns:
            The silver tables that there are rows for, by name, without the columns that the job adds: cluster and
            time of loading. Grain: one row for each data record, in exactly one of the tables. A transactional commit
            is open.
        """
        is_data = pc.is_null(bronze.column("control_type"))
        data = bronze if bronze.column("control_type").null_count == bronze.num_rows else bronze.filter(is_data)
        places, commits, others = self._commits.decode(data.column("key"), data.column("value"))
        found = {OFFSET_COMMITS: _rows(data, OFFSET_COMMITS, places, commits)} if len(places) else {}
        for table, (at, rows) in _one_by_one(data, others).items():
            careful = _rows(data, table, at, {name: [row[name] for row in rows] for name in rows[0]})
            found[table] = pa.concat_batches([found[table], careful]) if table in found else careful
        if len(places) and OFFSET_COMMITS in found and found[OFFSET_COMMITS].num_rows > len(places):
            found[OFFSET_COMMITS] = found[OFFSET_COMMITS].sort_by("record_offset")
        return found


def _one_by_one(data: pa.RecordBatch, others: list[int]) -> dict[str, tuple[list[int], list[dict[str, Any]]]]:
    """Decode records one by one; return the places of those that belong to a table, and their rows."""
    found: dict[str, tuple[list[int], list[dict[str, Any]]]] = {}
    few = data.select(["key", "value"]).take(pa.array(others, pa.int64()))
    for at, key, value in zip(others, few.column("key").to_pylist(), few.column("value").to_pylist(), strict=True):
        decoded = records.decode(key, value)
        places, rows = found.setdefault(decoded.table, ([], []))
        places.append(at)
        rows.append(decoded.row)
    return found


def _rows(data: pa.RecordBatch, table: str, places: Any, columns: Columns) -> pa.RecordBatch:
    """Build rows of a table: what key and value say, and what comes from the records at these places."""
    schema = _SCHEMAS[table]
    of_records = data if len(places) == data.num_rows else data.take(pa.array(places, pa.int64()))
    return pa.RecordBatch.from_arrays(
        [
            _array(columns[field.name], field.type) if field.name in columns else _carried(of_records, field)
            for field in schema
        ],
        schema=schema,
    )


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    """Build a column; times come in milliseconds."""
    if isinstance(values, pa.Array):
        return values
    if pa.types.is_timestamp(kind):
        return pc.multiply(pa.array(values, pa.int64()), 1000).cast(kind)
    return pa.array(values, kind)


def _carried(of_records: pa.RecordBatch, field: pa.Field) -> pa.Array:
    if field.name == "txn_state":
        is_transactional = of_records.column("is_transactional")
        return pc.fill_null(pc.if_else(is_transactional, "open", "none"), "unknown")
    if field.name == "position":
        places = (of_records.column(name).cast(pa.string()) for name in ("topic_partition", "record_offset"))
        return pc.binary_join_element_wise(*places, "/")
    return of_records.column(FROM_THE_RECORD[field.name]).cast(field.type)
