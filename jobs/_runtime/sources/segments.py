"""Segment files of `__consumer_offsets`, as a broker left them on disk.

A Python data source: the driver lists the files and cuts them into shares of about equal size at batches, small files
together, and each task reads its share batch by batch, column by column. The folder must be seen under the same path by
all executors.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from jobs._runtime.sources.columns import RECORD_TYPE
from transforms.errors import SourceError
from transforms.wire.batches import Records
from transforms.wire.rows import LAST_MOMENT_MS
from transforms.wire.segments import RejectedBatch, read_batches, split_points

FORMAT = "consumer_offsets_segments"
SHARE_BYTES = 64 << 20
"""Bytes of segment files that one task reads, about."""

_REJECTED_ONLY = "rejectedOnly"
_FOLDER = re.compile(r"__consumer_offsets-(\d+)")
_ROWS_PER_BATCH = 8192
_BYTES_PER_BATCH = 16 << 20


@dataclass(frozen=True)
class Range:
    """Part of a segment file that begins at a batch."""

    topic_partition: int
    path: str
    source: str
    start: int
    end: int


@dataclass
class Share(InputPartition):
    """What one task reads."""

    ranges: tuple[Range, ...]


def read(spark: SparkSession, path: str) -> DataFrame:
    """Read the records of all segment files below a folder.

    Args:
        spark: session.
        path: folder that holds `__consumer_offsets-N` folders, at any depth, or is one.

    Returns:
        `jobs._runtime.sources.columns.RECORD_TYPE`. Grain: one record, or one batch that could not be read.

    Raises:
        SourceError: there is no such folder, or no segment in it.
    """
    return _load(spark, path, rejected_only=False)


def read_rejected(spark: SparkSession, path: str) -> DataFrame:
    """Read what `read` gives without its records, in a third of the time.

    That is less than it takes to keep all records for a second look at them.
    """
    return _load(spark, path, rejected_only=True)


def _load(spark: SparkSession, path: str, rejected_only: bool) -> DataFrame:
    find_segments(path)  # here, where an error keeps its type
    spark.dataSource.register(SegmentSource)
    return spark.read.format(FORMAT).option(_REJECTED_ONLY, rejected_only).load(path)


def is_unique(path: str) -> bool:
    """Say whether no record can come twice: one folder for each partition, not copies of several brokers."""
    folders = {(partition, file.parent) for partition, file in find_segments(path)}
    return max(Counter(partition for partition, _ in folders).values()) == 1


def find_segments(path: str) -> list[tuple[int, Path]]:
    """List the segment files below a folder with their partitions, in a stable order.

    Raises:
        SourceError: there is no such folder, or no segment in it, or one that may not be read.
    """
    root = Path(path)
    if not root.is_dir():
        raise SourceError(f"offsets.path {path} is not a folder: give the one that holds __consumer_offsets-N folders.")
    found = []
    for file in root.resolve().rglob("*.log"):
        folder = _FOLDER.fullmatch(file.parent.name)
        if folder and file.is_file():
            found.append((int(folder[1]), file))
    if not found:
        raise SourceError(
            f"offsets.path {path} holds no __consumer_offsets-N/*.log: point it at the broker's log.dirs."
        )
    for _, file in found:
        if not os.access(file, os.R_OK):
            raise SourceError(f"{file} may not be read: give this user read access to it.")
    return sorted(found)


def plan(path: str, share_bytes: int = SHARE_BYTES) -> list[Share]:
    """Cut the segment files below a folder into shares of about `share_bytes`."""
    root = Path(path).resolve()
    shares: list[Share] = []
    held: list[Range] = []
    size = 0
    for each in _ranges(root, share_bytes):
        if held and size + each.end - each.start > share_bytes:
            shares.append(Share(tuple(held)))
            held, size = [], 0
        held.append(each)
        size += each.end - each.start
    return [*shares, Share(tuple(held))] if held else shares


def _ranges(root: Path, share_bytes: int) -> Iterator[Range]:
    for topic_partition, file in find_segments(str(root)):
        # With its folder's name even where the path is that folder: the source must say which partition it is.
        source = file.relative_to(root if file.parent != root else root.parent).as_posix()
        with file.open("rb") as opened:
            starts = split_points(opened, share_bytes)
        ends = [*starts[1:], file.stat().st_size]
        for start, end in zip(starts, ends, strict=True):
            yield Range(topic_partition, str(file), source, start, end)


class SegmentSource(DataSource):
    """Data source of segment files in the folder `path`; `rejectedOnly` leaves the records out."""

    @classmethod
    def name(cls) -> str:
        """Name of the format."""
        return FORMAT

    def schema(self) -> StructType:
        """Columns that it gives."""
        return RECORD_TYPE

    def reader(self, schema: StructType) -> SegmentReader:
        """Build the reader."""
        return SegmentReader(self.options["path"], schema, self.options.get(_REJECTED_ONLY, "false").lower() == "true")


class SegmentReader(DataSourceReader):
    """Reads shares of segment files as Arrow batches."""

    def __init__(self, path: str, schema: StructType, rejected_only: bool = False) -> None:
        self._path = path
        self._schema = schema
        self._rejected_only = rejected_only

    def partitions(self) -> Sequence[InputPartition]:
        """Plan one input partition for each share."""
        return plan(self._path)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one share."""
        assert isinstance(partition, Share)
        schema = to_arrow_schema(self._schema)
        for part in partition.ranges:
            for columns in self._read_range(part):
                yield _arrow_batch(columns, schema)

    def _read_range(self, part: Range) -> Iterator[dict[str, Any]]:
        """Read one range into columns by name, bounded in rows and in bytes."""
        rows = _Rows()
        with Path(part.path).open("rb", buffering=1 << 20) as file:
            for item in read_batches(file, start=part.start, end=part.end):
                if isinstance(item, RejectedBatch):
                    yield _rejected(item, part)
                elif not self._rejected_only:
                    rows.add(item)
                    if rows.is_full():
                        yield _columns(rows, part)
                        rows = _Rows()
        if rows.offsets:
            yield _columns(rows, part)


@dataclass
class _Rows:
    """Records of several batches, column by column; what is the same in a whole batch is held once for each."""

    offsets: list[int] = field(default_factory=list)
    timestamps: list[int | None] = field(default_factory=list)
    keys: list[bytes | None] = field(default_factory=list)
    values: list[bytes | None] = field(default_factory=list)
    control_types: list[str | None] = field(default_factory=list)
    of_batches: list[tuple[int, int, bool]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    size: int = 0

    def add(self, batch: Records) -> None:
        count = len(batch.offsets)
        self.offsets += batch.offsets
        self.timestamps += batch.timestamps
        self.keys += batch.keys
        self.values += batch.values
        self.control_types += batch.control_types or [None] * count
        self.of_batches.append((batch.producer_id, batch.producer_epoch, batch.is_transactional))
        self.counts.append(count)
        self.size += sum(map(len, filter(None, batch.keys))) + sum(map(len, filter(None, batch.values)))

    def is_full(self) -> bool:
        return len(self.offsets) >= _ROWS_PER_BATCH or self.size >= _BYTES_PER_BATCH


def _arrow_batch(columns: dict[str, Any], schema: pa.Schema) -> pa.RecordBatch:
    """Build a batch of columns by name: one value for all rows, or an Arrow array or list; null where none is named."""
    count = next(len(column) for column in columns.values() if isinstance(column, (list, pa.Array)))
    return pa.RecordBatch.from_arrays(
        [_array(columns.get(each.name), each.type, count) for each in schema], schema=schema
    )


def _array(column: Any, kind: pa.DataType, count: int) -> pa.Array:
    if column is None:
        return pa.nulls(count, kind)
    if isinstance(column, pa.Array):
        return column.cast(kind)
    return pa.array(column, kind) if isinstance(column, list) else pa.repeat(pa.scalar(column, kind), count)


def _columns(rows: _Rows, part: Range) -> dict[str, Any]:
    producer_ids, producer_epochs, transactional = (
        pa.array(np.repeat(each, rows.counts)) for each in zip(*rows.of_batches, strict=True)
    )
    return {
        "topic_partition": part.topic_partition,
        "record_offset": rows.offsets,
        "recorded_at": _moments(rows.timestamps),
        "key": rows.keys,
        "value": rows.values,
        "producer_id": producer_ids,
        "producer_epoch": producer_epochs,
        "is_transactional": transactional,
        "control_type": rows.control_types,
        "source": part.source,
    }


def _moments(timestamps: list[int | None]) -> pa.Array:
    """Turn epoch milliseconds into microseconds, as Spark counts; null for what is no moment."""
    at = pa.array(timestamps, pa.int64())
    is_moment = pc.and_(pc.greater_equal(at, 0), pc.less_equal(at, LAST_MOMENT_MS))
    return pc.multiply(pc.if_else(is_moment, at, pa.scalar(None, pa.int64())), 1000)


def _rejected(batch: RejectedBatch, part: Range) -> dict[str, Any]:
    offset = "?" if batch.base_offset is None else batch.base_offset
    return {
        "topic_partition": part.topic_partition,
        "record_offset": [batch.base_offset],
        "source": part.source,
        "reason_code": batch.reason_code,
        "detail": batch.detail,
        "raw": batch.raw,
        "position": f"{part.topic_partition}/{offset}@{batch.byte_position}",
    }
