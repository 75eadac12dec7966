"""The files of tables on a local disk, as DuckDB reads them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql import DataFrame

from jobs.frame.row_files import Mark, Part, files_of
from jobs.lake.cluster_files import ClusterFile
from jobs.lake.rows import fetched
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.given_rows import rows_held
from transforms.sql import standard_list, standard_text, truth
from transforms.wanted_rows import Wanted

_SETTINGS = {
    "TimeZone": "UTC",
    "autoinstall_known_extensions": "false",
    "enable_external_file_cache": "false",  # a long process would fill its memory with files that it saw once
}

_OF_SPARK = (
    "CREATE MACRO timestamp_micros(us) AS make_timestamptz(us)",
    "CREATE MACRO unix_micros(moment) AS epoch_us(moment)",
    "CREATE MACRO xxhash64(value) AS hash(value)",  # of 64 bits too, and as good to tell values apart
)
"""Functions of Spark's, for conditions that are not translated, and where sqlglot has no word for them."""

_ALL_PARTS = -1

_ROWS_HELD = 10_000
"""So many rows wait until they are written to the files of their parts: with DuckDB's 524,288 that takes twice as long.
"""

_QUERIES: WeakKeyDictionary[DataFrame, tuple[str, int]] = WeakKeyDictionary()

_GLOB = set("*?[")
"""DuckDB takes names with these for patterns."""


def are_nameable(files: Sequence[ClusterFile]) -> bool:
    """Tell whether DuckDB can name all of some files."""
    return not any(_GLOB & set(file.path) for file in files)


def rows_in(spec: TableSpec, files: Sequence[ClusterFile], cluster: str) -> str:
    """Return the query for the rows in files, of which there is at least one; partitions' values are not in them.

    A column that was added to the table after a file had been written is null in the file's rows.
    """
    alike: dict[tuple[bool | None, frozenset[str]], list[str]] = {}
    for file in files:
        alike.setdefault((file.is_settled, file.lacks(spec)), []).append(file.path)
    parts = []
    for (is_settled, lacking), paths in alike.items():
        settled = "" if is_settled is None else f"{truth(is_settled)} AS is_settled, "
        stored = ", ".join(
            _nothing(spec, name) if name in lacking else f'"{name}"'
            for name in spec.columns
            if name not in spec.partitions
        )
        named = ", ".join(map(standard_text, paths))
        parts.append(f"SELECT {standard_text(cluster)} AS cluster, {settled}{stored} FROM read_parquet([{named}])")
    return " UNION ALL BY NAME ".join(parts)


def _nothing(spec: TableSpec, name: str) -> str:
    """Write a column of nulls."""
    kind = struct_type(spec)[name].dataType.simpleString()
    return translated(f"SELECT CAST(NULL AS {kind}) AS `{name}`").removeprefix("SELECT ")


def in_files(files: Sequence[str], mark: Mark = MappingProxyType({})) -> str:
    """Return the query for all rows of some files that have the same columns, and for what is beside each of them."""
    beside = "".join(f", {truth(value)} AS {name}" for name, value in mark.items())
    return f"SELECT *{beside} FROM read_parquet({standard_list(files)}, hive_partitioning=false)"


def in_parts(parts: Sequence[Part]) -> str:
    """Return the query for all rows of some parts, of which there is at least one."""
    return " UNION ALL BY NAME ".join(in_files(*part) for part in parts)


def put_apart(connection: Any, query: str, part: str, folder: Path) -> Path:
    """Put what a query gives into a folder, part by part.

    Args:
        connection: knows what the query reads; it need not keep the order of rows.
        query: the query.
        part: gives the number of the part that a row belongs to; null = to all of them.
        folder: where the parts are put, in a folder of their own.

    Returns:
        Folder that `part_in` knows them in.
    """
    place = folder / uuid4().hex
    apart = f"SELECT *, coalesce({part}, {_ALL_PARTS}) AS part FROM ({query})"
    how = "FORMAT parquet, COMPRESSION lz4, PARTITION_BY (part)"
    connection.execute(f"SET partitioned_write_flush_threshold = {_ROWS_HELD}")
    connection.execute(f"COPY ({apart}) TO {standard_text(str(place))} ({how})")
    return place


def part_in(place: Path, number: int) -> list[str]:
    """Return the files of a part; none if it has no rows.

    Args:
        place: folder that `put_apart` returned.
        number: of the part.
    """
    return [str(file) for each in (number, _ALL_PARTS) for file in place.glob(f"part={each}/*.parquet")]


def part_of(column: str, count: int) -> str:
    """Return the number, below `count`, of the part that rows with a value of a column belong to; of null, null."""
    return f"CASE WHEN {column} IS NOT NULL THEN hash({column}) END % {count}"


def note_query(frame: DataFrame, query: str, size: int) -> None:
    """Note of a frame that a query gives its rows, which looks through so many bytes of files of this machine."""
    _QUERIES[frame] = query, size


def is_in_place(frame: DataFrame) -> bool:
    """Tell whether the rows of a frame are left where they lie until somebody asks for them (`note_query`)."""
    return frame in _QUERIES


def without_spark(frame: DataFrame) -> pa.Table | str | None:
    """Return the rows of a frame that the driver has, or the query for those in files of this machine; else None."""
    if (rows := rows_held(frame)) is not None:
        return rows
    if (noted := _QUERIES.get(frame)) is not None:
        return noted[0]
    files = files_of(frame)
    return None if files is None else in_files(files)


def size_of(frame: DataFrame) -> int:
    """Return how many bytes of files are looked through for the rows of a frame, as `without_spark` gives them."""
    noted = _QUERIES.get(frame)
    return sum(Path(file).stat().st_size for file in files_of(frame) or ()) if noted is None else noted[1]


def place_of(connection: Any, name: str, rows: pa.Table | str) -> str:
    """Have a connection know rows, and return what a query says FROM to read them.

    Args:
        connection: the connection.
        name: what they are of, which nothing else is that the connection is told of.
        rows: the rows, or the query for them.
    """
    if isinstance(rows, str):
        return f"({rows})"
    connection.register(f"{name} at hand", rows)
    return f'"{name} at hand"'


def connected(is_ordered: bool = True, spill: Mapping[str, str] | None = None) -> Any:
    """Return a connection to DuckDB, to be closed; what is temporary there, or registered, is nobody else's.

    Args:
        is_ordered: rows come in the order in which they lie in files.
        spill: settings of a DuckDB of its own, which says how much memory it may hold, and where the rest goes.
    """
    return (_database(is_ordered) if spill is None else _started(is_ordered, spill)).cursor()


def spilling(folder: Path, memory: str) -> dict[str, str]:
    """Return the settings of a DuckDB that holds so much, and puts the rest into a folder."""
    return {"memory_limit": memory, "temp_directory": str(folder)}


def out_of_memory() -> type[Exception]:
    """Return what is raised where something does not fit into the memory that DuckDB may hold."""
    error: type[Exception] = _duckdb().OutOfMemoryException
    return error


@lru_cache
def _database(is_ordered: bool) -> Any:
    """Return a DuckDB for all of this process: to start one takes fifty times as long as to connect to it."""
    return _started(is_ordered, {})


def _started(is_ordered: bool, settings: Mapping[str, str]) -> Any:
    order = {"preserve_insertion_order": truth(is_ordered)}  # a setting of a whole DuckDB
    database = _duckdb().connect(config={**_SETTINGS, **order, **settings})
    for function in _OF_SPARK:
        database.execute(function)
    return database


def _duckdb() -> Any:
    return importlib.import_module("duckdb")  # imported by those who ask: it takes its time


@lru_cache(maxsize=128)  # the same few are asked by each run of a process, and a long one takes half a second
def translated(statement: str) -> str:
    """Return a statement of Spark's in DuckDB's words."""
    sqlglot: Any = importlib.import_module("sqlglot")
    ignore = sqlglot.ErrorLevel.IGNORE  # hints are Spark's own
    return "".join(sqlglot.transpile(statement, read="spark", write="duckdb", identify=True, unsupported_level=ignore))


def laid_beside(connection: Any, wanted: Wanted | None) -> str:
    """Have a connection know what some that are wanted have beside them; return how it is joined to a table's rows."""
    if wanted is None or wanted.beside is None:
        return ""
    connection.register("beside", fetched(wanted.beside))
    return "LEFT JOIN beside USING (cluster, group_id)"


def going(where: str, staying: Wanted | None) -> str:
    """Return the condition of rows that Spark's SQL selects, but for those that stay.

    Args:
        where: condition in Spark's SQL; empty for all rows.
        staying: which of them stay, by its own condition and what lies beside.
    """
    condition = f"coalesce({translated(where)}, false)" if where else "true"
    stay = "" if staying is None else f" AND NOT coalesce({translated(staying.where)}, false)"
    return f"({condition}{stay})"
