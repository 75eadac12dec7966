"""Rows that are read more than once, kept for as long as they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.jvm.gateway import as_if_a_table
from jobs.lake.rows import fetched as all_fetched
from transforms.given_rows import held, rows_held

Keep = Callable[[DataFrame], DataFrame]


@contextmanager
def keeping() -> Iterator[Keep]:
    """Keep frames: yields the function that does so, and lets go of all of them at the end."""
    kept: list[DataFrame] = []

    def keep(rows: DataFrame) -> DataFrame:
        kept.append(rows.persist())
        return kept[-1]

    try:
        yield keep
    finally:
        for rows in kept:
            rows.unpersist()


def staged(rows: DataFrame) -> DataFrame:
    """Return rows as they are now, without the way they came about.

    What is built upon them is planned as if they were a table. Else each query would plan all that lies below it again,
    which takes the driver longer than the query itself. Executors hold them; one that is lost ends the run.
    """
    return rows.localCheckpoint()


def in_columns(rows: DataFrame, keep: Keep) -> DataFrame:
    """Return rows as they are now, kept column by column: a query reads those that it asks for, and no others.

    That suits rows of many columns that are read time and again, each time a few of them. Of a plain column in which
    like rows lie together, a query for one value leaves out what does not have it.
    """
    return keep(as_if_a_table(rows))


def at_hand(rows: DataFrame, most: int) -> tuple[DataFrame, list[dict[str, Any]] | None]:
    """Return rows as they are now; if they are few, as a list too, and in a frame that no query has to read.

    Args:
        rows: the rows.
        most: number up to which they are few.
    """
    found = fetched(rows, most)
    if found is None:
        return staged(rows), None
    return held(rows.sparkSession, found, rows.schema.toNullable()), found.to_pylist()


def fetched(rows: DataFrame, most: int) -> pa.Table | None:
    """Return rows if they are no more than `most`."""
    known = rows_held(rows)
    found = all_fetched(rows.limit(most + 1)) if known is None else known
    return found if found.num_rows <= most else None


def with_rows(frames: Mapping[str, DataFrame]) -> set[str]:
    """Return the names of the frames that have any row, found out in one query."""
    names = [rows.select(F.lit(name).alias("name")) for name, rows in frames.items()]
    return {row["name"] for row in reduce(DataFrame.unionAll, names).groupBy("name").count().collect()}
