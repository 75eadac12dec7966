"""What a replay gave, by table: kept by Spark in columns, or, where it is little, in this process."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from jobs.frame.keeping import Keep, in_columns
from transforms.given_rows import given, held
from transforms.gold.timelines.columns import PART, REPLAY, part_of, rows_of_parts


class Told:
    """The rows of a replay, by part.

    Args:
        spark: the session.
        counts: rows of each part that has any.
        rows: the rows, all parts together.
        keep: keeps the rows of a part, of which laws by the dozen will each read some columns; None = they are here.
    """

    def __init__(
        self, spark: SparkSession, counts: dict[str, int], rows: DataFrame | pa.Table, keep: Keep | None = None
    ) -> None:
        self.counts = counts
        self._spark = spark
        self._rows = rows
        self._keep = keep
        self._parts: dict[str, DataFrame] = {}

    @classmethod
    def kept(cls, rows: DataFrame, keep: Keep) -> Told:
        """Have Spark compute the rows, and keep them."""
        computed = in_columns(rows, keep)
        return cls(rows.sparkSession, rows_of_parts(computed), computed, keep)

    @classmethod
    def here(cls, spark: SparkSession, rows: pa.Table) -> Told:
        """Take rows that this process has."""
        return cls(spark, dict(Counter(rows[PART].to_pylist())), rows)

    def part(self, name: str) -> DataFrame:
        """Return the rows of one part; without any, whatever is built on them is planned away."""
        kind: Any = REPLAY.result_type[name].dataType
        if name not in self.counts:
            return given(self._spark, kind.toNullable())
        if self._keep is None:
            return held(self._spark, _flat(self._rows, name, kind), kind.toNullable())
        if name not in self._parts:
            self._parts[name] = in_columns(part_of(self._rows, name), self._keep)
        return self._parts[name]


def _flat(rows: pa.Table, name: str, kind: StructType) -> pa.Table:
    of_part = rows.filter(pc.equal(rows[PART], name))[name].combine_chunks()
    return pa.Table.from_arrays(of_part.flatten(), names=kind.names)
