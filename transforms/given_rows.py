"""Rows that the driver has, as a frame that no query has to compute.

Spark makes a frame of a list of Python rows by starting Python workers for it, which takes seconds in a young session.
Arrow's rows go straight into the plan, and where there are none, whatever is built on them is planned away.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, cast
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

_HELD: WeakKeyDictionary[DataFrame, pa.Table] = WeakKeyDictionary()


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
    return _made(spark, rows, kind) if rows.num_rows else _none(spark, kind.json())


@lru_cache(maxsize=256)  # half of what is held is empty, and to make a frame takes thirty calls to the JVM
def _none(spark: SparkSession, kind: str) -> DataFrame:
    """Return no row; what has the same columns is one and the same frame."""
    columns = StructType.fromJson(json.loads(kind))
    return _made(spark, to_arrow_schema(columns).empty_table(), columns)


def _made(spark: SparkSession, rows: pa.Table, kind: StructType) -> DataFrame:
    frame: DataFrame = spark.createDataFrame(rows, kind)
    _HELD[frame] = rows
    return frame


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
    return _HELD.get(frame)
