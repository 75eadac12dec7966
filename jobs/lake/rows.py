"""Rows on their way into a table: what each write adds to them, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import reduce
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampType

from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.given_rows import rows_held
from transforms.sql import quoted

T = TypeVar("T", bound=msgspec.Struct)

_MOST_PLACES = 100
"""Logs, or partitions, that a condition asks for one by one."""

WRITTEN_AT = ("recorded_at", "logged_at", "answered_at", "at", "seen_at")
"""When what a row tells of was written, by the first of these columns that its table has."""


def stamped(spec: TableSpec, rows: DataFrame, at: datetime) -> DataFrame:
    """Add the start of the run to rows, under the name that the table has for it."""
    name = "loaded_at" if "loaded_at" in spec.columns else "seen_at"
    return rows.withColumn(name, F.lit(at.isoformat()).cast("timestamp"))


def of_cluster(spec: TableSpec, rows: DataFrame, cluster: str) -> DataFrame:
    """Add the cluster to rows that do not name it."""
    if "cluster" in spec.columns and "cluster" not in rows.columns:
        return rows.withColumn("cluster", F.lit(cluster))
    return rows


def conforming(spec: TableSpec, rows: DataFrame) -> DataFrame:
    """Bring columns into the table's order and types; one too few or too many is a programmer's mistake."""
    if set(rows.columns) != set(spec.columns):
        different = sorted(set(rows.columns) ^ set(spec.columns))
        raise ValueError(f"{spec.full_name}: rows and table differ in the columns {', '.join(different)}")
    return shaped(struct_type(spec), rows)


def shaped(kind: StructType, rows: DataFrame) -> DataFrame:
    """Bring columns into an order and types."""
    return rows.selectExpr(*(_cast(field.name, field.dataType) for field in kind))


def settled(rows: DataFrame, settling: str) -> DataFrame:
    """Return rows, those as settled ones that a condition in SQL selects; an empty one selects none."""
    if not settling:
        return rows
    return rows.withColumn("is_settled", F.expr(f"is_settled OR coalesce({settling}, false)"))


def few(spec: TableSpec, rows: DataFrame, cluster: str) -> pa.Table:
    """Return rows, which are few, as `conforming` has them; if the driver gave them, without asking Spark."""
    known = rows_held(rows)
    if known is None or not {*known.column_names, "cluster"} >= set(spec.columns):
        return fetched(conforming(spec, of_cluster(spec, rows, cluster)))
    if "cluster" not in known.column_names:
        known = known.append_column("cluster", pa.array([cluster] * known.num_rows, pa.string()))
    return known.select(spec.columns).cast(to_arrow_schema(struct_type(spec).toNullable()))


def within_keys(spec: TableSpec, rows: pa.Table) -> Column:
    """Return the condition of rows that can have a key of one of these: files and pages beyond are not read.

    A key begins with the cluster and what its other parts count in, such as a log: of a few such, each has its reach.
    """
    if not rows.num_rows:
        return F.lit(False)
    places = rows.group_by(list(spec.key[:2])).aggregate(
        [(name, how) for name in spec.key[2:] for how in ("min", "max")]
    )
    if places.num_rows > _MOST_PLACES:
        return _between((name, *pc.min_max(rows[name]).as_py().values()) for name in spec.key)
    return reduce(Column.__or__, (_between(_reach(spec, place)) for place in places.to_pylist()))


def _reach(spec: TableSpec, place: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each part of a key, and the first and last of its values at one place."""
    for name in spec.key[:2]:
        yield name, place[name], place[name]
    for name in spec.key[2:]:
        yield name, place[f"{name}_min"], place[f"{name}_max"]


def _between(reach: Iterable[tuple[str, Any, Any]]) -> Column:
    return reduce(Column.__and__, [F.col(name).between(F.lit(first), F.lit(last)) for name, first, last in reach])


def good_rows(read: DataFrame, spec: TableSpec, *, is_unique: bool = False) -> DataFrame:
    """Return the rows of a bronze table, unique by key.

    Args:
        read: columns of the bronze table, and `reason_code`, null for a good row.
        spec: the bronze table.
        is_unique: the source gives no row twice, so they need not be compared.
    """
    given = [name for name in spec.columns if name in read.columns]
    good = read.where(F.col("reason_code").isNull()).select(*given)
    return good if is_unique else good.dropDuplicates([name for name in spec.key if name in given])


def rejected_rows(read: DataFrame) -> DataFrame:
    """Return the rows of `rejected` among what a source read, unique by key."""
    bad = read.where(F.col("reason_code").isNotNull()).select("source", "position", "reason_code", "detail", "raw")
    return bad.dropDuplicates(["source", "position"])


def fetched(rows: DataFrame) -> pa.Table:
    """Return rows, which are few; all columns may hold nulls."""
    known = rows_held(rows)
    if known is not None:
        return known
    # `toArrow` refuses a missing struct whose fields are never null: so all are said to be null at times.
    nested = {
        field.name: F.expr(_cast(field.name, field.dataType))
        for field in rows.schema.toNullable()
        if isinstance(field.dataType, ArrayType | MapType | StructType)
    }
    if nested:
        rows = rows.withColumns(nested)
    found: pa.Table = rows.toArrow()
    return found


def _cast(name: str, kind: DataType) -> str:
    """Return a column as another type, as SQL: Spark reads it once, where a `Column` takes ten calls to its JVM."""
    return f"CAST({quoted(name)} AS {kind.simpleString()}) AS {quoted(name)}"


def in_ms(rows: DataFrame) -> list[Column]:
    """Return the columns of rows with moments as epoch ms: no time zone can come in between when they are collected."""
    return [
        (F.unix_micros(field.name) / 1000).alias(field.name)
        if isinstance(field.dataType, TimestampType)
        else F.col(field.name)
        for field in rows.schema.fields
    ]


def collected(rows: DataFrame) -> list[dict[str, Any]]:
    """Collect rows as plain values, moments as epoch ms."""
    return [row.asDict(recursive=True) for row in rows.select(*in_ms(rows)).collect()]


def typed(rows: DataFrame, of: type[T]) -> list[T]:
    """Collect rows as structs of `schemas.rows` or the like; other columns are left out."""
    names = [name for name in of.__struct_fields__ if name in rows.columns]
    plain = (
        {name: value for name, value in row.items() if value is not None} for row in collected(rows.select(*names))
    )
    return [msgspec.convert(row, of, strict=False) for row in plain]
