"""Statements put to Spark and to DuckDB: what one of them tells, the other tells as well."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.lake.duckdb_files import connected, translated
from jobs.lake.rows import shaped
from schemas.table import TableSpec
from transforms.given_rows import held, rows_held
from transforms.question import Question


def answered(spark: SparkSession, question: Question, frames: Mapping[TableSpec, DataFrame]) -> DataFrame:
    """Return what Spark answers, once DuckDB has answered the same.

    Args:
        spark: the session.
        question: what is asked.
        frames: the rows of the tables that it reads.
    """
    statement, told = question.statement, question.told
    kind = told.toNullable()
    named: dict[str, Any] = {**{spec.name: rows for spec, rows in frames.items()}, **question.beside}
    found = shaped(told, spark.sql(statement, **named)).toArrow().cast(to_arrow_schema(kind))
    with connected() as connection:
        for name, rows in named.items():
            connection.register(name, rows_held(rows))
        query = translated(statement.format_map({name: name for name in named}))
        other = connection.sql(query).to_arrow_table().select(told.names)
    assert _in_order(found) == _in_order(other.cast(found.schema))
    return held(spark, found, kind)


def _in_order(rows: pa.Table) -> list[str]:
    return sorted(repr({name: _said(value) for name, value in row.items()}) for row in rows.to_pylist())


def _said(value: Any) -> Any:
    """Return what JSON says, whoever wrote it: Spark leaves out nulls."""
    if not isinstance(value, bytes) or not value.startswith(b"{"):
        return value
    return _without_nulls(json.loads(value))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value
