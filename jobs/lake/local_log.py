"""What the log of a Delta table on a local disk says, read by delta-rs: Delta itself takes a query for some of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from jobs.jvm.delta_log import Commit, Layout, TableState, commit_of


class LocalLog:
    """The log of the table in a folder, which need not exist.

    Attributes:
        folder: where the table lies.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: tuple[DeltaTable, os.stat_result] | None = None

    @property
    def uri(self) -> str:
        """Where the table lies, as delta-rs wants it."""
        return self.folder.as_uri()

    def table(self) -> DeltaTable | None:
        """Return the table as it is now, not to be changed; None if there is none.

        Raises:
            DeltaError: the log cannot be read; or its latest commit is empty, as a machine that lost its power leaves
                a file. All readers take that for a commit of nothing, and what it had put into the table would be lost
                without a word.
        """
        seen = self._seen
        if seen is not None and self._is_latest(*seen):
            return seen[0]
        try:
            table = DeltaTable(self.uri)
        except TableNotFoundError:
            return None
        latest = self._commit(table.version())
        written = latest.stat()
        if not written.st_size:
            raise DeltaError(f"{latest} is empty")
        self._seen = table, written
        return table

    def state(self) -> TableState | None:
        """Return what the table is at now; None if there is none."""
        table = self.table()
        return None if table is None else TableState(str(table.metadata().id), table.version())

    def layout(self) -> Layout:
        """Return how the table is laid out now."""
        table = self._existing()
        return Layout(tuple(field.name for field in table.schema().fields), tuple(table.metadata().partition_columns))

    def transaction(self, application: str) -> int | None:
        """Return the number of the last write of an application, as the writer gave it; None before the first."""
        found: int | None = self._existing().transaction_version(application)
        return found

    def commits(self, after: int) -> Iterator[Commit]:
        """Yield the commits later than a version, oldest first, up to one that is gone by now, as old ones may be."""
        for version in range(after + 1, self._existing().version() + 1):
            try:
                text = self._commit(version).read_text(encoding="utf-8")
            except FileNotFoundError:
                return
            yield commit_of(version, text.splitlines())

    def sum_up(self, most: int) -> None:
        """Write a checkpoint, if so many commits have come since the last one, or more: all that a reader has to read.

        Spark's own writer does so after ten commits, delta-rs after a hundred.
        """
        table = self.table()
        if table is not None and table.version() - self._checkpoint() >= most:
            table.create_checkpoint()

    def _checkpoint(self) -> int:
        """Return the version that the last checkpoint is of; before the first, that before all."""
        try:
            told = json.loads((self.folder / "_delta_log" / "_last_checkpoint").read_text(encoding="utf-8"))
            return int(told["version"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return -1

    def _existing(self) -> DeltaTable:
        table = self.table()
        if table is None:
            raise FileNotFoundError(f"there is no table at {self.folder}")
        return table

    def _is_latest(self, table: DeltaTable, written: os.stat_result) -> bool:
        """Tell whether nobody has written to the table since, nor made it anew."""
        try:
            now = self._commit(table.version()).stat()
        except FileNotFoundError:
            return False
        is_same = (now.st_ino, now.st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
        return is_same and not self._commit(table.version() + 1).exists()

    def _commit(self, version: int) -> Path:
        return self.folder / "_delta_log" / f"{version:020}.json"
