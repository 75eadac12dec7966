"""The rows of one cluster in the Delta tables: read, and added so that doing it twice is doing it once.

Several writers may be at work: runs of other clusters, whose rows lie in partitions of their own, and a run of this one
that was thought dead. An append says by a number which append of this cluster it follows (Delta's txnAppId and
txnVersion): Delta takes one append with each number, and turns away whoever looked at the table before it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from jobs.frame.keeping import Keep
from jobs.frame.row_files import named
from jobs.jvm.delta_log import Commit
from jobs.lake.conflicts import Overtaken
from jobs.lake.declared_tables import DeclaredTables, Guard
from jobs.lake.duckdb_files import note_query
from jobs.lake.landing import Landing
from jobs.lake.new_files import NewFile
from jobs.lake.rows import conforming, few, of_cluster, shaped, within_keys
from jobs.lake.signatures import signature
from jobs.lake.small_tables import SmallTables
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.given_rows import deferred, given, held
from transforms.question import Question
from transforms.wanted_rows import Wanted

BeforeLook = Callable[[TableSpec], None]
"""What is told of a table that Spark is about to look through."""


class GrowingTables(DeclaredTables):
    """The rows of one cluster in the tables below one root.

    Args:
        spark: the session.
        root: folder or URI; a table lies at `<root>/<layer>/<name>`.
        database: database that the tables are registered in; empty for none.
        cluster: cluster whose rows are read and written.
        guard: what a write stands under.
        folder: the root, if it is a folder of this machine.

    Attributes:
        is_brief: what is to be written is little.
        before_look: what is told of tables that Spark is about to look through.
    """

    def __init__(
        self, spark: SparkSession, root: str, database: str, cluster: str, guard: Guard, folder: Path | None = None
    ) -> None:
        # delta-rs writes the names of files in another way than Delta where they have such characters: what one of them
        # removes the other would still read.
        is_plain = "%" not in str(folder) and cluster.isascii()
        small = SmallTables(spark, folder, cluster) if folder and is_plain else None
        super().__init__(spark, root, database, guard, small)
        self.is_brief = False
        self.before_look: BeforeLook = lambda spec: None
        self._cluster = cluster

    def read(self, spec: TableSpec) -> DataFrame:
        """Return this cluster's rows of a table; of one that does not exist, none."""
        if self.log(spec).state() is None:
            return given(self._spark, struct_type(spec))
        small = self._small
        if small and (few := small.rows(spec)) is not None:
            return few
        self.before_look(spec)
        if small and (rows := small.in_files(spec)) is not None:
            return rows
        frame = self._spark.read.format("delta").load(self.path(spec))
        return frame.where(F.col("cluster") == self._cluster)

    def some(self, spec: TableSpec, wanted: Wanted, keep: Keep | None = None) -> DataFrame:
        """Return those of this cluster's rows of a table that are wanted; see `Lake.some`."""
        if self.log(spec).state() is None:
            return given(self._spark, wanted.kind_of(spec))
        if small := self._small:
            found = small.some(spec, wanted)
            if found is not None:
                return found
            folder = keep.folder(self._spark) if keep else None
            if folder is not None:
                picked = small.picked(spec, wanted, folder)
                asked = self._asked(spec, wanted, folder) if picked is None else picked
                if asked is not None:
                    return asked
        return wanted.of(self.read(spec))

    def in_place(self, spec: TableSpec, wanted: Wanted, keep: Keep) -> DataFrame:
        """Return those of this cluster's rows of a table that are wanted, however many; see `Lake.in_place`."""
        small, folder, asked = self._small, keep.folder(self._spark), None
        if small and folder and self.log(spec).state() is not None and small.rows(spec) is None:
            asked = self._asked(spec, wanted, folder)
        return self.some(spec, wanted, keep) if asked is None else asked

    def _asked(self, spec: TableSpec, wanted: Wanted, folder: Path) -> DataFrame | None:
        """Return rows as DuckDB's query for them, and Spark's for those who go on with Spark."""
        query = self._small.query_of(spec, wanted, folder) if self._small else None
        if query is None:
            return None
        rows = deferred(self._spark, wanted.kind_of(spec), lambda: wanted.of(self.read(spec)))
        note_query(rows, *query)
        return rows

    def answer(self, question: Question, groups: Sequence[str] | None, keep: Keep | None = None) -> DataFrame:
        """Return what is told of this cluster's rows; of some groups, or of all.

        Args:
            question: what is asked.
            groups: the groups; None = all.
            keep: keeps what is told where it is not few; None = Spark tells it.
        """
        folder = keep.folder(self._spark) if keep and self._small else None
        found = self._small.answer(question, groups, folder) if self._small else None
        if found is not None:
            return found
        rows: dict[str, Any] = {
            spec.name: question.of_table(spec, groups).of(self.read(spec)) for spec in question.read
        }
        return shaped(question.told, self._spark.sql(question.statement, **{**rows, **question.beside}))

    def answer_apart(self, question: Question, by: str, count: int, folder: Path) -> Path | None:
        """Put what is told of this cluster's rows into a folder; see `Lake.answer_apart`."""
        return self._small.answer_apart(question, by, count, folder) if self._small else None

    def append(self, spec: TableSpec, rows: DataFrame) -> int:
        """Add rows that nobody else can add: a commit that has nothing to look up before.

        Args:
            spec: the table.
            rows: columns of the table in any order, `cluster` may be missing; the table has none of their keys.

        Returns:
            Number of rows added.
        """
        return self.written(spec, lambda: self._append(spec, rows))

    def append_new(self, spec: TableSpec, rows: DataFrame, are_new: bool = False) -> int:
        """Add the rows whose key the table does not have yet.

        Args:
            spec: the table; it must have a key.
            rows: columns of the table in any order, `cluster` may be missing; unique by key.
            are_new: the table has none of them as long as nobody else writes this cluster's rows: not compared.

        Returns:
            Number of rows added; 0 leaves no new version, but where they were not compared.
        """
        rows = of_cluster(spec, rows, self._cluster)
        trust = iter((are_new,))

        def append() -> int:
            return self._append_new(spec, rows, next(trust, False))  # whom somebody overtook trusts nobody any more

        return self.written(spec, append)

    def landing(self, spec: TableSpec, at: datetime, retired: dict[str, str]) -> Landing | None:
        """Return where files of a table that exists land; None where processes of this machine cannot write them."""
        if self._small is None:
            return None
        turn = self._turn(self.log(spec).transaction(self._application))
        there = self._small.files(spec)
        if there is None:
            return None
        return Landing(spec, self._small.log(spec).folder, self._cluster, at, turn, there, retired)

    def add_files(self, landing: Landing, files: Sequence[NewFile]) -> int:
        """Add files that were written where `landing` says; their rows were compared with what was there then.

        Returns:
            Number of rows added.
        """
        spec, small = landing.spec, self._small
        assert small is not None, "there is a landing"
        trust = iter((True,))

        def add() -> int:
            if next(trust, False):
                return small.add(spec, files, self._note(), (self._application, landing.turn))
            paths = [named(landing.folder / each.path) for each in files]
            kind = StructType([field for field in struct_type(spec).toNullable() if field.name != "cluster"])
            rows = self._spark.read.schema(kind).parquet(*paths).withColumn("cluster", F.lit(self._cluster))
            return self._append_new(spec, rows, False)  # somebody came in between: they are compared once more

        return self.written(spec, add)

    @property
    def _by_delta_rs(self) -> SmallTables | None:
        """What writes without a query, if what is to be written is little."""
        return self._small if self.is_brief else None

    def _small_one(self, spec: TableSpec) -> SmallTables | None:
        """Return what writes a table that exists without a query, if it is small, too."""
        return small if (small := self._by_delta_rs) and small.rows(spec) is not None else None

    def _append_new(self, spec: TableSpec, rows: DataFrame, are_new: bool) -> int:
        last = self.log(spec).transaction(self._application)  # before the rows that are there are looked at
        turn = self._turn(last)
        if are_new or (last is None and not self.read(spec).take(1)):
            return self._append(spec, rows, turn)  # may be many: straight through
        key, there = list(spec.key), self.read(spec)
        if small := self._by_delta_rs:
            found, kind = few(spec, rows, self._cluster), struct_type(spec).toNullable()
            fresh = small.new_of(spec, found)
            if fresh is not None:
                return self._append(spec, held(self._spark, fresh, kind), turn)
            rows = held(self._spark, found, kind)
            there = there.where(within_keys(spec, found))
        new = rows.join(there.select(key), key, "left_anti").select(rows.columns)
        if self._by_delta_rs:
            return self._append(spec, new, turn)
        new = new.persist()
        try:
            return self._append(spec, new, turn) if new.count() else 0
        finally:
            new.unpersist()

    @staticmethod
    def _turn(last: int | None) -> int:
        return 0 if last is None else last + 1

    @property
    def _application(self) -> str:
        return f"rebalance-analytics/{self._cluster}"

    def _append(self, spec: TableSpec, rows: DataFrame, turn: int | None = None) -> int:
        """Add rows, as the write of this cluster that has a number; return how many they were."""
        if small := self._by_delta_rs:
            number = None if turn is None else (self._application, turn)
            return small.append(spec, few(spec, rows, self._cluster), self._note(), number)
        append = conforming(spec, of_cluster(spec, rows, self._cluster)).write.format("delta").mode("append")
        if turn is not None:
            append = append.option("txnAppId", self._application).option("txnVersion", turn)
        commit = self._saved(spec, append)
        if commit is None and turn is not None:
            raise Overtaken
        return commit.metrics.get("numOutputRows", 0) if commit else 0

    def _saved(self, spec: TableSpec, writer: DataFrameWriter) -> Commit | None:
        """Write, and return the commit that came of it."""
        log, note = self.log(spec), self._note()
        before = log.state()
        writer.option("userMetadata", note).save(self.path(spec))
        return next((each for each in log.commits(before.version if before else -1) if each.note == note), None)

    def _note(self) -> str:
        return signature(self._cluster, secrets.token_hex(8))
