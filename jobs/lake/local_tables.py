"""Tables on a local disk, read and written by delta-rs and DuckDB without a query of Spark's, however large they are.

What is read of them is little, and what is written. However little that is, Spark takes a second of the driver's time
for a table that it writes, and half of one for each that a query reads: it looks for files by queries of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, Schema, write_deltalake
from pyspark.sql import DataFrame, SparkSession

from jobs.frame.row_files import of_files
from jobs.jvm.delta_log import TableState
from jobs.lake.answers import answer, answer_apart
from jobs.lake.by_version import ByVersion
from jobs.lake.cluster_files import ClusterFile, cluster_files
from jobs.lake.found_rows import found_rows, new_rows, picked_rows, query_of
from jobs.lake.local_commits import commit_files, number, properties
from jobs.lake.local_log import LocalLog
from jobs.lake.new_files import NewFile
from jobs.lake.spark_files import rows_in_files
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.errors import LakeError
from transforms.given_rows import held
from transforms.question import Question
from transforms.wanted_rows import Wanted

_READER_VERSION = 1
"""Of Delta's protocol: tables that want more are left to Delta."""


class LocalTables:
    """The tables of one cluster on a local disk.

    Args:
        spark: the session.
        folder: root of the tables.
        cluster: cluster whose rows are read and written.

    Attributes:
        cluster: the same.
    """

    def __init__(self, spark: SparkSession, folder: Path, cluster: str) -> None:
        self._spark = spark
        self._folder = folder
        self.cluster = cluster
        self._logs: dict[str, LocalLog] = {}
        self._turn = threading.Lock()
        self._in_files = ByVersion[DataFrame | None]()

    def log(self, spec: TableSpec) -> LocalLog:
        """Return a table's log."""
        with self._turn:
            return self._logs.setdefault(spec.full_name, LocalLog(self._folder / spec.layer.value / spec.name))

    def create(self, spec: TableSpec, properties: Mapping[str, str]) -> None:
        """Create a table with the declared columns, comments and NOT NULL.

        Raises:
            LakeError: its place is taken by something else.
        """
        log = self.log(spec)
        has_files = any(entry.name != "_delta_log" for entry in log.folder.glob("*"))
        # Asked after the files were seen: another run may have created the table and begun to fill it meanwhile.
        if has_files and log.table() is None:
            raise LakeError(f"{log.folder} holds files that are no Delta table: move them elsewhere")
        log.folder.mkdir(parents=True, exist_ok=True)
        DeltaTable.create(
            log.uri,
            schema=Schema.from_json(struct_type(spec).json()),
            mode="ignore",
            partition_by=list(spec.partitions),
            description=spec.grain,
            configuration=properties,
        )

    def files(self, spec: TableSpec) -> tuple[ClusterFile, ...] | None:
        """Return the cluster's files of a table; None if they cannot be read without Delta."""
        table = self.log(spec).table()
        if table is None:
            return ()
        return self._files_of(spec, table) if is_fitting(spec, table) else None

    def fitting(self, spec: TableSpec) -> DeltaTable | None:
        """Return a table as it is now, not to be changed; None where there is none, or it takes Delta to read it."""
        table = self.log(spec).table()
        return table if table is not None and is_fitting(spec, table) else None

    def in_files(self, spec: TableSpec) -> DataFrame | None:
        """Return the cluster's rows of a table that exists, as they are now; None if they are for Delta to read."""

        def find() -> DataFrame | None:
            files = self.files(spec)
            if files is None:
                return None
            return rows_in_files(self._spark, spec, files, self.log(spec).folder, self.cluster)

        return self._in_files.of(spec, self._state(spec), find)

    def query_of(self, spec: TableSpec, wanted: Wanted, folder: Path) -> tuple[str, int] | None:
        """Return DuckDB's query for rows of the cluster that are wanted, and how many bytes it looks through.

        What lies beside them is put into the folder. None where DuckDB cannot read the files, or there are none.
        """
        return query_of(spec, self.files(spec) or (), self.cluster, wanted, folder)

    def some(self, spec: TableSpec, wanted: Wanted) -> DataFrame | None:
        """Return few rows of the cluster out of a table that exists; None if they are not few."""
        files = self.files(spec)
        if files is None:
            return None
        found = found_rows(spec, files, self.cluster, wanted)
        return None if found is None else held(self._spark, found, wanted.kind_of(spec))

    def picked(self, spec: TableSpec, wanted: Wanted, folder: Path) -> DataFrame | None:
        """Return rows of the cluster that lie beside others, out of a file in a folder; None if Spark has to pick."""
        files = self.files(spec)
        found = None if files is None else picked_rows(spec, files, self.cluster, wanted, folder)
        return None if found is None else of_files(self._spark, found, wanted.kind_of(spec))

    def answer(self, question: Question, groups: Sequence[str] | None, folder: Path | None = None) -> DataFrame | None:
        """Answer of the cluster's rows of some groups, or of all; None if too many are looked at, or told of.

        With a folder, many may be told of: they are put into a file there.
        """
        tables = self._read_by(question)
        found = None if tables is None else answer(question, tables, self.cluster, groups, folder)
        if isinstance(found, str):
            return of_files(self._spark, (found,), question.told)
        return None if found is None else held(self._spark, found, question.told.toNullable())

    def answer_apart(self, question: Question, by: str, count: int, folder: Path) -> Path | None:
        """Put what is told of the cluster's rows into a folder; see `Lake.answer_apart`. None if DuckDB cannot."""
        tables = self._read_by(question)
        return None if tables is None else answer_apart(question, tables, self.cluster, by, count, folder)

    def _read_by(self, question: Question) -> dict[TableSpec, Sequence[ClusterFile]] | None:
        """Return the cluster's files of the tables that are read; None if they are not known of all."""
        tables = dict[TableSpec, Sequence[ClusterFile]]()
        for spec in question.read:
            files = self.files(spec)
            if files is None:
                return None
            tables[spec] = files
        return tables

    def new_of(self, spec: TableSpec, rows: pa.Table) -> pa.Table | None:
        """Return those of some rows whose keys the cluster has not in a table; None if too much is looked through."""
        files = self.files(spec)
        return None if files is None else new_rows(spec, files, self.cluster, rows)

    def append(self, spec: TableSpec, rows: pa.Table, note: str, transaction: tuple[str, int] | None = None) -> int:
        """Add rows to a table in one commit; of no row, none.

        Args:
            spec: the table.
            rows: its columns.
            note: what is noted with the commit.
            transaction: name of the writer, and number of this write of its.

        Returns:
            Number of rows.

        Raises:
            Overtaken: the writer's write of this number, or a later one, is there already.
        """
        if not rows.num_rows:
            return 0
        table = DeltaTable(self.log(spec).uri)
        numbered = properties(note, number(table, transaction))
        write_deltalake(table, sound(rows), mode="append", commit_properties=numbered)
        return int(rows.num_rows)

    def add(self, spec: TableSpec, files: Sequence[NewFile], note: str, transaction: tuple[str, int]) -> int:
        """Add files, which are written already, to a table in one commit, as `append` adds rows; of none, none."""
        if not files:
            return 0
        table = DeltaTable(self.log(spec).uri)
        commit_files(spec, table, self.cluster, files, (), properties(note, number(table, transaction)))
        return sum(each.row_count for each in files)

    def _state(self, spec: TableSpec) -> TableState:
        state = self.log(spec).state()
        assert state is not None, "it exists"
        return state

    def _files_of(self, spec: TableSpec, table: DeltaTable) -> tuple[ClusterFile, ...]:
        return cluster_files(table, self.log(spec).folder, self.cluster)


def is_fitting(spec: TableSpec, table: DeltaTable) -> bool:
    """Tell whether a table is laid out as it is declared, and can be read without Delta."""
    if table.protocol().min_reader_version > _READER_VERSION:
        return False
    names = {field.name for field in table.schema().fields}
    return names == set(spec.columns) and table.metadata().partition_columns == list(spec.partitions)


def sound(rows: pa.Table) -> pa.Table:
    """Return rows whose lists and texts all have offsets, be there none of them.

    Those that come from the JVM may lack the one offset of an empty list; delta-rs reads it nevertheless, and panics.
    """
    if not rows.num_rows:
        return rows.schema.empty_table()
    columns = [
        pa.array(column.to_pylist(), column.type) if pa.types.is_nested(column.type) else column.combine_chunks()
        for column in rows.columns
    ]
    return pa.table(columns, schema=rows.schema)
