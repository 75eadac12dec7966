"""Rows as Parquet files of this machine: Spark reads them as it would its own, and so does DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from uuid import uuid4
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from transforms.given_rows import rows_held

Mark = Mapping[str, bool]
"""Columns that have one value in all of some rows."""

Part = tuple[tuple[str, ...], Mark]
"""Files, of which there is at least one, and what is beside each of their rows."""

_PARTS: WeakKeyDictionary[DataFrame, tuple[Part, ...]] = WeakKeyDictionary()


def written(rows: DataFrame, folder: Path) -> DataFrame:
    """Have Spark write rows into a folder, and return the frame of what lies there now."""
    place = folder / uuid4().hex
    rows.write.parquet(named(place))
    return of_files(rows.sparkSession, [str(file) for file in sorted(place.glob("*.parquet"))], rows.schema)


def of_files(spark: SparkSession, files: Sequence[str], kind: StructType) -> DataFrame:
    """Return the rows of files that have these columns."""
    frame = spark.read.schema(kind.toNullable()).parquet(*map(named, files))
    _PARTS[frame] = ((tuple(files), {}),)
    return frame


def new_file(folder: Path) -> str:
    """Return the name of a file that is yet to be written into a folder."""
    return str(folder / f"{uuid4().hex}.parquet")


def named(path: Path | str) -> str:
    """Write a path of this machine as Spark reads it: Hadoop takes what a URI escapes for the name itself."""
    return f"file:{path}"


def files_of(frame: DataFrame) -> tuple[str, ...] | None:
    """Return the files whose rows a frame has, all of them and no others; None if it was made otherwise."""
    match parts_of(frame):
        case ((files, mark),) if not mark:
            return files
    return None


def note_parts(frame: DataFrame, parts: Iterable[tuple[DataFrame, Mark]], folder: Path | None) -> None:
    """Note of a frame that it has the rows of others, if all of these are in files, or at hand.

    Args:
        frame: the frame.
        parts: the others, and what is beside their rows.
        folder: where rows that are at hand are put into files; None = nowhere.
    """
    found = []
    for rows, mark in parts:
        files = files_of(rows) or _put(rows, folder)
        if files is None:
            return
        found += [(files, mark)] if files else []
    _PARTS[frame] = tuple(found)


def parts_of(frame: DataFrame) -> tuple[Part, ...] | None:
    """Return the files that have the rows of a frame; None if that is not known."""
    return _PARTS.get(frame)


def row_count(parts: Iterable[Part]) -> int:
    """Return how many rows files have."""
    return sum(parquet.read_metadata(file).num_rows for files, _ in parts for file in files)


def read_parts(parts: Iterable[Part], kind: StructType) -> pa.Table:
    """Return the rows of parts, with what is beside them; all columns may hold nulls."""
    schema = to_arrow_schema(kind.toNullable())
    found = [schema.empty_table()]
    for files, mark in parts:
        for file in files:
            rows = parquet.ParquetFile(file).read()
            for name, value in mark.items():
                rows = rows.append_column(name, pa.repeat(pa.scalar(value), rows.num_rows))
            found.append(rows.select(schema.names).cast(schema))
    return pa.concat_tables(found)


def _put(rows: DataFrame, folder: Path | None) -> tuple[str, ...] | None:
    """Put rows that are at hand into a file; of none, none."""
    held = rows_held(rows)
    if held is None or folder is None:
        return None
    if not held.num_rows:
        return ()
    file = new_file(folder)
    parquet.write_table(held, file)
    return (file,)
