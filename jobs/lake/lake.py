"""Delta tables of the lake, seen from one cluster: read, add what is new, replace, and remember how far a step came.

All writes are such that doing them twice is the same as doing them once, and a write that changes nothing leaves no
new version. How far a derived step has read is a property of the last table it writes: it goes with the table if that
is deleted, and outlives the table's history.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from functools import reduce
from typing import Any
from urllib.parse import quote

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transforms.errors import LakeError
from jobs.lake.storage_errors import storage_errors
from schemas.spark import spark_type, struct_type
from schemas.table import TableSpec

_PROGRESS = "rebalance.progress"
Progress = dict[str, Any]


class Lake:
    """The tables of one cluster below one root.

    Attributes:
        spark: the session.
        root: folder or URI.
        database: database that the tables are registered in; empty for none.
        cluster: cluster whose rows are read and written.
    """

    def __init__(self, spark: SparkSession, root: str, database: str, cluster: str) -> None:
        self.spark = spark
        self.root = root.rstrip("/")
        self.database = database
        self.cluster = cluster
        self._untouched: set[str] = set()
        self._noted: set[str] = set()
        self._newest: dict[str, str | None] = {}

    def open(self) -> None:
        """Make sure that the root is there and can be written.

        Raises:
            LakeError: it is not.
        """
        with storage_errors(f"lake {self.root}"):
            jvm: Any = self.spark.sparkContext._jvm
            conf = self.spark.sparkContext._jsc.hadoopConfiguration()
            root = jvm.org.apache.hadoop.fs.Path(self.root)
            file_system = root.getFileSystem(conf)
            if not file_system.mkdirs(root):
                raise LakeError(f"lake {self.root} cannot be created")
            file_system.access(root, jvm.org.apache.hadoop.fs.permission.FsAction.READ_WRITE)
            if self.database:
                self.spark.sql(f"CREATE DATABASE IF NOT EXISTS {_quoted(self.database)}")

    def path(self, spec: TableSpec) -> str:
        """Return where a table lies."""
        return f"{self.root}/{spec.layer.value}/{spec.name}"

    def exists(self, spec: TableSpec) -> bool:
        """Tell whether a table has been created."""
        return DeltaTable.isDeltaTable(self.spark, self.path(spec))

    def create(self, specs: Sequence[TableSpec]) -> None:
        """Create the tables that do not exist, with the declared columns, comments and NOT NULL."""
        with storage_errors(f"lake {self.root}"), ThreadPoolExecutor(4) as threads:
            list(threads.map(self._create, [spec for spec in specs if not self.exists(spec)]))

    def read(self, spec: TableSpec) -> DataFrame:
        """Return this cluster's rows of a table; of one that does not exist, none."""
        if not self.exists(spec):
            return self.spark.createDataFrame([], struct_type(spec))
        frame = self.spark.read.format("delta").load(self.path(spec))
        return frame.where(F.col("cluster") == self.cluster)

    def append_new(self, spec: TableSpec, rows: DataFrame) -> int:
        """Add the rows whose key the table does not have yet.

        Args:
            spec: the table; it must have a key.
            rows: columns of the table in any order, `cluster` may be missing; unique by key.

        Returns:
            Number of rows added; 0 leaves no new version.
        """
        rows = self._conform(spec, rows)
        self.create([spec])
        with storage_errors(spec.full_name):
            if self._is_empty(spec):
                before = self._version_before(spec)
                rows.write.format("delta").mode("append").save(self.path(spec))
                return self._rows_written_since(spec, before)
            same_key = " AND ".join(f"old.{_quoted(name)} = new.{_quoted(name)}" for name in spec.key)
            table = DeltaTable.forPath(self.spark, self.path(spec)).alias("old")
            counts = table.merge(rows.alias("new"), same_key).whenNotMatchedInsertAll().execute()
            return int(_affected(counts, "num_inserted_rows"))

    def update(self, spec: TableSpec, rows: DataFrame, columns: Sequence[str]) -> int:
        """Set columns of rows that exist, by key; rows that hold these values already stay untouched.

        Args:
            spec: the table.
            rows: key columns and those to set; `cluster` may be missing; unique by key.
            columns: columns to set. The first one decides whether a row is different.

        Returns:
            Number of rows changed.
        """
        rows = self._with_cluster(spec, rows)
        same_key = " AND ".join(f"old.{_quoted(name)} = new.{_quoted(name)}" for name in spec.key)
        differs = f"NOT old.{_quoted(columns[0])} <=> new.{_quoted(columns[0])}"
        with storage_errors(spec.full_name):
            table = DeltaTable.forPath(self.spark, self.path(spec)).alias("old")
            merge = table.merge(rows.alias("new"), same_key).whenMatchedUpdate(
                condition=differs, set={name: f"new.{_quoted(name)}" for name in columns}
            )
            return int(_affected(merge.execute(), "num_updated_rows"))

    def replace(self, spec: TableSpec, rows: DataFrame, where: str = "") -> int:
        """Put rows in the place of those of this cluster that a condition selects, in one commit.

        Args:
            spec: the table.
            rows: columns of the table in any order, `cluster` may be missing; all of them fulfil `where`.
            where: SQL condition; empty for all rows of the cluster.

        Returns:
            Number of rows put in.
        """
        rows = self._conform(spec, rows)
        condition = f"cluster = {_literal(self.cluster)}" + (f" AND {where}" if where else "")
        self.create([spec])
        with storage_errors(spec.full_name):
            before = self._version_before(spec)
            writer = rows.write.format("delta").mode("overwrite").option("replaceWhere", condition)
            writer.save(self.path(spec))
            return self._rows_written_since(spec, before)

    def compact(self, spec: TableSpec, retain_hours: float) -> None:
        """Join small files, and remove those that no version younger than `retain_hours` needs."""
        with storage_errors(spec.full_name):
            table = DeltaTable.forPath(self.spark, self.path(spec))
            table.optimize().executeCompaction()
            table.vacuum(retain_hours)

    def version(self, spec: TableSpec) -> int:
        """Return the table's latest version; -1 if it does not exist."""
        return int(self._last_commit(spec)["version"]) if self.exists(spec) else -1

    def checkpoint(self, spec: TableSpec, name: str) -> str:
        """Return the folder where a stream into a table keeps how far it came; another one once the table is anew."""
        with storage_errors(spec.full_name):
            table_id = DeltaTable.forPath(self.spark, self.path(spec)).detail().select("id").collect()[0]["id"]
        return f"{self.root}/_checkpoints/{quote(self.cluster, safe='')}/{spec.name}/{table_id}/{name}"

    def progress(self, step: str, outputs: Sequence[TableSpec]) -> Progress | None:
        """Return what a step noted when it was last through, or None if it has to begin anew.

        Args:
            step: name of the step.
            outputs: all tables that the step writes; the note lies in the last one, and counts only if none was gone,
                not even if it has been created anew by now.
        """
        is_anew = step not in self._noted and any(spec.name in self._untouched for spec in outputs)
        if is_anew or not all(map(self.exists, outputs)):
            return None
        return self._note(step, outputs)

    def _note(self, step: str, outputs: Sequence[TableSpec]) -> Progress | None:
        with storage_errors(outputs[-1].full_name):
            found = self.spark.sql(f"SHOW TBLPROPERTIES {self._sql_name(outputs[-1])}").collect()
        values = {row["key"]: row["value"] for row in found}
        note = values.get(self._progress_key(step))
        return json.loads(note) if note is not None else None

    def note_progress(self, step: str, outputs: Sequence[TableSpec], note: Progress) -> None:
        """Note how far a step came, after its last write; the same note again leaves no new version."""
        self._noted.add(step)
        if self._note(step, outputs) == note:
            return
        pair = f"{_literal(self._progress_key(step))} = {_literal(json.dumps(note, sort_keys=True))}"
        with storage_errors(outputs[-1].full_name):
            self.spark.sql(f"ALTER TABLE {self._sql_name(outputs[-1])} SET TBLPROPERTIES ({pair})")

    def newest_load(self, specs: Sequence[TableSpec]) -> dict[str, str | None]:
        """Return the greatest `loaded_at` of each table, as ISO 8601 in UTC to the microsecond.

        Each table is asked once; later loads are known from `note_load`.
        """
        unknown = [spec for spec in specs if spec.full_name not in self._newest]
        self._newest.update({spec.full_name: None for spec in unknown})
        parts = [
            self.read(spec).agg(F.max(F.unix_micros("loaded_at")).alias("at")).select(F.lit(spec.full_name), "at")
            for spec in unknown
            if self.exists(spec) and spec.name not in self._untouched
        ]
        with storage_errors(f"lake {self.root}"):
            found = reduce(DataFrame.unionAll, parts).collect() if parts else []
        self._newest.update({name: _iso(at) for name, at in found})
        return {spec.full_name: self._newest[spec.full_name] for spec in specs}

    def note_load(self, spec: TableSpec, at: datetime) -> None:
        """Remember that rows with this `loaded_at` were added."""
        self._newest[spec.full_name] = at.isoformat(timespec="microseconds")

    def count_rows(self, specs: Sequence[TableSpec]) -> dict[str, int]:
        """Return the number of this cluster's rows of each table, in one query."""
        parts = [
            self.read(spec).agg(F.count("*").alias("rows")).select(F.lit(spec.full_name), "rows") for spec in specs
        ]
        with storage_errors(f"lake {self.root}"):
            return {name: int(rows) for name, rows in reduce(DataFrame.unionAll, parts).collect()}

    def next_load_time(self, specs: Sequence[TableSpec]) -> datetime:
        """Return the time for the rows of a run: now, but later than all rows that these tables hold.

        A clock that was set back must not make rows older than what later steps have read already.
        """
        newest = [datetime.fromisoformat(at) for at in self.newest_load(specs).values() if at is not None]
        now = datetime.now(timezone.utc)
        now = now.replace(microsecond=now.microsecond // 1000 * 1000)
        return max([now, *(at + timedelta(milliseconds=1) for at in newest)])

    def _create(self, spec: TableSpec) -> None:
        builder = DeltaTable.createIfNotExists(self.spark).location(self.path(spec)).comment(spec.grain)
        if self.database:
            builder = builder.tableName(f"{_quoted(self.database)}.{_quoted(spec.name)}")
        # Rows are sought by these; least and greatest values of all others would be computed for nothing.
        sought = [name for name in dict.fromkeys((*spec.key, "group_id", "loaded_at")) if name in spec.columns]
        statistics = ",".join(map(_quoted, sought))
        builder.property("delta.dataSkippingStatsColumns", statistics).addColumns(struct_type(spec)).execute()
        self._untouched.add(spec.name)

    def _version_before(self, spec: TableSpec) -> int:
        """Return the version before a write, and note that the table is as created no more."""
        if spec.name in self._untouched:
            self._untouched.discard(spec.name)
            return 0
        return self.version(spec)

    def _is_empty(self, spec: TableSpec) -> bool:
        if spec.name in self._untouched:
            return True
        return not self.spark.read.format("delta").load(self.path(spec)).take(1)

    def _with_cluster(self, spec: TableSpec, rows: DataFrame) -> DataFrame:
        if "cluster" in spec.columns and "cluster" not in rows.columns:
            return rows.withColumn("cluster", F.lit(self.cluster))
        return rows

    def _conform(self, spec: TableSpec, rows: DataFrame) -> DataFrame:
        """Bring columns into the table's order and types; one too few or too many is a programmer's mistake."""
        rows = self._with_cluster(spec, rows)
        if set(rows.columns) != set(spec.columns):
            different = sorted(set(rows.columns) ^ set(spec.columns))
            raise ValueError(f"{spec.full_name}: rows and table differ in the columns {', '.join(different)}")
        return rows.select(
            *(F.col(name).cast(spark_type(spec.column(name).data_type)).alias(name) for name in spec.columns)
        )

    def _last_commit(self, spec: TableSpec) -> dict[str, Any]:
        history = DeltaTable.forPath(self.spark, self.path(spec)).history(1)
        return history.select("version", "operationMetrics").collect()[0].asDict()

    def _rows_written_since(self, spec: TableSpec, before: int) -> int:
        commit = self._last_commit(spec)
        if commit["version"] == before:
            return 0
        metrics = commit["operationMetrics"] or {}
        return int(metrics.get("numOutputRows", 0)) - int(metrics.get("numCopiedRows", 0))

    def _sql_name(self, spec: TableSpec) -> str:
        return f"delta.{_quoted(self.path(spec))}"

    def _progress_key(self, step: str) -> str:
        return f"{_PROGRESS}.{self.cluster}.{step}"


def _affected(counts: DataFrame, name: str) -> int:
    return int(counts.collect()[0][name])


def _iso(micros: int | None) -> str | None:
    if micros is None:
        return None
    return (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=micros)).isoformat(
        timespec="microseconds"
    )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
