"""Rows of tables on a local disk, read and written by delta-rs without a query, where they are few.

However few they are, Spark takes a second of the driver's time for a table that it writes, and half of one for each
that a query reads: it looks for files by queries of their own. What it is given with the plan costs it next to nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.lake.local_log import LocalLog
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.errors import LakeError
from transforms.given_rows import given, held

if TYPE_CHECKING:
    from jobs.jvm.delta_log import TableState

FEW_ROWS = 20_000
"""So many rows of one cluster in one table are few."""

FEW_BYTES = 4 << 20
"""So many bytes of its files are few."""

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
        return self._logs.setdefault(spec.full_name, LocalLog(self._folder / spec.layer.value / spec.name))

    def create(self, spec: TableSpec, properties: dict[str, str]) -> None:
        """Create a table with the declared columns, comments and NOT NULL.

        Raises:
            LakeError: its place is taken by something else.
        """
        log = self.log(spec)
        if any(entry.name != "_delta_log" for entry in log.folder.glob("*")):
            raise LakeError(f"{log.folder} holds files that are no Delta table: move them elsewhere")
        log.folder.mkdir(parents=True, exist_ok=True)
        columns = to_arrow_schema(struct_type(spec))
        DeltaTable.create(
            log.uri,
            schema=columns,
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
            found = self.fetched(spec)
            frame = None if found is None else held(self._spark, found, struct_type(spec).toNullable())
            known = state, frame
            with self._turn:
                self._read[spec.full_name] = known
        return known[1]

    def fetched(self, spec: TableSpec) -> pa.Table | None:
        """Return the cluster's rows of a table that exists; None if they are not few."""
        table = self.log(spec).table()
        if table is None or table.protocol().min_reader_version > _READER_VERSION:
            return None
        if {field.name for field in table.schema().fields} != set(spec.columns) or not self._are_few(table):
            return None
        found = table.to_pyarrow_table(filters=[("cluster", "=", self._cluster)], columns=list(spec.columns))
        return found.cast(to_arrow_schema(struct_type(spec).toNullable()))

    def none_of(self, spec: TableSpec) -> DataFrame:
        """Return no row of a table."""
        return given(self._spark, struct_type(spec))

    def append(self, spec: TableSpec, rows: pa.Table, note: str, transaction: tuple[str, int] | None = None) -> int:
        """Add rows in one commit; of no row, none.

        Args:
            spec: the table.
            rows: its columns.
            note: what is noted with the commit.
            transaction: name of the writer, and number of this write of its.

        Returns:
            Number of rows.
        """
        if not rows.num_rows:
            return 0
        numbered = [Transaction(*transaction)] if transaction else None
        properties = CommitProperties(custom_metadata={"userMetadata": note}, app_transactions=numbered)
        write_deltalake(self.log(spec).uri, rows, mode="append", commit_properties=properties)
        return int(rows.num_rows)

    def replace(self, spec: TableSpec, rows: pa.Table, staying: pa.Table, note: str) -> tuple[int, int]:
        """Put rows in the place of those that the cluster has in a table, but for those that stay, in one commit.

        Returns:
            Number of rows put in, and of those taken out.
        """
        old = self.fetched(spec)
        assert old is not None, "its rows are few"
        gone = old.num_rows - staying.num_rows
        if rows.num_rows or gone:
            self._overwrite(spec, [staying, rows], note)
        return rows.num_rows, gone

    def put(self, spec: TableSpec, old: pa.Table, rows: pa.Table, is_gone: str, note: str) -> tuple[int, int]:
        """Put rows in by key, in the place of those that there are, and take others out, in one commit.

        Args:
            spec: the table.
            old: the rows that it has.
            rows: columns of the table; unique by key.
            is_gone: name of one more column; where it is true, the row with this key is taken out.
            note: what is noted with the commit.

        Returns:
            Number of rows put in that were not there, and of those taken out.
        """
        before, named = _keys(spec, old), _keys(spec, rows)
        goes = rows.column(is_gone).to_pylist()
        if not named:
            return 0, 0
        staying = old.filter(pa.array([key not in named for key in before], pa.bool_()))
        put = rows.filter(pa.array([not each for each in goes], pa.bool_()))
        self._overwrite(spec, [staying, put], note)
        found = [key in before for key in named]
        return (
            sum(not there and not gone for there, gone in zip(found, goes, strict=True)),
            sum(there and bool(gone) for there, gone in zip(found, goes, strict=True)),
        )

    def _overwrite(self, spec: TableSpec, rows: Sequence[pa.Table], note: str) -> None:
        """Put rows, those of several tables, in the place of all that the cluster has in a table."""
        kind = to_arrow_schema(struct_type(spec).toNullable())
        together = pa.concat_tables([some.select(spec.columns).cast(kind) for some in rows])
        cluster = "'" + self._cluster.replace("'", "''") + "'"
        write_deltalake(
            self.log(spec).uri,
            together,
            mode="overwrite",
            predicate=f"cluster = {cluster}",
            commit_properties=CommitProperties(custom_metadata={"userMetadata": note}),
        )

    def _are_few(self, table: DeltaTable) -> bool:
        files = pa.table(table.get_add_actions(flatten=True)).to_pylist()
        ours = [file for file in files if file["partition.cluster"] == self._cluster]
        counts = [file.get("num_records") for file in ours]
        return None not in counts and sum(counts) <= FEW_ROWS and sum(file["size_bytes"] for file in ours) <= FEW_BYTES


def _keys(spec: TableSpec, rows: pa.Table) -> dict[tuple[object, ...], None]:
    """Return the keys of rows, which are unique, in their order."""
    return dict.fromkeys(zip(*(rows.column(name).to_pylist() for name in spec.key), strict=True))
