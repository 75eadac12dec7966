"""What the kernel gives as Arrow columns: one struct column for each part, of which a batch fills one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import CLIENT_TIMELINE, MEMBER_SESSIONS, REPLAY_SNAPSHOTS, REPLAYED

TABLES = (*(spec for spec in REPLAYED if spec is not CLIENT_TIMELINE), REPLAY_SNAPSHOTS)
"""Tables that the kernel gives rows of."""

SUPERSEDED = "superseded"
"""Beside these: keys of settled rows of `member_sessions` in whose place others stand now."""

SUPERSEDED_COLUMNS = ("cluster", "group_id", "life", "member_id", "settled_at")

_STRUCTS: dict[str, T.StructType] = {spec.name: struct_type(spec) for spec in TABLES} | {
    SUPERSEDED: T.StructType([struct_type(MEMBER_SESSIONS)[name] for name in SUPERSEDED_COLUMNS])
}
_TYPES: dict[str, pa.DataType] = {name: to_arrow_type(kind) for name, kind in _STRUCTS.items()}

_ROWS_PER_BATCH = 20_000

Parts = dict[str, Sequence[Any]]
"""Rows by part, as structs with the columns' names; moments in epoch ms."""


def table_of(replayed: DataFrame, spec: TableSpec) -> DataFrame:
    """Return one table's rows out of what the kernel gave."""
    return part_of(replayed, spec.name)


def part_of(replayed: DataFrame, name: str) -> DataFrame:
    """Return one part out of what the kernel gave."""
    return replayed.where(F.col(name).isNotNull()).select(f"{name}.*")


def result_type() -> T.StructType:
    """The kernel's result: one nullable struct for each part."""
    return T.StructType([T.StructField(name, kind) for name, kind in _STRUCTS.items()])


def batches(parts: Parts) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all parts."""
    for name, rows in parts.items():
        for start in range(0, len(rows), _ROWS_PER_BATCH):
            yield _batch(name, rows[start : start + _ROWS_PER_BATCH])


def _batch(name: str, rows: Sequence[Any]) -> pa.RecordBatch:
    kind = _TYPES[name]
    fields = [kind.field(index) for index in range(kind.num_fields)]
    arrays = [_array([getattr(row, field.name) for row in rows], field.type) for field in fields]
    filled = pa.StructArray.from_arrays(arrays, fields=fields)
    columns = [filled if each == name else pa.nulls(len(rows), other) for each, other in _TYPES.items()]
    return pa.RecordBatch.from_arrays(columns, names=list(_TYPES))


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Build a column; times come in milliseconds, and Arrow counts microseconds."""
    if pa.types.is_timestamp(kind):
        return pa.array([None if value is None else round(value * 1000) for value in values], pa.int64()).cast(kind)
    return pa.array(values, kind)
