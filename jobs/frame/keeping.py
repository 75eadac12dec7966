"""Rows that are read more than once, kept for as long as they are needed."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.frame.folders_aside import new_folder
from jobs.frame.row_files import parts_of, read_parts, row_count, written
from jobs.jvm.gateway import as_if_a_table
from jobs.lake.rows import fetched as all_fetched
from transforms.given_rows import held, rows_held


class Keep:
    """Keeps rows until `let_go`."""

    def __init__(self) -> None:
        self._kept: list[DataFrame] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._turn = threading.Lock()

    def __call__(self, rows: DataFrame) -> DataFrame:
        """Keep a frame as Spark has it."""
        self._kept.append(rows.persist())
        return self._kept[-1]

    def in_columns(self, rows: DataFrame) -> DataFrame:
        """Return rows as they are now, kept column by column: a query reads those that it asks for, and no others.

        That suits rows of many columns that are read time and again, each time a few of them. Where the workers are of
        this machine they lie in files, which take no memory, and which others than Spark can read.
        """
        folder = self.folder(rows.sparkSession)
        return self(as_if_a_table(rows)) if folder is None else written(rows, folder)

    def folder(self, spark: SparkSession) -> Path | None:
        """Return a folder for files that are needed as long; None where workers may be of other machines."""
        if not (spark.sparkContext.master or "").startswith("local"):
            return None
        with self._turn:
            if self._folder is None:
                places = spark.sparkContext.getConf().get("spark.local.dir") or tempfile.gettempdir()
                place = Path(places.split(",")[0].strip()).absolute()  # Spark takes several
                self._folder = new_folder(place)
        return Path(self._folder.name)

    def let_go(self) -> None:
        """Keep nothing of it any more."""
        for rows in self._kept:
            rows.unpersist()
        if self._folder is not None:
            self._folder.cleanup()


@contextmanager
def keeping() -> Iterator[Keep]:
    """Keep frames: yields what does so, and lets go of all of them at the end."""
    keep = Keep()
    try:
        yield keep
    finally:
        keep.let_go()


@contextmanager
def folder_aside(spark: SparkSession) -> Iterator[Path]:
    """Keep a folder for what processes of this machine leave to Spark, whose workers are of this machine, too."""
    with keeping() as keep:
        folder = keep.folder(spark)
        assert folder is not None, "there are landings"
        yield folder


def staged(rows: DataFrame) -> DataFrame:
    """Return rows as they are now, without the way they came about.

    What is built upon them is planned as if they were a table. Else each query would plan all that lies below it again,
    which takes the driver longer than the query itself. Executors hold them on their disks, as many rows would leave no
    memory for what is done with them; one that is lost ends the run.
    """
    is_kept = rows_held(rows) is not None or parts_of(rows) is not None
    return rows if is_kept else rows.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)


def at_hand(rows: DataFrame, most: int, are_likely_few: bool = True) -> tuple[DataFrame, list[dict[str, Any]] | None]:
    """Return rows as they are now; if they are few, as a list too, and in a frame that no query has to read.

    Args:
        rows: the rows.
        most: number up to which they are few.
        are_likely_few: fetch them before anything else; else they are computed once, be they few or not.
    """
    if parts_of(rows) is not None:  # they are kept already, and counted
        found = fetched(rows, most)
        return (rows, None) if found is None else (held(rows.sparkSession, found, rows.schema), found.to_pylist())
    is_held = rows_held(rows) is not None
    kept = rows if are_likely_few or is_held else staged(rows)
    found = fetched(kept, most)
    if found is None:
        return staged(rows) if kept is rows else kept, None
    return rows if is_held else held(rows.sparkSession, found, rows.schema.toNullable()), found.to_pylist()


def fetched(rows: DataFrame, most: int) -> pa.Table | None:
    """Return rows if they are no more than `most`."""
    if (parts := parts_of(rows)) is not None:
        return read_parts(parts, rows.schema) if row_count(parts) <= most else None
    known = rows_held(rows)
    found = all_fetched(rows.limit(most + 1)) if known is None else known
    return found if found.num_rows <= most else None


def with_rows(frames: Mapping[str, DataFrame]) -> set[str]:
    """Return the names of the frames that have any row, found out in one query."""
    names = [rows.select(F.lit(name).alias("name")) for name, rows in frames.items()]
    return {row["name"] for row in reduce(DataFrame.unionAll, names).groupBy("name").count().collect()}
