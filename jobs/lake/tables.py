"""The rows of one cluster in the Delta tables: read, added, put in the place of others, and taken out.

What is done twice is done once, see `GrowingTables`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa
from delta.tables import DeltaMergeBuilder, DeltaTable
from pyspark.sql import Column, DataFrame, Row, SparkSession

from jobs.frame.keeping import Keep, keeping
from jobs.frame.row_files import files_of, parts_of
from jobs.lake.declared_tables import Guard
from jobs.lake.growing_tables import GrowingTables
from jobs.lake.local_files import Choose, LocalFiles, small_files
from jobs.lake.rewriting import Given, Rewriting, Write
from jobs.lake.rows import conforming, fetched, few, of_cluster, settled
from jobs.lake.signatures import JOINED, signature
from jobs.lake.storage_errors import storage_errors
from jobs.lake.table_files import TableFiles, setting
from schemas.table import TableSpec
from transforms.given_rows import rows_held
from transforms.sql import literal, quoted, truth
from transforms.wanted_rows import Wanted

_Rewrite = Callable[[Rewriting, Given, Write], tuple[int, int] | None]

_ANY_ROWS = "spark.databricks.delta.replaceWhere.constraintCheck.enabled"
"""Whether Delta refuses rows that do not fulfil the condition of those in whose place they are put."""

_NOTE = "spark.databricks.delta.commitInfo.userMetadata"


class Tables(GrowingTables):
    """The rows of one cluster in the tables below one root; its arguments are those of `GrowingTables`."""

    def __init__(
        self, spark: SparkSession, root: str, database: str, cluster: str, guard: Guard, folder: Path | None = None
    ) -> None:
        super().__init__(spark, root, database, cluster, guard, folder)
        spark.conf.set(_ANY_ROWS, "false")  # a row that was not settled may be put there again as a settled one

    def update(self, spec: TableSpec, rows: DataFrame, columns: Sequence[str]) -> int:
        """Set columns of rows that exist, by key; rows that hold these values already stay untouched.

        Args:
            spec: the table.
            rows: key columns and those to set; `cluster` may be missing; unique by key.
            columns: columns to set. All but the time of loading decide whether a row is different.

        Returns:
            Number of rows changed.
        """
        rows = of_cluster(spec, rows, self._cluster)
        deciding = [quoted(name) for name in columns if name != "loaded_at"]
        differs = " OR ".join(f"NOT old.{name} <=> new.{name}" for name in deciding)

        def merge() -> int:
            merging = self._matching(spec, rows).whenMatchedUpdate(
                condition=differs, set={name: f"new.{quoted(name)}" for name in columns}
            )
            return int(self._merged(merging)["num_updated_rows"])

        return self.written(spec, merge)

    def put(self, spec: TableSpec, rows: DataFrame, is_gone: str = "") -> tuple[int, int]:
        """Put rows in by key, in the place of those that there are, and take others out, in one commit.

        Args:
            spec: the table.
            rows: columns of the table; unique by key.
            is_gone: name of one more column; where it is true, the row with this key is taken out. Empty = none is.

        Returns:
            Number of rows put in that were not there, and of those taken out.
        """
        rows = of_cluster(spec, rows, self._cluster)

        def merge() -> tuple[int, int]:
            if small := self._small_one(spec):
                return small.put(spec, fetched(rows), is_gone, self._note())
            put = self._rewritten(
                spec, rows, lambda: fetched(rows), lambda table, given, write: table.put(given, is_gone, write)
            )
            return self._put_by_delta(spec, rows, is_gone) if put is None else put

        return self.written(spec, merge)

    def _put_by_delta(self, spec: TableSpec, rows: DataFrame, is_gone: str) -> tuple[int, int]:
        values: dict[str, str | Column] = {quoted(name): f"new.{quoted(name)}" for name in spec.columns}
        goes = f"new.{quoted(is_gone)}" if is_gone else truth(False)
        merging = (
            self._matching(spec, rows)
            .whenMatchedDelete(goes)
            .whenMatchedUpdate(set=values)
            .whenNotMatchedInsert(f"NOT {goes}", values)
        )
        counted = self._merged(merging)
        return int(counted["num_inserted_rows"]), int(counted["num_deleted_rows"])

    def _matching(self, spec: TableSpec, rows: DataFrame) -> DeltaMergeBuilder:
        same_key = (f"old.{quoted(name)} = new.{quoted(name)}" for name in spec.key if name != "cluster")
        table = DeltaTable.forPath(self._spark, self.path(spec)).alias("old")
        return table.merge(rows.alias("new"), " AND ".join([f"old.cluster = {literal(self._cluster)}", *same_key]))

    def replace(
        self, spec: TableSpec, rows: DataFrame, where: str = "", staying: Wanted | None = None, settling: str = ""
    ) -> tuple[int, int | None]:
        """Put rows in the place of those of this cluster that a condition selects, in one commit.

        Args:
            spec: the table.
            rows: columns of the table in any order, `cluster` may be missing.
            where: SQL condition; empty for all rows of the cluster.
            staying: which of the rows that it selects stay nevertheless.
            settling: SQL condition of rows that are settled by now, of those that stay; empty = none is.

        Returns:
            Number of rows put in, and of those taken out, with those that stay where whole files were written anew;
            None where Delta did not count them.
        """

        def save() -> tuple[int, int | None]:
            if files_of(rows) is None and (small := self._small_one(spec)):
                return small.replace(spec, few(spec, rows, self._cluster), where, self._note(), staying, settling)
            replaced = self._rewritten(
                spec,
                rows,
                lambda: few(spec, rows, self._cluster),
                lambda table, given, write: table.replace(given, where, write, staying, settling),
            )
            if replaced is None:
                whole = self._with_staying(spec, rows, where, staying, settling)
                return self._replaced_by_delta(spec, whole, where)
            return replaced

        return self.written(spec, save)

    def _with_staying(
        self, spec: TableSpec, rows: DataFrame, where: str, staying: Wanted | None, settling: str
    ) -> DataFrame:
        """Add those rows that stay although a condition selects them, some of them settled by now."""
        if staying is None:
            return rows
        there = self.read(spec)
        kept = settled(staying.of(there.where(where) if where else there), settling)
        return kept.unionByName(of_cluster(spec, rows, self._cluster))

    def _replaced_by_delta(self, spec: TableSpec, rows: DataFrame, where: str) -> tuple[int, int | None]:
        condition = f"cluster = {literal(self._cluster)}" + (f" AND {where}" if where else "")
        whole = conforming(spec, of_cluster(spec, rows, self._cluster))
        commit = self._saved(spec, whole.write.format("delta").mode("overwrite").option("replaceWhere", condition))
        if commit is None:
            return 0, 0
        counted = commit.metrics
        return counted.get("numOutputRows", 0) - counted.get("numCopiedRows", 0), counted.get("numDeletedRows")

    def _rewritten(
        self, spec: TableSpec, rows: DataFrame, few_rows: Callable[[], pa.Table], rewrite: _Rewrite
    ) -> tuple[int, int] | None:
        """Rewrite a table on a local disk with rows; None where only Delta can do it.

        Args:
            spec: the table.
            rows: the rows.
            few_rows: gives them where they are few.
            rewrite: does it, with what goes with a write that follows those that there are before rows are looked at.
        """
        small = self._small
        if small is None or small.fitting(spec) is None:
            return None
        turn = self._turn(self.log(spec).transaction(self._application))
        with keeping() as keep:
            given = self._given(rows, few_rows, keep)
            if given is None:
                return None
            return rewrite(Rewriting(small, spec), given, Write(self._note(), (self._application, turn)))

    def _given(self, rows: DataFrame, few_rows: Callable[[], pa.Table], keep: Keep) -> Given | None:
        """Return rows as they are, if they are in files of this machine, or few; else as files that are kept."""
        if parts := parts_of(rows):
            return parts
        if self.is_brief or rows_held(rows) is not None:
            return few_rows()
        return None if keep.folder(self._spark) is None else parts_of(keep.in_columns(rows))

    def delete(self, spec: TableSpec, where: str) -> int:
        """Take out the rows of the cluster that a condition selects; return how many they were."""
        condition = f"cluster = {literal(self._cluster)} AND ({where})"
        return self.written(spec, lambda: self._deleted(spec, condition))

    def delete_those(self, spec: TableSpec, those: DataFrame, where: str) -> int:
        """Take out the rows of the cluster that are among others.

        Args:
            spec: the table.
            those: the others.
            where: SQL condition of a row `old` and one of the others, `new`; of these at most one fits a row.

        Returns:
            Number of rows taken out.
        """
        condition = f"old.cluster = {literal(self._cluster)} AND ({where})"

        def merge() -> int:
            table = DeltaTable.forPath(self._spark, self.path(spec)).alias("old")
            merging = table.merge(those.alias("new"), condition).whenMatchedDelete()
            return int(self._merged(merging)["num_deleted_rows"])

        return self.written(spec, merge)

    def compact(self, spec: TableSpec, by: Sequence[str]) -> None:
        """Join the cluster's small files; with columns, lay rows together that are alike in them (Z-order)."""
        where = f"cluster = {literal(self._cluster)}"

        def join() -> None:
            local = None if by else self._local_files(spec)
            if local is None or not local.join(signature(self._cluster, JOINED), small_files):
                TableFiles(self._spark, self.path(spec)).compact(where, by)

        self.written(spec, join)

    def join(self, spec: TableSpec, choose: Choose) -> None:
        """Join those of the cluster's files that are chosen, if that takes no query of Spark's."""
        local = self._local_files(spec)
        if local is not None:
            self.written(spec, lambda: local.join(signature(self._cluster, JOINED), choose))

    def sum_up(self, spec: TableSpec, most: int) -> None:
        """Sum a table's log up if it has so many commits since that was done, or more; elsewhere Spark does so."""
        if self._small:
            log = self._small.log(spec)
            self.written(spec, lambda: log.sum_up(most))

    def most_chosen(self, spec: TableSpec, choose: Choose) -> int:
        """Return how many files could be joined; where only Spark could, none."""
        local = self._local_files(spec)
        with storage_errors(spec.full_name):
            return max(map(len, local.chosen(choose)), default=0) if local else 0

    def vacuum(self, spec: TableSpec, retain_hours: float) -> None:
        """Remove files, of all clusters, that no version younger than `retain_hours` needs."""

        def remove() -> None:
            local = self._local_files(spec)
            if local is None or not local.vacuum(retain_hours):
                TableFiles(self._spark, self.path(spec)).vacuum(retain_hours)

        self.written(spec, remove)

    def size_bytes(self, spec: TableSpec) -> int:
        """Return the size of a table's files, those of all clusters."""
        local = self._local_files(spec)
        known = None if local is None else local.size_bytes()
        with storage_errors(spec.full_name):
            return TableFiles(self._spark, self.path(spec)).size_bytes() if known is None else known

    def _local_files(self, spec: TableSpec) -> LocalFiles | None:
        return LocalFiles(self._small, spec) if self._small else None

    def _deleted(self, spec: TableSpec, condition: str) -> int:
        log, note = self.log(spec), self._note()
        before = log.state()
        with self._noted(note):
            DeltaTable.forPath(self._spark, self.path(spec)).delete(condition)
        commits = log.commits(before.version if before else -1)
        return sum(each.metrics.get("numDeletedRows", 0) for each in commits if each.note == note)

    def _merged(self, merge: DeltaMergeBuilder) -> Row:
        with self._noted(signature(self._cluster, "merge")):
            counted: Row = merge.execute().collect()[0]
            return counted

    def _noted(self, note: str) -> AbstractContextManager[None]:
        """Let what has no options of its own note with its commits what it is."""
        return setting(self._spark, _NOTE, note)
