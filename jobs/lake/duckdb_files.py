"""The files of tables on a local disk, as DuckDB reads them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

from schemas.table import TableSpec

_SETTINGS = {"TimeZone": "UTC", "autoinstall_known_extensions": "false"}

_OF_SPARK = ("CREATE MACRO timestamp_micros(us) AS make_timestamptz(us)",)
"""Functions of Spark's that sqlglot has no word for."""

_GLOB = set("*?[")
"""DuckDB takes names with these for patterns."""


@dataclass(frozen=True)
class Files:
    """Files that hold the rows of one cluster.

    Attributes:
        of_partitions: their paths, by whether their rows are settled; by None in tables that do not tell.
        size: all of them together (bytes).
    """

    of_partitions: dict[bool | None, list[str]]
    size: int


def files_of(table: DeltaTable, folder: Path, cluster: str) -> Files | None:
    """Return the files of a table, as it is; None if there is one that DuckDB cannot name.

    Args:
        table: the table.
        folder: where it lies.
        cluster: whose rows are read.
    """
    of_partitions: dict[bool | None, list[str]] = {}
    size = 0
    for file in pa.table(table.get_add_actions(flatten=True)).to_pylist():
        if file["partition.cluster"] == cluster:
            path = str(folder / unquote(file["path"]))
            if _GLOB & set(path):
                return None
            of_partitions.setdefault(file.get("partition.is_settled"), []).append(path)
            size += file["size_bytes"]
    return Files(of_partitions, size)


def rows_in(spec: TableSpec, files: Files, cluster: str) -> str:
    """Return the query for the rows in files, of which there is at least one; partitions' values are not in them."""
    stored = ", ".join(f'"{name}"' for name in spec.columns if name not in spec.partitions)
    parts = []
    for is_settled, paths in files.of_partitions.items():
        settled = "" if is_settled is None else f"{str(is_settled).lower()} AS is_settled, "
        named = ", ".join(map(text, paths))
        parts.append(f"SELECT {text(cluster)} AS cluster, {settled}{stored} FROM read_parquet([{named}])")
    return " UNION ALL BY NAME ".join(parts)


def connected(**settings: str) -> Any:
    """Return a connection to a DuckDB of one's own, to be closed."""
    duckdb: Any = importlib.import_module("duckdb")  # imported by those who ask: it takes its time
    connection = duckdb.connect(config={**_SETTINGS, **settings})
    for function in _OF_SPARK:
        connection.execute(function)
    return connection


def translated(statement: str) -> str:
    """Return a statement of Spark's in DuckDB's words."""
    sqlglot: Any = importlib.import_module("sqlglot")
    ignore = sqlglot.ErrorLevel.IGNORE  # hints are Spark's own
    return "".join(sqlglot.transpile(statement, read="spark", write="duckdb", identify=True, unsupported_level=ignore))


def text(value: str) -> str:
    """Write a string for DuckDB."""
    return "'" + value.replace("'", "''") + "'"


def listed(values: Sequence[str]) -> str:
    """Write a list of strings for DuckDB."""
    return f"[{', '.join(map(text, values))}]"
