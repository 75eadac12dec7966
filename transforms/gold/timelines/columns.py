"""What a kernel gives as Arrow columns: a part's name, and one struct column for each, of which a batch fills one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import CLIENT_TIMELINE, MEMBER_SESSIONS, REPLAY_SNAPSHOTS, REPLAYED
from transforms.arrow_columns import arrow_column, by_columns

TABLES = (*(spec for spec in REPLAYED if spec is not CLIENT_TIMELINE), REPLAY_SNAPSHOTS)
"""Tables that the replay gives rows of."""

SUPERSEDED = "superseded"
"""Beside these: keys of settled rows of `member_sessions` in whose place others stand now."""

SUPERSEDED_COLUMNS = ("cluster", "group_id", "life", "member_id", "settled_at")

PART = "part"
"""Column that names the part which a row is of: what keeps rows by columns finds a part's without looking at others."""

_ROWS_PER_BATCH = 20_000

Rows = Mapping[str, Sequence[Any]]
"""Rows by part, as structs with the columns' names; moments in epoch ms."""

Part = tuple[str, pa.RecordBatch]
"""Name of a part, and some of its rows."""


class Parts:
    """The parts of a kernel's result.

    Args:
        structs: columns of each part, by its name.
    """

    def __init__(self, structs: Mapping[str, T.StructType]) -> None:
        self._types: dict[str, pa.DataType] = {name: to_arrow_type(kind) for name, kind in structs.items()}
        parts = [T.StructField(name, kind) for name, kind in structs.items()]
        self.result_type = T.StructType([T.StructField(PART, T.StringType()), *parts])

    def batches(self, rows: Rows) -> Iterator[Part]:
        """Yield the rows of all parts."""
        for name, of_part in rows.items():
            for start in range(0, len(of_part), _ROWS_PER_BATCH):
                yield name, self._batch(name, of_part[start : start + _ROWS_PER_BATCH])

    def wide(self, parts: Iterator[Part]) -> Iterator[pa.RecordBatch]:
        """Yield parts as rows of the result: in each, one of the struct columns is filled."""
        for name, rows in parts:
            filled = pa.StructArray.from_arrays(rows.columns, fields=[*self._types[name]])
            nulls = {other: pa.nulls(rows.num_rows, kind) for other, kind in self._types.items() if other != name}
            columns = [filled if each == name else nulls[each] for each in self._types]
            part = pa.repeat(name, rows.num_rows)
            yield pa.RecordBatch.from_arrays([part, *columns], names=[PART, *self._types])

    def _batch(self, name: str, rows: Sequence[Any]) -> pa.RecordBatch:
        fields = [*self._types[name]]
        columns = by_columns(rows)
        arrays = [arrow_column(columns[field.name], field.type) for field in fields]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def part_of(given: DataFrame, name: str) -> DataFrame:
    """Return one part out of what a kernel gave."""
    return given.where(F.col(PART) == name).select(f"{name}.*")


def rows_of_parts(given: DataFrame) -> dict[str, int]:
    """Return how many rows each part has; a part without any is not named."""
    return {row[PART]: row["count"] for row in given.groupBy(PART).count().collect()}


def table_of(given: DataFrame, spec: TableSpec) -> DataFrame:
    """Return one table's rows out of what a kernel gave."""
    return part_of(given, spec.name)


def columns_of(spec: TableSpec, names: Sequence[str]) -> T.StructType:
    """Return some columns of a table."""
    kind = struct_type(spec)
    return T.StructType([kind[name] for name in names])


REPLAY = Parts(
    {spec.name: struct_type(spec) for spec in TABLES} | {SUPERSEDED: columns_of(MEMBER_SESSIONS, SUPERSEDED_COLUMNS)}
)
"""What the replay gives."""
