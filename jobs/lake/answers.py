"""What is told of tables on a local disk: DuckDB answers in Spark's place what is asked of their files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.lake.cluster_files import ClusterFile
from jobs.lake.duckdb_files import (
    are_nameable,
    connected,
    out_of_memory,
    part_of,
    place_of,
    put_apart,
    rows_in,
    spilling,
    translated,
    without_spark,
)
from jobs.lake.found_rows import are_pickable, are_readable, if_few, may_have
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.question import Question
from transforms.wanted_rows import Wanted

_FITS_INTO_MEMORY = 64 << 20
"""What is told of so many bytes is sorted and grouped in memory, in the DuckDB that the process has anyway."""

_MOST_MEMORY = "3GB"
"""Of more, this is held, and the rest goes to the disk; what needs more nevertheless is left to Spark."""


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
    are_few = are_readable if groups is None and folder is None else are_pickable
    are_fitting = are_nameable if question.is_narrow else are_few
    try:
        with _asked(question, tables, cluster, groups, folder, are_fitting) as asked:
            return None if asked is None else if_few(asked.connection.sql(asked.query), _kind_of(question), folder)
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
        with _asked(question, tables, cluster, None, folder, are_nameable, is_ordered=False) as asked:
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
    are_fitting: Callable[[Sequence[ClusterFile]], bool],
    is_ordered: bool = True,
) -> Iterator[_Asked | None]:
    """Put a question to DuckDB; None if it is not to be asked.

    Args:
        question: what is asked.
        tables: as for `answer`.
        cluster: whose rows are read.
        groups: as for `answer`.
        folder: where rows are put that do not fit into memory; None = nowhere.
        are_fitting: tells whether a table's files are to be looked through.
        is_ordered: as for `connected`.
    """
    wanted = {spec: question.of_table(spec, groups) for spec in tables}
    tables = {spec: [file for file in files if may_have(file, wanted[spec])] for spec, files in tables.items()}
    if not all(are_fitting(files) for files in tables.values()):
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


def _is_laid(connection: Any, name: str, rows: DataFrame) -> bool:
    """Have a connection know rows by a name, if the driver has them or they are in files of this machine."""
    known = without_spark(rows)
    if known is not None:
        connection.execute(f'CREATE TEMP VIEW "{name}" AS SELECT * FROM {place_of(connection, name, known)}')
    return known is not None


def _kind_of(question: Question) -> pa.Schema:
    return to_arrow_schema(question.told.toNullable())
