"""Entries of logs → rows of `bronze.log_lines` and of the silver tables.

An entry, and each fact that it tells, is one wide row: the name of its table and the columns of all these tables, null
but for those of its own. `split` parts them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from schemas.tables.bronze import LOG_LINES
from transforms.arrow_columns import arrow_column, by_columns
from transforms.loglines.entries.entry import Entry
from transforms.loglines.facts import Fact
from transforms.loglines.parse import parse_entry
from transforms.silver.offsets import silver_type

TABLES = ("coordinator_events", "group_requests", "client_events", "rejected")
"""Silver tables that entries give rows of."""

PLACE = ("broker", "source_file", "line_number")
"""Columns that say where an entry stands; every wide row has them."""

ENTRY = (*PLACE, "logged_at", "text")
"""Columns of `bronze.log_lines` that facts are made of."""

TABLE = "table"
"""Column of a wide row that names its table."""

LEFT_OUT = "left_out"
"""Name of the table of a wide row that no table gets: it says of a file how many entries nothing keeps.

`line_number` is the first line of the last entry that was read of the file, `left_out_count` that number.
"""

READ_TO = "read_to"
"""Name of the table of a wide row that no table gets: a log can be read on from this line, the begin of an entry.

`place_line` and `place_byte` say where a line begins (`transforms.loglines.entries.lines.Place`), that one or one that
stands before it.
"""

OF_LOGS = (LEFT_OUT, READ_TO)
"""Names of the tables of wide rows that say something of a log, and that no table gets."""

OF_PLACE = ("place_line", "place_byte")
"""Columns of a wide row that say where a line begins."""

SAID_OF_LOG = ("line_number", "left_out_count", "logged_at", *OF_PLACE)
"""Columns of a wide row that say something of a log."""

SAID = (TABLE, "source_file", *SAID_OF_LOG)
"""And those that say of which, and what."""

_OF_LOGS_ALONE = [T.StructField(name, T.LongType()) for name in ("left_out_count", *OF_PLACE)]

_ENTRIES_PER_BATCH = 4096

Columns = Mapping[str, pa.Array]


class Wanted(Enum):
    """What is to be made of entries: the entries themselves, or what they tell."""

    ENTRIES = auto()
    FACTS = auto()


_DERIVED = {
    "source": "'log'",
    "position": "concat_ws(':', source_file, line_number)",
    "host": "broker",  # of a client's log: what names the broker is the folder of the file
}
"""Columns that follow from the place of an entry, as SQL."""


def _wide_type() -> T.StructType:
    names = {f.name: f.dataType for table in (LOG_LINES.name, *TABLES) for f in silver_type(table)}
    own = [T.StructField(name, kind) for name, kind in names.items() if name not in {"cluster", *_DERIVED}]
    return T.StructType([T.StructField(TABLE, T.StringType()), *own, *_OF_LOGS_ALONE])


WIDE_TYPE = _wide_type()
"""A wide row: its table, and the columns of all tables that do not follow from others."""

_WIDE_SCHEMA = to_arrow_schema(WIDE_TYPE)


def parse(log_lines: DataFrame) -> DataFrame:
    """Parse rows of `bronze.log_lines`.

    Returns:
        `WIDE_TYPE`. Grain: one fact.
    """
    return log_lines.select(*ENTRY).mapInArrow(_parse_batches, WIDE_TYPE)


def split(rows: DataFrame) -> dict[str, DataFrame]:
    """Part wide rows into the tables, by name, without the columns that the job adds: `cluster` and time of loading."""
    return {table: _of_table(rows, table) for table in (LOG_LINES.name, *TABLES)}


def _of_table(rows: DataFrame, table: str) -> DataFrame:
    columns = [f.name for f in silver_type(table) if f.name != "cluster"]
    own = [F.expr(_DERIVED[name]).alias(name) if name in _DERIVED else F.col(name) for name in columns]
    return rows.where(F.col(TABLE) == table).select(*own)


def told_by(
    broker: str, source_file: str, entries: Sequence[Entry], wanted: Collection[Wanted]
) -> Iterator[tuple[str, Columns]]:
    """Yield what entries of one file tell: the name of a table, and columns of rows for it; of a table more than once.

    Timestamps are in microseconds, as Arrow counts them.
    """
    numbers, times, texts = zip(*entries, strict=True)
    place = {
        "broker": pa.repeat(pa.scalar(broker), len(entries)),
        "source_file": pa.repeat(pa.scalar(source_file), len(entries)),
        "line_number": pa.array(numbers, pa.int64()),
    }
    if Wanted.ENTRIES in wanted:
        logged_at = pc.multiply(pa.array(times, pa.int64()), 1000)
        yield LOG_LINES.name, {**place, "logged_at": logged_at, "text": pa.array(texts, pa.string())}
    if Wanted.FACTS in wanted:
        yield from _facts(place, times, texts)


def facts_told(lines: pa.RecordBatch) -> Iterator[tuple[str, Columns]]:
    """Yield what entries tell, as `told_by` does.

    Args:
        lines: columns `ENTRY` of a few thousand entries, of whatever files.
    """
    times = pc.divide(lines.column("logged_at").cast(pa.int64()), 1000)
    place = {name: lines.column(name) for name in PLACE}
    yield from _facts(place, times.to_pylist(), lines.column("text").to_pylist())


def wide_batch(table: str, columns: Columns) -> pa.RecordBatch:
    """Build wide rows of one table."""
    return _batch({TABLE: pa.repeat(pa.scalar(table), len(columns["line_number"])), **columns}, _WIDE_SCHEMA)


def own_batch(table: str, columns: Columns) -> pa.RecordBatch:
    """Build rows of one table, with the columns that `split` gives it."""
    count = len(columns["line_number"])
    derived = {
        "source": lambda: pa.repeat(pa.scalar("log"), count),
        "position": lambda: pc.binary_join_element_wise(
            columns["source_file"], columns["line_number"].cast(pa.string()), ":"
        ),
        "host": lambda: columns["broker"],
    }
    assert derived.keys() == _DERIVED.keys()
    schema = _own_schema(table)
    return _batch({**columns, **{name: derived[name]() for name in derived if name in schema.names}}, schema)


def _batch(given: Columns, schema: pa.Schema) -> pa.RecordBatch:
    count = len(given["line_number"])
    arrays = [given[each.name].cast(each.type) if each.name in given else pa.nulls(count, each.type) for each in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


@cache
def _own_schema(table: str) -> pa.Schema:
    fields = to_arrow_schema(silver_type(table).toNullable())
    return pa.schema([field for field in fields if field.name != "cluster"])


def _parse_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for start in range(0, batch.num_rows, _ENTRIES_PER_BATCH):
            yield from (wide_batch(*each) for each in facts_told(batch.slice(start, _ENTRIES_PER_BATCH)))


def _facts(place: Columns, times: Iterable[int | None], texts: Iterable[str]) -> Iterator[tuple[str, Columns]]:
    """Parse entries; yield the columns of each table that they tell something for."""
    found: dict[str, tuple[list[int], list[Fact]]] = {table: ([], []) for table in TABLES}
    for index, (text, logged_at) in enumerate(zip(texts, times, strict=True)):
        for fact in parse_entry(text, logged_at):
            indices, facts = found[fact.table]
            indices.append(index)
            facts.append(fact)
    for table, (indices, facts) in found.items():
        if facts:
            where = pa.array(indices, pa.int64())
            own = {
                name: arrow_column(values, _WIDE_SCHEMA.field(name).type) for name, values in by_columns(facts).items()
            }
            yield table, {**{name: column.take(where) for name, column in place.items()}, **own}
