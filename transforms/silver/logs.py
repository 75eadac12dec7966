"""Bronze log lines → the silver tables of events, requests and what could not be read.

Python reads each line of interest once and gives one wide row for each fact: the name of its table, and a struct for
each table, null but for that one. Which lines are of interest, Spark's own functions tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from transforms.loglines.parse import MARKERS, parse_entry
from transforms.loglines.request_log import API_OF_GROUP, HEADER_LENGTH, MARKER, MARKER_WITHIN
from transforms.silver.offsets import silver_type

TABLES = ("coordinator_events", "group_requests", "client_events", "rejected")

_PROVENANCE = ("cluster", "broker", "source_file", "line_number")
_TABLE = "table"
_LINES_PER_BATCH = 4096

Put = Callable[[Any], Any]


def parse(log_lines: DataFrame) -> dict[str, DataFrame]:
    """Parse log lines.

    Args:
        log_lines: rows of `bronze.log_lines`; `cluster` may still be missing.

    Returns:
        The silver tables by name, without `loaded_at` and `seen_at`, which the job adds. Each is a plan of its own
        that parses all lines again: whoever needs several of them persists `tagged` and takes `split` of that.
    """
    return split(tagged(log_lines))


def tagged(log_lines: DataFrame) -> DataFrame:
    """Parse log lines into one wide row for each fact.

    Returns:
        The provenance of the line, `table`, and a struct column named after each table. Grain: one fact.
    """
    carried = [T.StructField(f.name, f.dataType) for f in log_lines.schema if f.name in _PROVENANCE]
    out = T.StructType(
        [
            *carried,
            T.StructField(_TABLE, T.StringType()),
            *(T.StructField(table, _own_columns(table)) for table in TABLES),
        ]
    )
    of_interest = log_lines.where(_may_tell_something()).select(
        *(field.name for field in carried), F.unix_millis("logged_at").alias("logged_at"), "text"
    )
    return of_interest.mapInArrow(_kernel(to_arrow_schema(out), [field.name for field in carried]), out)


def split(facts: DataFrame) -> dict[str, DataFrame]:
    """Part the rows of `tagged` into the silver tables, by name."""
    return {table: _of_table(facts, table) for table in TABLES}


def _may_tell_something() -> Column:
    """Condition that holds for every line that `parse_entry` gives a row for, and for few others."""
    text = F.col("text")
    is_request = F.substring(text, 1, MARKER_WITHIN).contains(MARKER)
    is_of_group = F.substring(text, 1, MARKER_WITHIN + HEADER_LENGTH).rlike(API_OF_GROUP)
    is_marked = F.lit(False)
    for marker in MARKERS:
        is_marked = is_marked | text.contains(marker)
    return F.col("logged_at").isNull() | F.when(is_request, is_of_group).otherwise(is_marked)


def _own_columns(table: str) -> T.StructType:
    """Columns of a table that the parser gives."""
    elsewhere = {*_PROVENANCE, "source", "position", "host"}
    return T.StructType([T.StructField(f.name, f.dataType) for f in silver_type(table) if f.name not in elsewhere])


def _of_table(facts: DataFrame, table: str) -> DataFrame:
    found = {
        "source": F.lit("log"),
        "position": F.concat_ws(":", F.col("source_file"), F.col("line_number")),
        "host": F.col("broker"),  # of a client's log: what names the broker is the folder of the file
        **{name: F.col(name) for name in _PROVENANCE if name in facts.columns},
        **{name: F.col(f"{table}.{name}") for name in _own_columns(table).fieldNames()},
    }
    rows = facts.where(F.col(_TABLE) == table)
    return rows.select(*(found[f.name].alias(f.name) for f in silver_type(table) if f.name in found))


def _kernel(schema: pa.Schema, carried: list[str]) -> Any:
    """Build the function that parses Arrow batches of lines."""
    conversions = {table: _conversions(_own_columns(table)) for table in TABLES}

    def parse_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for start in range(0, batch.num_rows, _LINES_PER_BATCH):
                yield from _parse_lines(batch.slice(start, _LINES_PER_BATCH), schema, carried, conversions)

    return parse_batches


def _parse_lines(
    batch: pa.RecordBatch, schema: pa.Schema, carried: list[str], conversions: dict[str, list[tuple[str, Put]]]
) -> Iterator[pa.RecordBatch]:
    lines: list[int] = []
    names: list[str] = []
    rows: list[dict[str, Any]] = []
    texts, times = batch.column("text").to_pylist(), batch.column("logged_at").to_pylist()
    for line, (text, logged_at) in enumerate(zip(texts, times, strict=True)):
        for table, row in parse_entry(text, logged_at):
            for name, convert in conversions[table]:
                if row[name] is not None:
                    row[name] = convert(row[name])
            lines.append(line)
            names.append(table)
            rows.append(row)
    if not lines:
        return
    kept = batch.take(pa.array(lines, pa.int64()))
    columns = [kept.column(name).cast(schema.field(name).type) for name in carried]
    columns.append(pa.array(names, pa.string()))
    for table in TABLES:
        own = [row if name == table else None for name, row in zip(names, rows, strict=True)]
        columns.append(pa.array(own, schema.field(table).type))
    yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _conversions(columns: T.StructType) -> list[tuple[str, Put]]:
    """Columns whose Python value Arrow takes in another form."""
    kinds: list[tuple[type[T.DataType], Put]] = [(T.TimestampType, _microseconds), (T.MapType, _items)]
    return [(f.name, convert) for f in columns for kind, convert in kinds if isinstance(f.dataType, kind)]


def _microseconds(epoch_ms: float) -> int:
    return round(epoch_ms * 1000)


def _items(mapping: dict[Any, Any]) -> list[tuple[Any, Any]]:
    return list(mapping.items())
