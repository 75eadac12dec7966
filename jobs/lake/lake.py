"""What a job needs of the lake, as a few verbs, for one cluster.

Its tables are read and written here; how far the steps came is in `progress`, and what is known of the tables without
asking them in `contents`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession

from jobs.frame.keeping import Keep
from jobs.jvm.storage import Storage
from jobs.lake.contents import Contents
from jobs.lake.damaged_files import file_errors
from jobs.lake.growing_tables import BeforeLook
from jobs.lake.landing import Landing
from jobs.lake.layouts import Layouts
from jobs.lake.lease import Lease
from jobs.lake.new_files import NewFile
from jobs.lake.notes import Notes, folder_of, notes_folder
from jobs.lake.progress import Progress
from jobs.lake.registration import register
from jobs.lake.retired import Retired
from jobs.lake.rows import stamped
from jobs.lake.storage_errors import storage_errors
from jobs.lake.tables import Tables
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.errors import LakeError
from transforms.given_rows import given
from transforms.question import Question
from transforms.sql import quoted
from transforms.wanted_rows import Wanted

_TABLES_AT_ONCE = 4
_TABLE_WAIT_S = 3600
"""Longest time that another cluster's run may take to write one table."""


class Lake:
    """The tables of one cluster below one root.

    Attributes:
        spark: the session.
        root: folder or URI.
        cluster: cluster whose rows are read and written.
        notes: what the jobs note for the cluster.
        progress: how far the steps came.
        retired: what has gone of age.
        contents: what is known of the tables.
    """

    def __init__(self, spark: SparkSession, root: str, database: str, cluster: str) -> None:
        self.spark = spark
        self.root = root.rstrip("/")
        self.cluster = cluster
        self._database = database
        self._storage = Storage(spark, self.root)
        with storage_errors(f"lake {self.root}"):
            self._files, self._root_folder = self._storage.files(), self._storage.folder()
        self._lease = Lease(
            self._files, f"_locks/clusters/{self._folder}", f"cluster {cluster} of the lake {self.root}"
        )
        self._is_held = False
        self._tables = Tables(spark, self.root, database, cluster, self._guard, self._root_folder)
        notes = Notes(self._files, notes_folder(cluster))
        self.notes = notes
        self.progress = Progress(notes, self._table_id)
        self.retired = Retired(notes, self._table_id)
        self.contents = Contents(self._tables, notes, cluster)
        self._layouts = Layouts(self._tables, self.contents)

    def open(self) -> None:
        """Make sure that the root is there and can be written.

        Raises:
            LakeError: it is not.
        """
        with storage_errors(f"lake {self.root}"):
            if not self._storage.make_root():
                raise LakeError(f"lake {self.root} cannot be created")
            if self._database:
                self.spark.sql(f"CREATE DATABASE IF NOT EXISTS {quoted(self._database)}")

    def file_errors(self, specs: Sequence[TableSpec]) -> AbstractContextManager[None]:
        """Let what fails because a file is gone or damaged, of a table or a source, say which one and what to do."""
        return file_errors(self.root, self._root_folder, specs)

    @contextmanager
    def held(self, wait_s: float) -> Iterator[None]:
        """Be the only run that writes this cluster's tables.

        Args:
            wait_s: seconds to wait for another run to end.

        Raises:
            LakeError: another run is writing them.
        """
        with self._lease.held(wait_s):
            self._is_held = True
            try:
                yield
            finally:
                self._is_held = False

    @property
    def is_brief(self) -> bool:
        """What is to be written is little."""
        return self._tables.is_brief

    @contextmanager
    def brief(self, is_brief: bool, before_look: BeforeLook | None = None) -> Iterator[None]:
        """Take what is written for little, or not.

        Args:
            is_brief: it is little.
            before_look: what is told of tables that Spark is about to look through; None = whoever was.
        """
        tables = self._tables
        before = tables.is_brief, tables.before_look
        tables.is_brief, tables.before_look = is_brief, before_look or tables.before_look
        try:
            yield
        finally:
            tables.is_brief, tables.before_look = before

    def register(self, specs: Sequence[TableSpec]) -> None:
        """Register those of the tables that exist in the settings' database, if there is one.

        Raises:
            SettingsError: another table bears the name of one of them.
        """
        if self._database:
            register(self.spark, self._database, filter(self.exists, specs), self.path)

    def exists(self, spec: TableSpec) -> bool:
        """Tell whether a table has been created."""
        return self._table_id(spec) is not None

    def version(self, spec: TableSpec) -> int:
        """Return the table's latest version; -1 if it does not exist."""
        with storage_errors(spec.full_name):
            state = self._tables.log(spec).state()
        return state.version if state else -1

    def path(self, spec: TableSpec) -> str:
        """Return where a table lies."""
        return self._tables.path(spec)

    def create(self, specs: Sequence[TableSpec]) -> None:
        """Create the tables that do not exist, with the declared columns, comments and NOT NULL."""
        with ThreadPoolExecutor(_TABLES_AT_ONCE) as threads:
            list(threads.map(self._layouts.made, specs))

    def read(self, spec: TableSpec) -> DataFrame:
        """Return this cluster's rows of a table; of one that does not exist, none."""
        return self._tables.read(spec)

    def some(self, spec: TableSpec, wanted: Wanted, keep: Keep | None = None) -> DataFrame:
        """Return those of this cluster's rows of a table that are wanted: where they are few, they are here.

        Args:
            spec: the table.
            wanted: which of them.
            keep: keeps them where they are not few, if they are picked by what lies beside them; None = nobody reads
                them often enough.
        """
        return self._tables.some(spec, wanted, keep)

    def query_after(self, spec: TableSpec, load: str | None) -> str | None:
        """Return DuckDB's query for this cluster's rows that came after a load, where they lie on a local disk.

        Args:
            spec: the table; it must have a time of loading.
            load: `loaded_at` of the newest rows that are known, ISO 8601 in UTC; None = none are.

        Returns:
            The query; None where the rows are not to be had so.
        """
        return self._tables.query_after(spec, load)

    def answer(self, question: Question, groups: Sequence[str] | None) -> DataFrame:
        """Return what is told of this cluster's rows; of some groups, or of all."""
        return self._tables.answer(question, groups)

    def none_of(self, spec: TableSpec) -> DataFrame:
        """Return no row of a table, as a frame."""
        return given(self.spark, struct_type(spec))

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

    def put(self, spec: TableSpec, rows: DataFrame, is_gone: str) -> int:
        """Put rows in by key, in the place of those that there are, and take others out, in one commit.

        Args:
            spec: the table.
            rows: columns of the table; unique by key.
            is_gone: name of one more column; where it is true, the row with this key is taken out.

        Returns:
            Number of rows put in that were not there.
        """
        before = self._layouts.made(spec)
        put, gone = self._tables.put(spec, rows, is_gone)
        self.contents.wrote(spec, before, put - gone)
        return put

    def replace(self, spec: TableSpec, rows: DataFrame, where: str = "", staying: Wanted | None = None) -> int:
        """Put rows in the place of those of this cluster that a condition selects, in one commit.

        Args:
            spec: the table.
            rows: columns of the table in any order, `cluster` may be missing.
            where: SQL condition; empty for all rows of the cluster.
            staying: which of the rows that it selects stay nevertheless.

        Returns:
            Number of rows put in.
        """
        before = self._layouts.made(spec)
        put, gone = self._tables.replace(spec, rows, where, staying)
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

    def checkpoint(self, spec: TableSpec, name: str) -> str:
        """Return the folder where a stream into a table keeps how far it came; another one once the table is anew."""
        return f"{self.root}/_checkpoints/{self._folder}/{spec.name}/{self._table_id(spec)}/{name}"

    @contextmanager
    def _guard(self, spec: TableSpec) -> Iterator[None]:
        """Let one write in at a time where of two commits at once one can get lost, and none once the lease is lost."""
        if self._is_held:
            self._lease.check()
        if self._storage.are_commits_safe:
            yield
        else:
            with Lease(self._files, f"_locks/tables/{spec.full_name}", spec.full_name).held(_TABLE_WAIT_S):
                yield

    def _table_id(self, spec: TableSpec) -> str | None:
        with storage_errors(spec.full_name):
            state = self._tables.log(spec).state()
        return state.table_id if state else None

    @property
    def _folder(self) -> str:
        return folder_of(self.cluster)
