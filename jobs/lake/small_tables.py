"""Tables on a local disk, read and written by delta-rs without a query, where a cluster's rows are few.

However few they are, Spark takes a second of the driver's time for a table that it writes, and half of one for each
that a query reads: it looks for files by queries of their own. What it is given with the plan costs it next to nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema, Transaction, write_deltalake
from deltalake.transaction import AddAction
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.jvm.delta_log import TableState
from jobs.lake.cluster_files import ClusterFile, cluster_files
from jobs.lake.conflicts import Overtaken
from jobs.lake.found_rows import answer, found_rows
from jobs.lake.local_log import LocalLog
from jobs.lake.new_files import NewFile
from jobs.lake.rows import fetched
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.errors import LakeError
from transforms.given_rows import held, rows_held
from transforms.question import Question
from transforms.wanted_rows import Wanted

FEW_ROWS = 20_000
"""So many rows of one cluster in one table are few."""

FEW_BYTES = 4 << 20
"""So many bytes of their files are few."""

_READER_VERSION = 1
"""Of Delta's protocol: tables that want more are left to Delta."""


class SmallTables:
    """The small ones among the tables of one cluster.

    Args:
        spark: the session.
        folder: root of the tables.
        cluster: cluster whose rows are read and written.
    """

    def __init__(self, spark: SparkSession, folder: Path, cluster: str) -> None:
        self._spark = spark
        self._folder = folder
        self._cluster = cluster
        self._logs: dict[str, LocalLog] = {}
        self._read: dict[str, tuple[TableState, DataFrame | None]] = {}
        self._turn = threading.Lock()

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
        if any(entry.name != "_delta_log" for entry in log.folder.glob("*")):
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

    def rows(self, spec: TableSpec) -> DataFrame | None:
        """Return the cluster's rows of a table that exists, as they are now; None if they are not few."""
        state = self.log(spec).state()
        assert state is not None, "it exists"
        with self._turn:
            known = self._read.get(spec.full_name)
        if known is None or known[0] != state:
            found = self._found(spec, state.version)
            kind = struct_type(spec).toNullable()
            known = state, None if found is None else held(self._spark, found, kind)
            with self._turn:
                self._read[spec.full_name] = known
        return known[1]

    def some(self, spec: TableSpec, wanted: Wanted) -> DataFrame | None:
        """Return few rows of the cluster out of a table that exists, however large it is; None if they are not few."""
        files = self.files(spec)
        if files is None:
            return None
        found = found_rows(spec, files, self._cluster, wanted)
        return None if found is None else held(self._spark, found, struct_type(spec).toNullable())

    def answer(self, question: Question, groups: Sequence[str] | None) -> DataFrame | None:
        """Answer of the cluster's rows of some groups, or of all; None if too many are looked at, or told of."""
        tables = dict[TableSpec, Sequence[ClusterFile]]()
        for spec in question.read:
            files = self.files(spec)
            if files is None:
                return None
            tables[spec] = files
        found = answer(question, tables, self._cluster, groups)
        return None if found is None else held(self._spark, found, struct_type(question.told).toNullable())

    def append(self, spec: TableSpec, rows: pa.Table, note: str, transaction: tuple[str, int] | None = None) -> int:
        """Add rows to a table, however large it is, in one commit; of no row, none.

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
        properties = _properties(note, _numbered(table, transaction))
        write_deltalake(table, _sound(rows), mode="append", commit_properties=properties)
        return int(rows.num_rows)

    def files(self, spec: TableSpec) -> tuple[ClusterFile, ...] | None:
        """Return the cluster's files of a table; None if they cannot be read without Delta."""
        table = self.log(spec).table()
        if table is None:
            return ()
        return self._files_of(spec, table) if _is_fitting(spec, table) else None

    def add(self, spec: TableSpec, files: Sequence[NewFile], note: str, transaction: tuple[str, int]) -> int:
        """Add files, which are written already, to a table, however large they are, in one commit; of none, none.

        Args:
            spec: the table.
            files: rows of the cluster.
            note: what is noted with the commit.
            transaction: name of the writer, and number of this write of its.

        Returns:
            Number of rows.

        Raises:
            Overtaken: the writer's write of this number, or a later one, is there already.
        """
        if not files:
            return 0
        table, now = DeltaTable(self.log(spec).uri), round(time.time() * 1000)
        of_cluster = {"cluster": self._cluster}
        table.create_write_transaction(
            [AddAction(each.path, each.size, of_cluster, now, True, each.statistics) for each in files],
            mode="append",
            schema=table.schema(),
            partition_by=list(spec.partitions),
            commit_properties=_properties(note, _numbered(table, transaction)),
        )
        return sum(each.row_count for each in files)

    def replace(self, spec: TableSpec, rows: pa.Table, where: str, note: str) -> tuple[int, int]:
        """Put rows in the place of those of the cluster that a condition selects, in one commit; of no change, none.

        Args:
            spec: the table, which is small.
            rows: its columns.
            where: SQL condition; empty for all rows of the cluster.
            note: what is noted with the commit.

        Returns:
            Number of rows put in, and of those taken out.
        """
        frame, old, version = self._old(spec)
        staying = fetched(frame.where(~F.coalesce(F.expr(where), F.lit(False)))) if where else old.slice(length=0)
        gone = old.num_rows - staying.num_rows
        if rows.num_rows or gone:
            self._overwrite(spec, version, [staying, rows], note)
        return rows.num_rows, gone

    def put(self, spec: TableSpec, rows: pa.Table, is_gone: str, note: str) -> tuple[int, int]:
        """Put rows in by key, in the place of those that there are, and take others out, in one commit.

        Args:
            spec: the table, which is small.
            rows: its columns; unique by key.
            is_gone: name of one more column; where it is true, the row with this key is taken out.
            note: what is noted with the commit.

        Returns:
            Number of rows put in that were not there, and of those taken out.
        """
        _, old, version = self._old(spec)
        before, named = _keys(spec, old), _keys(spec, rows)
        goes = [bool(each) for each in rows.column(is_gone).to_pylist()]
        staying = old.filter(pa.array((key not in named for key in before), pa.bool_()))
        stays = rows.filter(pa.array((not each for each in goes), pa.bool_()))
        if named:
            self._overwrite(spec, version, [staying, stays], note)
        of_each = list(zip((key in before for key in named), goes, strict=True))
        return of_each.count((False, False)), of_each.count((True, True))

    def _old(self, spec: TableSpec) -> tuple[DataFrame, pa.Table, int]:
        """Return the cluster's rows of a small table, as a frame and as they are, and the version that has them."""
        frame = self.rows(spec)
        assert frame is not None, "it is small"
        return frame, rows_held(frame), self._read[spec.full_name][0].version

    def _overwrite(self, spec: TableSpec, version: int, parts: Sequence[pa.Table], note: str) -> None:
        """Put rows in the place of all that the cluster has in a table, unless they changed since a version."""
        kind = to_arrow_schema(struct_type(spec).toNullable())
        cluster = "'" + self._cluster.replace("'", "''") + "'"
        write_deltalake(
            DeltaTable(self.log(spec).uri, version=version),
            _sound(pa.concat_tables([part.select(spec.columns).cast(kind) for part in parts])),
            mode="overwrite",
            predicate=f"cluster = {cluster}",
            commit_properties=_properties(note),
        )

    def _found(self, spec: TableSpec, version: int) -> pa.Table | None:
        table = DeltaTable(self.log(spec).uri, version=version)
        if not _is_fitting(spec, table) or not _are_few(self._files_of(spec, table)):
            return None
        found = table.to_pyarrow_table(filters=[("cluster", "=", self._cluster)], columns=list(spec.columns))
        return found.cast(to_arrow_schema(struct_type(spec).toNullable()))

    def _files_of(self, spec: TableSpec, table: DeltaTable) -> tuple[ClusterFile, ...]:
        return cluster_files(table, self.log(spec).folder, self._cluster)


def _are_few(files: Sequence[ClusterFile]) -> bool:
    counts = [file.row_count for file in files]
    size = sum(file.size for file in files)
    return all(each is not None for each in counts) and sum(filter(None, counts)) <= FEW_ROWS and size <= FEW_BYTES


def _is_fitting(spec: TableSpec, table: DeltaTable) -> bool:
    """Tell whether a table is laid out as it is declared, and can be read without Delta."""
    if table.protocol().min_reader_version > _READER_VERSION:
        return False
    names = {field.name for field in table.schema().fields}
    return names == set(spec.columns) and table.metadata().partition_columns == list(spec.partitions)


def _sound(rows: pa.Table) -> pa.Table:
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


def _numbered(table: DeltaTable, transaction: tuple[str, int] | None) -> list[Transaction] | None:
    if transaction is None:
        return None
    last = table.transaction_version(transaction[0])
    if last is not None and last >= transaction[1]:
        raise Overtaken
    return [Transaction(*transaction)]


def _properties(note: str, numbered: list[Transaction] | None = None) -> CommitProperties:
    return CommitProperties(custom_metadata={"userMetadata": note}, app_transactions=numbered)


def _keys(spec: TableSpec, rows: pa.Table) -> dict[tuple[object, ...], None]:
    """Return the keys of rows, which are unique, in their order."""
    return dict.fromkeys(zip(*(rows.column(name).to_pylist() for name in spec.key), strict=True))
