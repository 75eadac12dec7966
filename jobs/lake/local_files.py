"""The files of a table on a local disk: joined, and removed when no version needs them, without a query.

A table of which nothing is to be joined or removed, as most are from day to day, takes Spark some seconds to find out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import ceil
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from pyarrow import parquet

from jobs.lake.cluster_files import ClusterFile, cluster_files
from jobs.lake.local_commits import commit_files, properties
from jobs.lake.local_log import LocalLog
from jobs.lake.local_tables import LocalTables
from jobs.lake.new_files import FileWriter
from schemas.table import TableSpec

_SMALL_BYTES = 128 << 20
"""Files below this are joined."""

MOST_BYTES = 1 << 30
"""What is rewritten at the most; more is left to Spark, which does it in all cores."""


Choose = Callable[[Sequence[ClusterFile]], list[ClusterFile]]
"""Chooses files to be joined."""


def small_files(files: Sequence[ClusterFile]) -> list[ClusterFile]:
    """Choose all that are small."""
    return [file for file in files if file.size < _SMALL_BYTES]


class LocalFiles:
    """The files of one table.

    Args:
        tables: the tables of a cluster.
        spec: the table, which exists.
    """

    def __init__(self, tables: LocalTables, spec: TableSpec) -> None:
        self._tables = tables
        self._spec = spec

    def chosen(self, choose: Choose) -> list[list[ClusterFile]]:
        """Return which of the cluster's files are chosen, those of settled rows and the others apart, from old to new.

        Args:
            choose: chooses, of either.
        """
        table = self._tables.fitting(self._spec)
        there = () if table is None else cluster_files(table, self._log.folder, self._tables.cluster)
        parts = defaultdict[bool | None, list[ClusterFile]](list)
        for file in there:
            parts[file.is_settled].append(file)
        return [sorted(choose(part), key=_age) for part in parts.values()]

    def join(self, note: str, choose: Choose) -> bool:
        """Join some of the cluster's files, in one commit if there are any.

        Args:
            note: what is noted with the commit.
            choose: chooses them, of those of settled rows and of the others.

        Returns:
            Whether it could be done without Spark.
        """
        table = self._tables.fitting(self._spec)
        if table is None:
            return False
        joined = [part for part in self.chosen(choose) if len(part) > 1]
        old = [file for part in joined for file in part]
        if sum(file.size for file in old) > MOST_BYTES or any(file.lacks(self._spec) for file in old):
            return False
        if old:
            seen = DeltaTable(self._log.uri, version=table.version())
            new = [file for part in joined for file in self._joined(part).end()]
            commit_files(self._spec, seen, self._tables.cluster, new, old, properties(note), are_same_rows=True)
        return True

    def vacuum(self, retain_hours: float) -> bool:
        """Remove files, of all clusters, that no version younger than `retain_hours` needs; tell whether it could."""
        table = self._tables.fitting(self._spec)
        if table is None or not _knows_its_files(table):
            return False
        DeltaTable(self._log.uri).vacuum(ceil(retain_hours), dry_run=False, full=True)
        return True

    def size_bytes(self) -> int | None:
        """Return the size of the files of the latest version, those of all clusters; None where only Spark can."""
        table = self._tables.fitting(self._spec)
        return None if table is None else sum(pa.table(table.get_add_actions())["size_bytes"].to_pylist())

    @property
    def _log(self) -> LocalLog:
        return self._tables.log(self._spec)

    def _joined(self, part: list[ClusterFile]) -> FileWriter:
        writer = FileWriter(self._spec, self._log.folder, self._tables.cluster, is_settled=part[0].is_settled)
        for file in part:
            for rows in parquet.ParquetFile(file.path).iter_batches():
                writer.write(rows)
        return writer


def _knows_its_files(table: DeltaTable) -> bool:
    """Tell whether delta-rs finds files on the disk by the names that Delta gave them; else it takes them for left."""
    return all(unquote(path).isascii() for path in pa.table(table.get_add_actions())["path"].to_pylist())


def _age(file: ClusterFile) -> tuple[str, str]:
    """Return what sorts files by when their rows were loaded: who looks for new rows leaves out the others."""
    return str(file.least.get("loaded_at", "")), file.name
