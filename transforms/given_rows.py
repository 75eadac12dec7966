"""Rows that the driver has, as a frame that no query has to compute.

Spark makes a frame of a list of Python rows by starting Python workers for it, which takes seconds in a young session.
Arrow's rows go straight into the plan, and where there are none, whatever is built on them is planned away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

_HELD: WeakKeyDictionary[DataFrame, pa.Table] = WeakKeyDictionary()
_NONE: WeakKeyDictionary[SparkSession, dict[str, DataFrame]] = WeakKeyDictionary()


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
    return _made(spark, rows, kind) if rows.num_rows else _none(spark, rows.schema, kind)


def _none(spark: SparkSession, columns: pa.Schema, kind: StructType) -> DataFrame:
    """Return no row as a frame; of what has the same columns always the same one, for half of what is held is empty."""
    made, key = _NONE.setdefault(spark, {}), kind.json()
    if key not in made:
        made[key] = _made(spark, columns.empty_table(), kind)  # Spark wants a chunk of each column, be it empty
    return made[key]


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
