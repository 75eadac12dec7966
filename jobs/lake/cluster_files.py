"""The files of a table on a local disk that hold the rows of one cluster, as the table's log lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from pyarrow import parquet

from schemas.table import TableSpec


@dataclass(frozen=True)
class ClusterFile:
    """One file.

    Attributes:
        name: path below the table's folder.
        path: of the file.
        size: bytes.
        row_count: number of its rows; None if the log does not tell.
        is_settled: whether its rows are settled; None in tables that do not tell.
        least: least values of the columns that its statistics have.
        greatest: greatest values; of moments up to a millisecond less.
        nulls: by column of these, how many rows have no value.
    """

    name: str
    path: str
    size: int
    row_count: int | None
    is_settled: bool | None
    least: Mapping[str, Any]
    greatest: Mapping[str, Any]
    nulls: Mapping[str, int]

    def lacks(self, spec: TableSpec) -> frozenset[str]:
        """Return the columns of the table that are not in the file: they were added after it had been written."""
        return frozenset({*spec.columns} - {*spec.partitions} - _columns_in(self.path))

    def may_have(self, name: str, first: Any, last: Any) -> bool:
        """Tell whether a column may have a value between two in it."""
        least, greatest = self.least.get(name), self.greatest.get(name)
        return least is None or greatest is None or (least <= last and first <= greatest)

    def may_be_late(self, name: str, us: int) -> bool:
        """Tell whether a column may have a moment from one on (epoch µs) in it, or none at all."""
        greatest = self.greatest.get(name)
        return greatest is None or self.nulls.get(name) != 0 or round(greatest.timestamp() * 1_000_000) + 999 >= us

    def is_late(self, name: str, us: int) -> bool:
        """Tell whether a column is known to have a moment from one on (epoch µs) in all of its rows."""
        least = self.least.get(name)
        return least is not None and least.timestamp() * 1_000_000 >= us


@lru_cache(maxsize=10_000)
def _columns_in(path: str) -> frozenset[str]:
    """Return the names of the columns in a file, which is never written again."""
    return frozenset(parquet.read_schema(path).names)


def cluster_files(table: DeltaTable, folder: Path, cluster: str) -> tuple[ClusterFile, ...]:
    """List the files of a table, as it is.

    Args:
        table: the table, which has a partition for each cluster.
        folder: where it lies.
        cluster: whose rows are read.
    """
    files = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    return tuple(_file(folder, each) for each in files if each["partition.cluster"] == cluster)


def _file(folder: Path, file: Mapping[str, Any]) -> ClusterFile:
    least, greatest, nulls = (
        {name.removeprefix(prefix): value for name, value in file.items() if name.startswith(prefix)}
        for prefix in ("min.", "max.", "null_count.")
    )
    name, size = unquote(file["path"]), file["size_bytes"]
    path = str(folder / name)
    is_settled = file.get("partition.is_settled")
    return ClusterFile(name, path, size, file.get("num_records"), is_settled, least, greatest, nulls)
