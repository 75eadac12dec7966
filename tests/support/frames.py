"""Rows with times in milliseconds to Spark frames of declared tables, and back."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from schemas.spark import spark_type, struct_type
from schemas.table import TableSpec
from transforms.given_rows import given

Row = dict[str, Any]

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def to_frame(spark: SparkSession, spec: TableSpec, rows: list[Row]) -> DataFrame:
    """Rows with times in milliseconds as a frame of a declared table."""
    return given(spark, _kind(spec), _cells(spec, rows))


def to_arrow(spec: TableSpec, rows: list[Row]) -> pa.Table:
    """The same without Spark."""
    return pa.Table.from_pylist(_cells(spec, rows), schema=to_arrow_schema(_kind(spec)))


def _kind(spec: TableSpec) -> T.StructType:
    """What a case does not draw is null, whatever the contract says of the column."""
    return T.StructType([T.StructField(field.name, field.dataType) for field in struct_type(spec)])


def _cells(spec: TableSpec, rows: list[Row]) -> list[Row]:
    times = {name for name in spec.columns if isinstance(spark_type(spec.column(name).data_type), T.TimestampType)}

    def cell(name: str, value: Any) -> Any:
        return EPOCH + timedelta(milliseconds=value) if name in times and value is not None else value

    return [{name: cell(name, row[name]) for name in spec.columns} for row in rows]


def to_rows(frame: DataFrame) -> list[Row]:
    """A frame as rows with times in milliseconds."""
    times = [field.name for field in frame.schema if isinstance(field.dataType, T.TimestampType)]
    for name in times:
        frame = frame.withColumn(name, F.unix_micros(name) / 1000)
    return [row.asDict() for row in frame.collect()]
