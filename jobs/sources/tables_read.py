"""What a process makes of its share of a source: files of the tables, and rows that it leaves to Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar
from uuid import uuid4

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from jobs.frame.row_files import of_files
from jobs.lake.landing import Landing
from jobs.lake.new_files import FileWriter, NewFile
from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.silver import REJECTED

_ADDED_BY_THE_JOB = ("cluster", "loaded_at", "seen_at")

S = TypeVar("S")


@dataclass(frozen=True)
class Task(Generic[S]):
    """What one process is given.

    Attributes:
        share: what it reads.
        landings: where the rows of each table land, by name.
        aside: folder for what is left to Spark.
    """

    share: S
    landings: Mapping[str, Landing]
    aside: Path


def tasks(shares: Iterable[S], landings: Sequence[Landing], aside: Path) -> list[Task[S]]:
    """Return what processes are given, each a share."""
    by_name = {each.spec.name: each for each in landings}
    return [Task(share, by_name, aside) for share in shares]


@dataclass
class TablesRead:
    """What came of a source.

    Attributes:
        files: by the name of a table, files of rows that the lake does not have.
        aside: by the name of a table, files of rows that are left to Spark, without what the job adds.
    """

    files: dict[str, list[NewFile]] = field(default_factory=dict)
    aside: dict[str, list[str]] = field(default_factory=dict)

    def count_of(self, spec: TableSpec) -> int:
        """Return the number of rows in files of a table."""
        return sum(file.row_count for file in self.files.get(spec.name, ()))

    def count_aside(self, spec: TableSpec) -> int:
        """Return the number of rows of a table that are left to Spark."""
        return sum(parquet.read_metadata(path).num_rows for path in self.aside.get(spec.name, ()))

    def rows_aside(self, spark: SparkSession, spec: TableSpec) -> DataFrame | None:
        """Return the rows of a table that are left to Spark; None if there are none."""
        paths = self.aside.get(spec.name)
        kind = StructType([each for each in struct_type(spec) if each.name not in _ADDED_BY_THE_JOB])
        return of_files(spark, paths, kind) if paths else None

    def take(self, other: TablesRead) -> None:
        """Take in what came of another share."""
        for name, files in other.files.items():
            self.files.setdefault(name, []).extend(files)
        for name, paths in other.aside.items():
            self.aside.setdefault(name, []).extend(paths)


class TableWriters:
    """Writes the rows of one share.

    Args:
        landings: where rows of each table land, by name.
        aside: folder for what is left to Spark.
    """

    def __init__(self, landings: Mapping[str, Landing], aside: Path) -> None:
        self._landings = landings
        self._folder = aside
        self._writers: dict[str, FileWriter] = {}
        self._aside: dict[str, tuple[str, parquet.ParquetWriter]] = {}

    def write(self, table: str, rows: pa.RecordBatch) -> None:
        """Write rows that the table does not have; those that could not be read are left to Spark."""
        if table == REJECTED.name:
            self.put_aside(table, rows.select([name for name in REJECTED.columns if name not in _ADDED_BY_THE_JOB]))
            return
        if table not in self._writers:
            self._writers[table] = self._landings[table].writer()
        self._writers[table].write(rows)

    def put_aside(self, table: str, rows: pa.RecordBatch) -> None:
        """Leave rows to Spark."""
        if not rows.num_rows:
            return
        if table not in self._aside:
            path = str(self._folder / f"{table}-{uuid4()}.parquet")
            self._aside[table] = path, parquet.ParquetWriter(path, rows.schema)
        self._aside[table][1].write_batch(rows)

    def end(self, into: TablesRead) -> None:
        """Close the files, and note them."""
        into.files = {name: writer.end() for name, writer in self._writers.items()}
        for name, (path, writer) in self._aside.items():
            writer.close()
            into.aside[name] = [path]
