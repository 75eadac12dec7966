"""Few rows of large tables on a local disk: DuckDB looks through the files for them.

Spark asks for the files of a table by queries of their own, and takes a stage or more for what is done with their rows.
Rows that are here already go into the plans, as those of small tables do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.frame.row_files import new_file
from jobs.lake.cluster_files import ClusterFile
from jobs.lake.duckdb_files import (
    are_nameable,
    connected,
    laid_beside,
    out_of_memory,
    part_of,
    place_of,
    put_apart,
    rows_in,
    spilling,
    translated,
    without_spark,
)
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.given_rows import rows_held
from transforms.question import Question
from transforms.wanted_rows import Wanted

MOST_ROWS = 50_000
"""So many rows go into a plan."""

MOST_BYTES = 256 << 20
"""So many bytes of a table's files are looked through as quickly as a query is planned."""

MOST_BYTES_PICKED = 1 << 30
"""Of so many, rows of some groups are picked: for what is told of them, or into a file, which costs as much as it saves
those who read the rows."""

_FITS_INTO_MEMORY = 64 << 20
"""What is told of so many bytes is sorted and grouped in memory, in the DuckDB that the process has anyway."""

_MOST_MEMORY = "3GB"
"""Of more, this is held, and the rest goes to the disk; what needs more nevertheless is left to Spark."""

_ROWS_AT_ONCE = 10_000
"""So many rows are read until it is seen whether they are too many."""

_ROWS_OF_A_GROUP = 30_000
"""Rows of such a file that one task reads."""


def found_rows(spec: TableSpec, files: Sequence[ClusterFile], cluster: str, wanted: Wanted) -> pa.Table | None:
    """Return the rows of a cluster that are wanted; None if they, or what is to be looked through, are too many.

    Args:
        spec: the table.
        files: of the cluster, as they are now.
        cluster: whose rows are read.
        wanted: which of them.
    """
    kind = to_arrow_schema(struct_type(spec).toNullable())
    files = [file for file in files if _may_have(file, wanted)]
    if not files or wanted.groups == []:
        return kind.empty_table()
    if not _are_readable(files, MOST_BYTES) or not is_at_hand(wanted.beside):
        return None
    with connected() as connection:
        return _if_few(connection.sql(_statement(connection, spec, files, cluster, wanted)), kind)


def picked_rows(
    spec: TableSpec, files: Sequence[ClusterFile], cluster: str, wanted: Wanted, folder: Path
) -> tuple[str, ...] | None:
    """Put the rows of a cluster that are wanted into a file, however many; None if too much is to be looked through.

    Args:
        spec: the table.
        files: of the cluster, as they are now.
        cluster: whose rows are read.
        wanted: which of them, by a condition.
        folder: where the file is put.
    """
    files = [file for file in files if _may_have(file, wanted)]
    are_picked = bool(wanted.where) and is_at_hand(wanted.beside)
    if not files or not are_picked or not _are_readable(files, MOST_BYTES_PICKED):
        return None
    file = new_file(folder)
    with connected(is_ordered=False) as connection:
        statement = _statement(connection, spec, files, cluster, wanted)
        connection.sql(statement).write_parquet(file, row_group_size=_ROWS_OF_A_GROUP)
    return (file,)


def new_rows(spec: TableSpec, files: Sequence[ClusterFile], cluster: str, rows: pa.Table) -> pa.Table | None:
    """Return those of some rows whose keys are not in a table; None if what is to be looked through is too much.

    Args:
        spec: the table.
        files: of the cluster, as they are now.
        cluster: whose rows they are.
        rows: columns of the table; unique by key.
    """
    reach = [(name, *pc.min_max(rows.column(name)).as_py().values()) for name in spec.key if _is_told(rows, name)]
    near = [file for file in files if all(file.may_have(*each) for each in reach)]
    if not near or not rows.num_rows:
        return rows
    if not _are_readable(near, MOST_BYTES):
        return None
    key = ", ".join(f'"{name}"' for name in spec.key)
    with connected() as connection:
        connection.register("given", rows)
        there = f"SELECT {key} FROM ({rows_in(spec, near, cluster)})"
        found: pa.Table = connection.sql(f"SELECT * FROM given ANTI JOIN ({there}) USING ({key})").to_arrow_table()
    return found.select(rows.column_names).cast(rows.schema)


def _is_told(rows: pa.Table, name: str) -> bool:
    """Whether files say of a column what values it has in a way that they can be compared with those of rows."""
    kind = rows.schema.field(name).type
    return rows.num_rows > 0 and bool(pa.types.is_integer(kind) or pa.types.is_string(kind))


def _may_have(file: ClusterFile, wanted: Wanted) -> bool:
    if wanted.is_settled is not None and file.is_settled not in (None, wanted.is_settled):
        return False
    if not wanted.since or any(file.may_be_late(*moment) for moment in wanted.since.items()):
        return True
    return any(file.may_have(name, value, value) for name, values in wanted.or_in.items() for value in values)


def _statement(connection: Any, spec: TableSpec, files: Sequence[ClusterFile], cluster: str, wanted: Wanted) -> str:
    """Return the query for rows that are wanted."""
    laid = laid_beside(connection, wanted)
    return f"SELECT told.* FROM ({rows_in(spec, files, cluster)}) told {laid} WHERE {wanted.in_sql()}"


def answer(
    question: Question,
    tables: Mapping[TableSpec, Sequence[ClusterFile]],
    cluster: str,
    groups: Sequence[str] | None,
    folder: Path | None = None,
) -> pa.Table | str | None:
    """Return the rows that a statement tells of; None if they, or what is to be looked through, are too many.

    Args:
        question: what is asked.
        tables: the cluster's files of the tables that it reads, as they are now.
        cluster: whose rows are read.
        groups: those whose rows are read; None = all.
        folder: where rows are put that are not few, into a file whose name is returned; None = nowhere.
    """
    most = MOST_BYTES if groups is None and folder is None else MOST_BYTES_PICKED
    try:
        with _asked(question, tables, cluster, groups, folder, most) as asked:
            return None if asked is None else _if_few(asked.connection.sql(asked.query), _kind_of(question), folder)
    except out_of_memory():
        return None


def answer_apart(
    question: Question,
    tables: Mapping[TableSpec, Sequence[ClusterFile]],
    cluster: str,
    by: str,
    count: int,
    folder: Path,
) -> Path | None:
    """Put the rows that a statement tells of, however many, into files; None if DuckDB cannot.

    Args:
        question: what is asked.
        tables: as for `answer`.
        cluster: whose rows are read.
        by: column by whose values the rows are parted.
        count: into so many parts.
        folder: where they are put.

    Returns:
        Folder that `duckdb_files.part_in` knows the parts in.
    """
    try:
        with _asked(question, tables, cluster, None, folder, inf, is_ordered=False) as asked:
            return None if asked is None else put_apart(asked.connection, asked.query, part_of(by, count), folder)
    except out_of_memory():
        return None


@dataclass(frozen=True)
class _Asked:
    """A connection that knows what a question asks of, and the question as its query."""

    connection: Any
    query: str


@contextmanager
def _asked(
    question: Question,
    tables: Mapping[TableSpec, Sequence[ClusterFile]],
    cluster: str,
    groups: Sequence[str] | None,
    folder: Path | None,
    most: float,
    is_ordered: bool = True,
) -> Iterator[_Asked | None]:
    """Put a question to DuckDB; None if it is not to be asked.

    Args:
        question: what is asked.
        tables: as for `answer`.
        cluster: whose rows are read.
        groups: as for `answer`.
        folder: where rows are put that do not fit into memory; None = nowhere.
        most: bytes of a table that are looked through.
        is_ordered: as for `connected`.
    """
    wanted = {spec: question.of_table(spec, groups) for spec in tables}
    tables = {spec: [file for file in files if _may_have(file, wanted[spec])] for spec, files in tables.items()}
    if not all(_are_readable(files, most) for files in tables.values()):
        yield None
        return
    size = sum(file.size for files in tables.values() for file in files)
    spill = None if folder is None or size <= _FITS_INTO_MEMORY else spilling(folder, _MOST_MEMORY)
    with connected(is_ordered, spill) as connection:
        if not all(_is_laid(connection, name, rows) for name, rows in question.beside.items()):
            yield None
            return
        for spec, files in tables.items():
            _lay_table(connection, spec, files, cluster, wanted[spec])
        names = (*(spec.name for spec in tables), *question.beside)
        yield _Asked(connection, translated(question.statement.format_map({name: name for name in names})))


def _lay_table(connection: Any, spec: TableSpec, files: Sequence[ClusterFile], cluster: str, wanted: Wanted) -> None:
    """Have a connection know the rows of a table that are wanted by the table's name."""
    if not files:
        connection.register(spec.name, to_arrow_schema(struct_type(spec).toNullable()).empty_table())
        return
    rows = f"SELECT * FROM ({rows_in(spec, files, cluster)}) WHERE {wanted.in_sql()}"
    connection.execute(f'CREATE TEMP VIEW "{spec.name}" AS {rows}')


def _if_few(relation: Any, kind: pa.Schema, folder: Path | None = None) -> pa.Table | str | None:
    """Return what a statement gives; as soon as it is too much, put it into a file, or return None.

    Not by a LIMIT: DuckDB 2.0 waits for ever for some statements that say WITH, once they give more than it lets pass.
    """
    found, count = [], 0
    with relation.to_arrow_reader(_ROWS_AT_ONCE) as rows:
        for batch in rows:
            found.append(batch)
            count += batch.num_rows
            if count > MOST_ROWS:
                return None if folder is None else _into_file(folder, kind, chain(found, rows))
        return pa.Table.from_batches(found, rows.schema).select(kind.names).cast(kind)


def _into_file(folder: Path, kind: pa.Schema, batches: Iterable[pa.RecordBatch]) -> str:
    """Put rows into a file of a folder, and return its name."""
    file = new_file(folder)
    with parquet.ParquetWriter(file, kind) as writer:
        for batch in batches:
            writer.write_table(pa.Table.from_batches([batch]).select(kind.names).cast(kind))
    return file


def _is_laid(connection: Any, name: str, rows: DataFrame) -> bool:
    """Have a connection know rows by a name, if the driver has them or they are in files of this machine."""
    known = without_spark(rows)
    if known is not None:
        connection.execute(f'CREATE TEMP VIEW "{name}" AS SELECT * FROM {place_of(connection, name, known)}')
    return known is not None


def _are_readable(files: Sequence[ClusterFile], most: float) -> bool:
    return sum(file.size for file in files) <= most and are_nameable(files)


def _kind_of(question: Question) -> pa.Schema:
    return to_arrow_schema(question.told.toNullable())


def is_at_hand(beside: DataFrame | None) -> bool:
    """Tell whether DuckDB can be given what is laid beside rows."""
    return beside is None or rows_held(beside) is not None
