"""What a job needs of the lake, as a few verbs, for one cluster.

Its tables are read here and written by `writes`; how far the steps came is in `progress`, and what is known of the
tables without asking them in `contents`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from jobs.frame.keeping import Keep
from jobs.jvm.storage import Storage
from jobs.lake import passing
from jobs.lake.contents import Contents
from jobs.lake.damaged_files import file_errors
from jobs.lake.growing_tables import BeforeLook
from jobs.lake.lease import Lease
from jobs.lake.notes import Notes, folder_of, notes_folder
from jobs.lake.progress import Progress
from jobs.lake.registration import register
from jobs.lake.retired import Retired
from jobs.lake.storage_errors import storage_errors
from jobs.lake.tables import Tables
from jobs.lake.writes import Writes
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.errors import LakeError, RebalanceError
from transforms.given_rows import given
from transforms.question import Question
from transforms.sql import quoted
from transforms.wanted_rows import Wanted

log = logging.getLogger(__name__)

_TABLE_WAIT_S = 3600
"""Longest time that another cluster's run may take to write one table."""


class Lake(Writes):
    """The tables of one cluster below one root.

    Attributes:
        spark: the session.
        root: folder or URI.
        cluster: cluster whose rows are read and written.
        notes: what the jobs note for the cluster.
        progress: how far the steps came.
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
        self.notes = notes = Notes(self._files, notes_folder(cluster))
        self.progress = Progress(notes, self._table_id)
        tables = Tables(spark, self.root, database, cluster, self._guard, self._root_folder)
        super().__init__(tables, Contents(tables, notes, cluster), Retired(notes, self._table_id))

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

    def read(self, spec: TableSpec) -> DataFrame:
        """Return this cluster's rows of a table; of one that does not exist, none."""
        return self._tables.read(spec)

    def some(self, spec: TableSpec, wanted: Wanted, keep: Keep | None = None) -> DataFrame:
        """Return those of this cluster's rows of a table that are wanted: where they are few, they are here.

        Args:
            spec: the table.
            wanted: which of them.
            keep: keeps them where they are not few, if they are picked by what lies beside them; what is too much for
                that is asked where it lies. None = nobody reads them often enough.
        """
        return self._tables.some(spec, wanted, keep)

    def in_place(self, spec: TableSpec, wanted: Wanted, keep: Keep) -> DataFrame:
        """Return those of this cluster's rows of a table that are wanted, however many, where they lie.

        Nothing is read of a table that is not small before somebody asks for its rows, and then no more than is asked
        for: that suits rows that are most of their table.

        Args:
            spec: the table.
            wanted: which of them.
            keep: keeps what lies beside them.
        """
        return self._tables.in_place(spec, wanted, keep)

    def answer(self, question: Question, groups: Sequence[str] | None, keep: Keep | None = None) -> DataFrame:
        """Return what is told of this cluster's rows; of some groups, or of all.

        Args:
            question: what is asked.
            groups: the groups; None = all.
            keep: keeps what is told where it is not few; None = nobody reads it often enough.
        """
        return self._tables.answer(question, groups, keep)

    def answer_apart(self, question: Question, by: str, count: int, folder: Path) -> Path | None:
        """Put what is told of this cluster's rows, however many, into a folder of this machine, part by part.

        Args:
            question: what is asked.
            by: column by whose values the rows are parted.
            count: into so many parts.
            folder: where they are put.

        Returns:
            Folder that `duckdb_files.part_in` knows the parts in; None where only Spark can tell of the rows.
        """
        return self._tables.answer_apart(question, by, count, folder)

    def tidy_in_passing(self, specs: Sequence[TableSpec]) -> None:
        """Join small files of a few of those tables that have many, and sum logs up, if that takes no query of Spark's.

        With which table it cannot be done is said; it ends no run, and keeps no other table from it.

        Args:
            specs: tables, which need not exist.
        """
        passing.tidy(self._tables, specs, self._said)

    @contextmanager
    def _said(self, spec: TableSpec) -> Iterator[None]:
        """Say that a table could not be tidied, and go on."""
        try:
            with self.file_errors([spec]):
                yield
        except (RebalanceError, OSError) as error:
            log.warning("%s could not be tidied: %s", spec.full_name, error)

    def none_of(self, spec: TableSpec) -> DataFrame:
        """Return no row of a table, as a frame."""
        return given(self.spark, struct_type(spec))

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
