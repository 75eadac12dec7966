"""Files of rows that are written beside a table's own, by any process of this machine, before one commit adds them.

Until that commit nobody sees them; where it never comes they are files that no version needs, which a vacuum removes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.lake.rows import WRITTEN_AT
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.silver.apart import apart
from transforms.sql import truth

_ROWS_PER_GROUP = 1 << 18
_BYTES_PER_GROUP = 64 << 20
"""What a writer holds in memory at most before it writes it: readers leave out groups of rows as a whole."""

_WIDE_ROW_BYTES, _BYTES_PER_WIDE_GROUP = 4 << 10, 4 << 20
"""Spark's reader takes up to 4,096 rows of a group of rows at once: of rows as wide as states are that is too much."""

_PAGE_BYTES = 64 << 10
"""Of 8 bytes a value some 8,000 rows: a group's late rows are read, and few others."""

_UNLIKE = frozenset(
    {"record_offset", "value", "committed_offset", "committed_at", "line_number", "text", "body", "handled_at", "state"}
)
"""Columns whose values are nearly all different: a dictionary of them would be made and thrown away."""

_LONGEST = 64
"""Characters of a text that are kept as least or greatest value; by the 32 that Delta keeps logs of a day are alike."""

_LAST_CHARACTER = "\U0010ffff"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class NewFile:
    """A file that is written and that no version of its table has yet.

    Attributes:
        path: below the table's folder.
        size: its bytes.
        row_count: its rows.
        is_settled: whether its rows are settled; None in tables that do not tell.
        statistics: of the columns that rows are sought by, as Delta's log has them (JSON).
    """

    path: str
    size: int
    row_count: int
    is_settled: bool | None
    statistics: str


def sought_columns(spec: TableSpec) -> tuple[str, ...]:
    """Return the columns that rows are sought by; least and greatest values of all others would serve nobody."""
    known = {*spec.columns} - {*spec.partitions}  # of which a partition has one
    wanted = (*spec.key, "group_id", "loaded_at", "settled_at", *WRITTEN_AT)
    return tuple(name for name in dict.fromkeys(wanted) if name in known)


class FileWriter:
    """Writes one file of a cluster's rows for a table; of no row, none.

    Args:
        spec: the table.
        folder: where it lies.
        cluster: whose rows they are.
        loaded_at: time of loading of all of them; None where the rows tell.
        is_settled: whether they are settled; None in tables that do not tell.
    """

    def __init__(
        self,
        spec: TableSpec,
        folder: Path,
        cluster: str,
        loaded_at: datetime | None = None,
        is_settled: bool | None = None,
    ) -> None:
        self._spec = spec
        self._folder = folder
        self._is_settled = is_settled
        name = f"part-{uuid4()}.snappy.parquet"
        below = "" if is_settled is None else f"is_settled={truth(is_settled)}/"
        self._path = f"cluster={cluster}/{below}{name}" if _PLAIN_NAME.fullmatch(cluster) else name
        self._stamps = {"loaded_at": loaded_at, "seen_at": loaded_at}
        fields = to_arrow_schema(struct_type(spec).toNullable())
        self._schema = pa.schema([each for each in fields if each.name not in spec.partitions])
        self._writer: parquet.ParquetWriter | None = None
        self._held: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, rows: pa.RecordBatch) -> None:
        """Add rows: columns of the table without cluster and time of loading, in any order."""
        if not rows.num_rows:
            return
        row_bytes = rows.nbytes // rows.num_rows
        most = _BYTES_PER_WIDE_GROUP if row_bytes >= _WIDE_ROW_BYTES else _BYTES_PER_GROUP
        at_once = max(1, most // max(1, row_bytes))
        for start in range(0, rows.num_rows, at_once):
            self._hold(rows.slice(start, at_once))
            if self._rows >= _ROWS_PER_GROUP or self._bytes + row_bytes > most:
                self._write_held()

    def _hold(self, rows: pa.RecordBatch) -> None:
        columns = [self._column(rows, each) for each in self._schema]
        self._held.append(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self._rows += rows.num_rows
        self._bytes += self._held[-1].nbytes

    def end(self) -> list[NewFile]:
        """Close the file, and return it if there is one."""
        self._write_held()
        if self._writer is None:
            return []
        self._writer.close()
        file = self._folder / self._path
        written = parquet.read_metadata(file)
        statistics = json.dumps(_statistics(self._spec, written), ensure_ascii=False)
        return [NewFile(self._path, file.stat().st_size, written.num_rows, self._is_settled, statistics)]

    def _write_held(self) -> None:
        if self._held:
            self._writer = self._writer or self._opened()
            for rows in apart(self._spec, pa.Table.from_batches(self._held)):
                self._writer.write_table(rows, row_group_size=rows.num_rows)
            self._held, self._rows, self._bytes = [], 0, 0

    def _opened(self) -> parquet.ParquetWriter:
        file = self._folder / self._path
        file.parent.mkdir(parents=True, exist_ok=True)
        return parquet.ParquetWriter(
            file,
            self._schema,
            compression="snappy",
            use_dictionary=_alike(self._schema),
            write_page_index=True,
            data_page_size=_PAGE_BYTES,
            store_schema=False,
        )

    def _column(self, rows: pa.RecordBatch, field: pa.Field) -> pa.Array:
        if field.name in rows.schema.names:
            return rows.column(field.name).cast(field.type)
        return pa.repeat(pa.scalar(self._stamps[field.name], field.type), rows.num_rows)


def _alike(schema: pa.Schema) -> list[str] | bool:
    """Return the columns that get a dictionary: those whose values repeat; with nested ones, which have paths, all."""
    if any(pa.types.is_nested(each.type) for each in schema):
        return True
    return [name for name in schema.names if name not in _UNLIKE]


def _statistics(spec: TableSpec, written: parquet.FileMetaData) -> dict[str, Any]:
    """Return what Delta's log says of the columns of a file.

    Raises:
        ValueError: a column that must not have nulls has some.
    """
    places = {written.schema.column(at).path: at for at in range(written.num_columns)}
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for name in dict.fromkeys((*sought_columns(spec), *spec.not_null)):
        if name not in places:
            continue
        each = [written.row_group(at).column(places[name]).statistics for at in range(written.num_row_groups)]
        nulls[name] = sum(of_group.null_count for of_group in each)
        if nulls[name] and name in spec.not_null:
            raise ValueError(f"{spec.full_name}: {nulls[name]} rows have no {name}")
        known = [of_group for of_group in each if of_group.has_min_max]
        if len(known) == len(each):
            least[name] = _least(min(of_group.min for of_group in known))
            greatest[name] = _greatest(max(of_group.max for of_group in known))
    sought = sought_columns(spec)
    return {
        "numRecords": written.num_rows,
        "minValues": _of(least, sought),
        "maxValues": _of(greatest, sought),
        "nullCount": _of(nulls, sought),
    }


def _of(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _least(value: Any) -> Any:
    if isinstance(value, datetime):
        return _in_ms(value)
    return value[:_LONGEST] if isinstance(value, str) else value


def _greatest(value: Any) -> Any:
    if isinstance(value, datetime):
        return _in_ms(value + timedelta(microseconds=999))
    return value[:_LONGEST] + _LAST_CHARACTER if isinstance(value, str) and len(value) > _LONGEST else value


def _in_ms(moment: datetime) -> str:
    """Write a moment as Delta does, which keeps milliseconds."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
