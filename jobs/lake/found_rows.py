"""Few rows of large tables on a local disk: DuckDB looks through the files for them.

Spark asks for the files of a table by queries of their own, and takes a stage or more for what is done with their rows.
Rows that are here already go into the plans, as those of small tables do.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from pyspark.sql.pandas.types import to_arrow_schema

from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.given_rows import rows_held
from transforms.wanted_rows import Wanted

MOST_ROWS = 50_000
"""So many rows go into a plan."""

MOST_BYTES = 256 << 20
"""So many bytes of files are looked through as quickly as a query is planned."""

_GLOB = set("*?[")
"""DuckDB takes names with these for patterns."""


def found_rows(spec: TableSpec, table: DeltaTable, folder: Path, cluster: str, wanted: Wanted) -> pa.Table | None:
    """Return the rows of a cluster that are wanted; None if they, or what is to be looked through, are too many.

    Args:
        spec: the table.
        table: the same, as it is now; it has the declared columns.
        folder: where it lies.
        cluster: whose rows are read.
        wanted: which of them.
    """
    files = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    ours = [file for file in files if file["partition.cluster"] == cluster]
    kind = to_arrow_schema(struct_type(spec).toNullable())
    if not ours or wanted.groups == []:
        return kind.empty_table()
    if sum(file["size_bytes"] for file in ours) > MOST_BYTES:
        return None
    if wanted.beside is not None and rows_held(wanted.beside) is None:
        return None
    of_partitions: dict[bool | None, list[str]] = {}
    for file in ours:
        of_partitions.setdefault(file.get("partition.is_settled"), []).append(str(folder / unquote(file["path"])))
    if any(_GLOB & set(path) for paths in of_partitions.values() for path in paths):
        return None
    found = _asked(spec, of_partitions, cluster, wanted)
    return None if found.num_rows > MOST_ROWS else found.select(spec.columns).cast(kind)


def _asked(spec: TableSpec, of_partitions: dict[bool | None, list[str]], cluster: str, wanted: Wanted) -> pa.Table:
    duckdb: Any = importlib.import_module("duckdb")  # imported by those who ask: it takes its time
    condition, given = wanted.in_sql()
    parts = [_of_partition(spec, settled, files) for settled, files in of_partitions.items()]
    with duckdb.connect(config={"TimeZone": "UTC", "autoinstall_known_extensions": False}) as connection:
        laid = ""
        if wanted.beside is not None:
            connection.register("beside", rows_held(wanted.beside))
            laid = "LEFT JOIN beside USING (cluster, group_id)"
        statement = (
            f"SELECT told.* FROM ({' UNION ALL BY NAME '.join(parts)}) told {laid} WHERE {condition} "
            f"LIMIT {MOST_ROWS + 1}"
        )
        rows: pa.Table = connection.sql(statement, params=[*([cluster] * len(parts)), *given]).to_arrow_table()
        return rows


def _of_partition(spec: TableSpec, is_settled: bool | None, files: Sequence[str]) -> str:
    """Return the query for the rows of one partition, whose values its files do not have."""
    stored = ", ".join(f'"{name}"' for name in spec.columns if name not in spec.partitions)
    settled = "" if is_settled is None else f"{str(is_settled).lower()} AS is_settled, "
    return f"SELECT ? AS cluster, {settled}{stored} FROM read_parquet([{', '.join(map(_text, files))}])"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
