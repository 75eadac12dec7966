"""Rows that the driver has, as a frame that no query has to compute.

Spark makes a frame of a list of Python rows by starting Python workers for it, which takes seconds in a young session.
Arrow's rows go straight into the plan, and where there are none, whatever is built on them is planned away. Spark is
not told of them before a plan has them: what goes to others than Spark takes no call to its JVM.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BooleanType, StructField, StructType


class _Deferred(ClassicFrame):
    """A frame that Spark learns of as soon as anything is built on it."""

    def __new__(cls, *_: object) -> _Deferred:
        return object.__new__(cls)

    def __init__(self, make: Callable[[], DataFrame], kind: StructType, spark: SparkSession) -> None:
        super().__init__(None, spark)
        del self._jdf
        self._make, self.schema = make, kind

    @cached_property
    def _jdf(self) -> Any:
        return self._make()._jdf


class _Held(_Deferred):
    """Such a frame of rows that the driver has."""

    def __init__(self, rows: pa.Table, kind: StructType, spark: SparkSession) -> None:
        super().__init__(lambda: spark.createDataFrame(rows, kind), kind, spark)
        self._rows = rows


def deferred(spark: SparkSession, kind: StructType, make: Callable[[], DataFrame]) -> DataFrame:
    """Return a frame that is made as soon as Spark is asked for its rows; that others may have without Spark.

    Args:
        spark: the session.
        kind: the frame's columns.
        make: makes it.
    """
    return _Deferred(make, kind, spark)


def given(spark: SparkSession, kind: StructType | str, rows: Iterable[Mapping[str, Any]] = ()) -> DataFrame:
    """Return rows as a frame.

    Args:
        spark: the session.
        kind: the frame's columns; as a type, or in SQL's words.
        rows: plain values by column, structs as mappings; moments know their time zone. A column that a row does not
            have is null.
    """
    columns = cast("StructType", StructType.fromDDL(kind)) if isinstance(kind, str) else kind
    return held(spark, pa.Table.from_pylist(list(rows), schema=to_arrow_schema(columns)), columns)


def held(spark: SparkSession, rows: pa.Table, kind: StructType) -> DataFrame:
    """Return rows as a frame that has them with its plan."""
    return _Held(rows, kind, spark) if rows.num_rows else _none(spark, kind.json())


@lru_cache(maxsize=256)  # half of what is held is empty, and to make a frame takes thirty calls to the JVM
def _none(spark: SparkSession, kind: str) -> DataFrame:
    """Return no row; what has the same columns is one and the same frame."""
    columns = StructType.fromJson(json.loads(kind))
    return _Held(to_arrow_schema(columns).empty_table(), columns, spark)


def held_if_few(
    spark: SparkSession, batches: Iterable[pa.RecordBatch], kind: StructType, most: int
) -> DataFrame | None:
    """Return rows as they come as such a frame; None as soon as there are more than `most`."""
    found, count = [], 0
    for batch in batches:
        found.append(batch)
        count += batch.num_rows
        if count > most:
            return None
    return held(spark, pa.Table.from_batches(found, to_arrow_schema(kind)), kind)


def rows_held(frame: DataFrame) -> pa.Table | None:
    """Return the rows that a frame was made of, if the driver gave them, so that nobody asks Spark for them."""
    return frame._rows if isinstance(frame, _Held) else None


def marked(frame: DataFrame, name: str, value: bool) -> DataFrame:
    """Return rows with a column more, which has one value in all of them; of rows that are held, nobody asks Spark."""
    rows = rows_held(frame)
    if rows is None:
        return frame.withColumn(name, F.lit(value))
    kind = StructType([*frame.schema, StructField(name, BooleanType())])
    return held(frame.sparkSession, rows.append_column(name, pa.repeat(pa.scalar(value), rows.num_rows)), kind)


def selected(frame: DataFrame, names: Iterable[str]) -> DataFrame:
    """Return some columns of rows, all of them as they are; of rows that are held, nobody asks Spark."""
    rows, wanted = rows_held(frame), list(names)
    if wanted == frame.columns:
        return frame
    if rows is None:
        return frame.select(*wanted)
    return held(frame.sparkSession, rows.select(wanted), StructType([frame.schema[name] for name in wanted]))


def told_apart(first: DataFrame, second: DataFrame, name: str) -> DataFrame:
    """Return the rows of both, with a column more: it is true in those of the second."""
    return together(marked(first, name, False), marked(second, name, True))


def together(first: DataFrame, second: DataFrame) -> DataFrame:
    """Return the rows of both, by the names of their columns; of rows that are held, nobody asks Spark."""
    one, other = rows_held(first), rows_held(second)
    if one is None or other is None:
        return first.unionByName(second)
    kind = first.schema.toNullable()
    columns = to_arrow_schema(kind)
    rows = pa.concat_tables([each.select(columns.names).cast(columns) for each in (one, other)])
    return held(first.sparkSession, rows, kind)
