"""Few rows of large tables on a local disk: DuckDB looks through the files for them.

Spark asks for the files of a table by queries of their own, and takes a stage or more for what is done with their rows.
Rows that are here already go into the plans, as those of small tables do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.frame.row_files import new_file
from jobs.lake.cluster_files import ClusterFile
from jobs.lake.duckdb_files import are_nameable, connected, in_files, laid_beside, rows_in
from schemas.table import TableSpec
from transforms.given_rows import rows_held
from transforms.wanted_rows import Wanted

MOST_ROWS = 50_000
"""So many rows go into a plan."""

MOST_BYTES = 256 << 20
"""So many bytes of a table's files are looked through as quickly as a query is planned."""

MOST_BYTES_PICKED = 1 << 30
"""Of so many, rows of some groups are picked: for what is told of them, or into a file, which costs as much as it saves
those who read the rows."""

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
    kind = to_arrow_schema(wanted.kind_of(spec))
    files = [file for file in files if may_have(file, wanted)]
    if not files or wanted.groups == []:
        return kind.empty_table()
    if _have_many(files, wanted) or not are_readable(files) or not is_at_hand(wanted.beside):
        return None
    with connected() as connection:
        return if_few(connection.sql(_statement(connection, spec, files, cluster, wanted)), kind)


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
    files = [file for file in files if may_have(file, wanted)]
    are_picked = bool(wanted.where) and is_at_hand(wanted.beside)
    if not files or not are_picked or not are_pickable(files):
        return None
    file = new_file(folder)
    with connected(is_ordered=False) as connection:
        statement = _statement(connection, spec, files, cluster, wanted)
        connection.sql(statement).write_parquet(file, row_group_size=_ROWS_OF_A_GROUP)
    return (file,)


def query_of(
    spec: TableSpec, files: Sequence[ClusterFile], cluster: str, wanted: Wanted, folder: Path
) -> tuple[str, int] | None:
    """Return the query for the rows of a cluster that are wanted, and how many bytes it looks through.

    Args:
        spec: the table.
        files: of the cluster, as they are now.
        cluster: whose rows are read.
        wanted: which of them.
        folder: where what lies beside the rows is put into a file.

    Returns:
        Both; None if DuckDB cannot name the files, or there are none that may have such rows.
    """
    files = [file for file in files if may_have(file, wanted)]
    if not files or not are_nameable(files) or not is_at_hand(wanted.beside):
        return None
    laid = ""
    if wanted.beside is not None:
        parquet.write_table(rows_held(wanted.beside), file := new_file(folder))
        laid = f"LEFT JOIN ({in_files([file])}) beside USING (cluster, group_id)"
    return _told(spec, files, cluster, wanted, laid), _size(files)


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
    if not are_readable(near):
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


def may_have(file: ClusterFile, wanted: Wanted) -> bool:
    """Tell whether a file may have rows that are wanted."""
    if wanted.is_settled is not None and file.is_settled not in (None, wanted.is_settled):
        return False
    if not wanted.since or any(file.may_be_late(*moment) for moment in wanted.since.items()):
        return True
    return any(file.may_have(name, value, value) for name, values in wanted.or_in.items() for value in values)


def _statement(connection: Any, spec: TableSpec, files: Sequence[ClusterFile], cluster: str, wanted: Wanted) -> str:
    """Return the query for rows that are wanted."""
    return _told(spec, files, cluster, wanted, laid_beside(connection, wanted))


def _told(spec: TableSpec, files: Sequence[ClusterFile], cluster: str, wanted: Wanted, laid: str) -> str:
    asked = ", ".join(f'told."{name}"' for name in wanted.columns) or "told.*"
    return f"SELECT {asked} FROM ({rows_in(spec, files, cluster)}) told {laid} WHERE {wanted.in_sql()}"


def if_few(relation: Any, kind: pa.Schema, folder: Path | None = None) -> pa.Table | str | None:
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


def _have_many(files: Sequence[ClusterFile], wanted: Wanted) -> bool:
    """Tell whether it is known without a look at them that too many rows of files are wanted: all that are late."""
    if wanted.groups is not None or wanted.is_settled is not None or wanted.where:
        return False
    late = [file for file in files if any(file.is_late(*moment) for moment in wanted.since.items())]
    return sum(file.row_count or 0 for file in late) > MOST_ROWS


def are_readable(files: Sequence[ClusterFile]) -> bool:
    """Tell whether files are looked through as quickly as a query is planned."""
    return _size(files) <= MOST_BYTES and are_nameable(files)


def are_pickable(files: Sequence[ClusterFile]) -> bool:
    """Tell whether files are looked through for rows that others read."""
    return _size(files) <= MOST_BYTES_PICKED and are_nameable(files)


def _size(files: Sequence[ClusterFile]) -> int:
    return sum(file.size for file in files)


def is_at_hand(beside: DataFrame | None) -> bool:
    """Tell whether DuckDB can be given what is laid beside rows."""
    return beside is None or rows_held(beside) is not None
