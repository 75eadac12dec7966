"""Segment files of `__consumer_offsets`, as a broker left them on disk.

A Python data source: the driver lists the files and cuts them into shares of about equal size at batches, small files
together, and each task reads its share batch by batch. The folder must be seen under the same path by all executors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from jobs._runtime.sources.columns import RECORD_TYPE
from transforms.errors import SourceError
from transforms.wire.rows import moment
from transforms.wire.segments import RejectedBatch, split_points
from transforms.wire.segments import read as read_segment

FORMAT = "consumer_offsets_segments"
SHARE_BYTES = 64 << 20
"""Bytes of segment files that one task reads, about."""

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
    find_segments(path)  # here, where an error keeps its type
    spark.dataSource.register(SegmentSource)
    return spark.read.format(FORMAT).load(path)


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
    """Data source of segment files; `path` is its one option."""

    @classmethod
    def name(cls) -> str:
        """Name of the format."""
        return FORMAT

    def schema(self) -> StructType:
        """Columns that it gives."""
        return RECORD_TYPE

    def reader(self, schema: StructType) -> SegmentReader:
        """Build the reader."""
        return SegmentReader(self.options["path"], schema)


class SegmentReader(DataSourceReader):
    """Reads shares of segment files as Arrow batches."""

    def __init__(self, path: str, schema: StructType) -> None:
        self._path = path
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        """Plan one input partition for each share."""
        return plan(self._path)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one share."""
        assert isinstance(partition, Share)
        return _arrow_batches(partition, to_arrow_schema(self._schema))


def _arrow_batches(share: Share, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Gather rows into Arrow batches that are bounded in rows and in bytes."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    for each in share.ranges:
        for row in _rows(each):
            rows.append(row)
            size += len(row[3] or b"") + len(row[4] or b"") + len(row[12] or b"")
            if len(rows) >= _ROWS_PER_BATCH or size >= _BYTES_PER_BATCH:
                yield _arrow_batch(rows, schema)
                rows, size = [], 0
    if rows:
        yield _arrow_batch(rows, schema)


def _arrow_batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def _rows(part: Range) -> Iterator[tuple[Any, ...]]:
    """Rows of one range, in the order of `RECORD_COLUMNS`; timestamps in microseconds, as Arrow counts them."""
    with Path(part.path).open("rb", buffering=1 << 20) as file:
        for item in read_segment(file, start=part.start, end=part.end):
            if isinstance(item, RejectedBatch):
                offset = "?" if item.base_offset is None else item.base_offset
                position = f"{part.topic_partition}/{offset}@{item.byte_position}"
                why = (item.reason_code, item.detail, item.raw, position)
                yield (part.topic_partition, item.base_offset, *(None,) * 7, part.source, *why)
            else:
                at = moment(item.timestamp)
                yield (
                    part.topic_partition,
                    item.offset,
                    None if at is None else at * 1000,
                    *item[2:],
                    part.source,
                    *(None,) * 4,
                )
