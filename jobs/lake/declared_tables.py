"""The Delta tables as they are declared: where they lie, created, and brought up to what a release declares."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from jobs.jvm.delta_log import DeltaLog, TableLog
from jobs.lake.conflicts import Overtaken, retried
from jobs.lake.new_files import sought_columns
from jobs.lake.small_tables import SmallTables
from jobs.lake.storage_errors import storage_errors
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.errors import LakeError
from transforms.sql import literal, quoted

T = TypeVar("T")

Guard = Callable[[TableSpec], AbstractContextManager[None]]
"""What a write to a table stands under: it lets one process in at a time where the storage cannot."""

_NOT_EMPTY = ("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", "DELTA_MISSING_DELTA_TABLE")
"""What Delta says of a folder with files and no commit: a stranger's, or those of whoever is creating the table."""


class DeclaredTables:
    """The tables below one root.

    Args:
        spark: the session.
        root: folder or URI; a table lies at `<root>/<layer>/<name>`.
        database: database that the tables are registered in; empty for none.
        guard: what a write stands under.
        small: what reads and writes small tables without a query, where there is such a thing.
    """

    def __init__(self, spark: SparkSession, root: str, database: str, guard: Guard, small: SmallTables | None) -> None:
        self._small = small
        self._spark = spark
        self._root = root
        self._database = database
        self._guard = guard

    def path(self, spec: TableSpec) -> str:
        """Return where a table lies."""
        return f"{self._root}/{spec.layer.value}/{spec.name}"

    def log(self, spec: TableSpec) -> TableLog:
        """Return a table's log."""
        return self._small.log(spec) if self._small else self._delta_log(spec)

    def _delta_log(self, spec: TableSpec) -> DeltaLog:
        return DeltaLog(self._spark, self.path(spec))

    def create(self, spec: TableSpec) -> bool:
        """Create a table with the declared columns, comments and NOT NULL; tell whether it was not there."""
        if self.log(spec).state() is not None:
            return False
        return self.written(spec, lambda: self._create(spec))

    def is_fitting(self, spec: TableSpec) -> bool:
        """Tell whether a table has all declared columns, and lies in the declared partitions."""
        layout = self.log(spec).layout()
        return layout.partitions == spec.partitions and set(spec.columns) <= set(layout.columns)

    def add_columns(self, spec: TableSpec) -> None:
        """Add the declared columns that a table of an earlier release lacks; they are null in the rows it has."""

        def alter() -> None:
            there = self.log(spec).layout().columns
            new = [field for field in struct_type(spec) if field.name not in there]
            added = [
                f"{quoted(field.name)} {field.dataType.simpleString()} "
                f"COMMENT {literal(spec.column(field.name).meaning)}"
                for field in new
            ]
            if added:
                self._spark.sql(f"ALTER TABLE delta.{quoted(self.path(spec))} ADD COLUMNS ({', '.join(added)})")

        self.written(spec, alter)

    def make_anew(self, spec: TableSpec) -> str:
        """Put an empty table as it is declared in the place of one of an earlier release; return where that is now."""

        def replace() -> str:
            log = self._delta_log(spec)
            state = log.state()
            aside = f"{self._root}/_earlier/{spec.layer.value}/{spec.name}-{state.table_id if state else 'none'}"
            log.move(aside)
            self._create(spec)
            return aside

        return self.written(spec, replace)

    def written(self, spec: TableSpec, write: Callable[[], T]) -> T:
        """Do what writes to a table, as all writes are done: under the guard, and again if another one came first."""
        with storage_errors(spec.full_name), self._guard(spec):
            return retried(write, spec.full_name)

    def _create(self, spec: TableSpec) -> bool:
        sought = sought_columns(spec)
        statistics = {"delta.dataSkippingStatsColumns": ",".join(map(quoted, sought))}
        if self._small and not self._database:
            self._small.create(spec, statistics)
            return True
        builder = DeltaTable.createIfNotExists(self._spark).location(self.path(spec)).comment(spec.grain)
        if self._database:
            builder = builder.tableName(f"{quoted(self._database)}.{quoted(spec.name)}")
        for name, value in statistics.items():
            builder = builder.property(name, value)
        builder = builder.addColumns(struct_type(spec)).partitionedBy(*spec.partitions)
        try:
            builder.execute()
        except AnalysisException as error:
            if error.getCondition() not in _NOT_EMPTY:
                raise
            if self._delta_log(spec).is_begun():
                raise Overtaken from error
            raise LakeError(f"{self.path(spec)} holds files that are no Delta table: move them elsewhere") from error
        return True
