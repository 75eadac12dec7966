"""Rows as Parquet files of this machine: Spark reads them as it would its own, and so does DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

_FILES: WeakKeyDictionary[DataFrame, tuple[str, ...]] = WeakKeyDictionary()


def written(rows: DataFrame, folder: Path) -> DataFrame:
    """Have Spark write rows into a folder, and return the frame of what lies there now."""
    place = folder / uuid4().hex
    rows.write.parquet(place.as_uri())
    return of_files(rows.sparkSession, [str(file) for file in sorted(place.glob("*.parquet"))], rows.schema)


def of_files(spark: SparkSession, files: Sequence[str], kind: StructType) -> DataFrame:
    """Return the rows of files that have these columns."""
    frame = spark.read.schema(kind.toNullable()).parquet(*(Path(file).as_uri() for file in files))
    _FILES[frame] = tuple(files)
    return frame


def files_of(frame: DataFrame) -> tuple[str, ...] | None:
    """Return the files whose rows a frame has, all of them and no others; None if it was made otherwise."""
    return _FILES.get(frame)
