"""What a replay gave, by table: in files of this machine, kept by Spark in columns, or, if little, in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from jobs.frame.keeping import Keep
from jobs.frame.row_files import of_files
from jobs.timelines.part_files import PartFile
from transforms.given_rows import given, held
from transforms.gold.timelines.columns import PART, REPLAY, part_of, rows_of_parts


class Told(ABC):
    """The rows of a replay, by part.

    Args:
        spark: the session.
        counts: rows of each part that has any.

    Attributes:
        is_at_hand: this process has the rows.
    """

    is_at_hand = False

    def __init__(self, spark: SparkSession, counts: Mapping[str, int]) -> None:
        self.counts = counts
        self._spark = spark
        self._parts: dict[str, DataFrame] = {}

    def part(self, name: str) -> DataFrame:
        """Return the rows of one part; without any, whatever is built on them is planned away."""
        kind: Any = REPLAY.result_type[name].dataType
        if name not in self.counts:
            return given(self._spark, kind.toNullable())
        if name not in self._parts:
            self._parts[name] = self._rows_of(name, kind.toNullable())
        return self._parts[name]

    @abstractmethod
    def _rows_of(self, name: str, kind: StructType) -> DataFrame:
        """Return the rows of a part that has some."""


class Here(Told):
    """Rows that this process has."""

    is_at_hand = True

    def __init__(self, spark: SparkSession, rows: pa.Table) -> None:
        super().__init__(spark, Counter(rows[PART].to_pylist()))
        self._rows = rows

    def _rows_of(self, name: str, kind: StructType) -> DataFrame:
        of_part = self._rows.filter(pc.equal(self._rows[PART], name))[name].combine_chunks()
        return held(self._spark, pa.Table.from_arrays(of_part.flatten(), names=kind.names), kind)


class InFiles(Told):
    """Rows that processes of this machine wrote into files."""

    def __init__(self, spark: SparkSession, written: Iterable[PartFile]) -> None:
        files, counts = defaultdict[str, list[str]](list), Counter[str]()
        for each in written:
            files[each.part].append(each.file)
            counts[each.part] += each.row_count
        super().__init__(spark, counts)
        self._files = files

    def _rows_of(self, name: str, kind: StructType) -> DataFrame:
        return of_files(self._spark, sorted(self._files[name]), kind)


class Kept(Told):
    """Rows that Spark computes, and keeps."""

    def __init__(self, rows: DataFrame, keep: Keep) -> None:
        self._keep = keep
        self._rows = keep.in_columns(rows)
        super().__init__(rows.sparkSession, rows_of_parts(self._rows))

    def _rows_of(self, name: str, kind: StructType) -> DataFrame:
        return self._keep.in_columns(part_of(self._rows, name))
