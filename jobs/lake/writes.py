"""What is written to a cluster's tables: each write makes its table if need be, and tells what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from pyspark.sql import DataFrame

from jobs.lake.contents import Contents
from jobs.lake.landing import Landing
from jobs.lake.layouts import Layouts
from jobs.lake.new_files import NewFile
from jobs.lake.retired import Retired
from jobs.lake.rows import stamped
from jobs.lake.tables import Tables
from schemas.table import TableSpec
from transforms.wanted_rows import Wanted

_TABLES_AT_ONCE = 4


class Writes:
    """The verbs that change tables.

    Attributes:
        retired: what has gone of age.
        contents: what is known of the tables.
    """

    def __init__(self, tables: Tables, contents: Contents, retired: Retired) -> None:
        self.contents = contents
        self.retired = retired
        self._tables = tables
        self._layouts = Layouts(tables, contents)

    def create(self, specs: Sequence[TableSpec]) -> None:
        """Create the tables that do not exist, with the declared columns, comments and NOT NULL."""
        with ThreadPoolExecutor(_TABLES_AT_ONCE) as threads:
            list(threads.map(self._layouts.made, specs))

    def append(self, spec: TableSpec, rows: DataFrame, at: datetime, are_new: bool = False) -> int:
        """Add the rows whose key the table does not have yet.

        Args:
            spec: the table; it must have a key, and a time of loading.
            rows: columns of the table in any order; cluster and time of loading are added; unique by key. Those that
                the table would have let go of because of their age are left out.
            at: start of the run.
            are_new: the table has none of them for certain, so that they need not be compared.

        Returns:
            Number of rows added.
        """
        before = self._layouts.made(spec)
        rows = self.retired.left_out(spec, rows)
        count = self._tables.append_new(spec, stamped(spec, rows, at), are_new)
        self.contents.wrote(spec, before, count, at if count else None)
        return count

    def landing(self, spec: TableSpec, at: datetime) -> Landing | None:
        """Return where processes of this machine can put files of rows of a table, as of the start of a run.

        Returns:
            What they must know; None where only Spark can write the table.
        """
        self._layouts.made(spec)
        return self._tables.landing(spec, at, self.retired.of(spec))

    def add_files(self, landing: Landing, files: Sequence[NewFile]) -> int:
        """Add files that were written at a landing, in one commit.

        Args:
            landing: where; the table had none of their keys then.
            files: the files; with none there is no commit.

        Returns:
            Number of rows added.
        """
        before = self._layouts.made(landing.spec)
        count = self._tables.add_files(landing, files) if files else 0
        self.contents.wrote(landing.spec, before, count, landing.loaded_at if count else None)
        return count

    def add(self, spec: TableSpec, rows: DataFrame) -> int:
        """Add rows that nobody else can have added, as they are, in one commit.

        Args:
            spec: the table.
            rows: columns of the table in any order, `cluster` may be missing; the table has none of their keys.

        Returns:
            Number of rows added.
        """
        before = self._layouts.made(spec)
        count = self._tables.append(spec, rows)
        self.contents.wrote(spec, before, count)
        return count

    def update(self, spec: TableSpec, rows: DataFrame, columns: Sequence[str], at: datetime | None = None) -> int:
        """Set columns of rows that exist, by key; rows that are so already stay untouched.

        Args:
            spec: the table.
            rows: key columns and those to set; unique by key.
            columns: columns to set.
            at: start of the run, of a table that has a time of loading.

        Returns:
            Number of rows changed.
        """
        before = self._layouts.made(spec)
        if at is not None:
            rows, columns = stamped(spec, rows, at), [*columns, "loaded_at"]
        count = self._tables.update(spec, rows, columns)
        self.contents.wrote(spec, before, 0, at if count else None)
        return count

    def put(self, spec: TableSpec, rows: DataFrame, is_gone: str = "") -> int:
        """Put rows in by key, in the place of those that there are, and take others out, in one commit.

        Args:
            spec: the table.
            rows: columns of the table; unique by key.
            is_gone: name of one more column; where it is true, the row with this key is taken out. Empty = none is.

        Returns:
            Number of rows put in that were not there.
        """
        before = self._layouts.made(spec)
        put, gone = self._tables.put(spec, rows, is_gone)
        self.contents.wrote(spec, before, put - gone)
        return put

    def replace(
        self, spec: TableSpec, rows: DataFrame, where: str = "", staying: Wanted | None = None, settling: str = ""
    ) -> int:
        """Put rows in the place of those of this cluster that a condition selects, in one commit.

        Args:
            spec: the table.
            rows: columns of the table in any order, `cluster` may be missing.
            where: SQL condition; empty for all rows of the cluster.
            staying: which of the rows that it selects stay nevertheless.
            settling: SQL condition of rows that are settled by now, of those that stay; empty = none is.

        Returns:
            Number of rows put in.
        """
        before = self._layouts.made(spec)
        put, gone = self._tables.replace(spec, rows, where, staying, settling)
        self.contents.wrote(spec, before, None if gone is None else put - gone)
        return put

    def delete(self, spec: TableSpec, where: str, those: DataFrame | None = None) -> int:
        """Take out rows of this cluster.

        Args:
            spec: the table.
            where: SQL condition of the rows; with `those`, of a row `old` and one of them, `new`.
            those: rows of which at most one fits each row that is to go.

        Returns:
            Number of rows taken out.
        """
        before = self._layouts.made(spec)
        count = self._tables.delete(spec, where) if those is None else self._tables.delete_those(spec, those, where)
        self.contents.wrote(spec, before, -count)
        return count

    def compact(self, spec: TableSpec, by: Sequence[str] = ()) -> None:
        """Join this cluster's small files; with columns, lay rows together that are alike in them (Z-order)."""
        self._tables.compact(spec, by)

    def vacuum(self, spec: TableSpec, retain_hours: float) -> None:
        """Remove files, of all clusters, that no version younger than `retain_hours` needs."""
        self._tables.vacuum(spec, retain_hours)

    def size_bytes(self, spec: TableSpec) -> int:
        """Return the size of a table's files, those of all clusters."""
        return self._tables.size_bytes(spec)
