"""Segment files of `__consumer_offsets`, as a broker left them on disk.

A Python data source: the driver lists the files and cuts them into shares of about equal size at batches, small files
together, and each task reads its share batch by batch, column by column. The folder must be seen under the same path by
all executors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from jobs.sources.record_type import RECORD_TYPE
from jobs.sources.segments.files import Range, SegmentFile, Share, opened, plan
from transforms.given_rows import held_if_few
from transforms.wire.batches import Records
from transforms.wire.rows import LAST_MOMENT_MS
from transforms.wire.segments import RejectedBatch, read_batches

FORMAT = "consumer_offsets_segments"
_FILES, _REJECTED_ONLY = "files", "rejected_only"
_ROWS_PER_BATCH = 8192
_BYTES_PER_BATCH = 16 << 20
_READ_AHEAD_BYTES = 1 << 20


def read(spark: SparkSession, files: Sequence[SegmentFile]) -> DataFrame:
    """Read the records of segment files.

    Returns:
        `jobs.sources.record_type.RECORD_TYPE`. Grain: one record, or one batch that could not be read.
    """
    return _load(spark, files, rejected_only=False)


def read_here(spark: SparkSession, files: Sequence[SegmentFile], most: int) -> DataFrame | None:
    """Read what `read` gives in this process, if it is no more than so many rows: none other has to be started."""
    reader = SegmentReader(files, RECORD_TYPE)
    batches = chain.from_iterable(map(reader.read, reader.partitions()))
    return held_if_few(spark, batches, RECORD_TYPE, most)


def read_rejected(spark: SparkSession, files: Sequence[SegmentFile]) -> DataFrame:
    """Read what `read` gives without its records, in a third of the time.

    That is less than it takes to keep all records for a second look at them.
    """
    return _load(spark, files, rejected_only=True)


def _load(spark: SparkSession, files: Sequence[SegmentFile], rejected_only: bool) -> DataFrame:
    spark.dataSource.register(SegmentSource)
    how = {_FILES: json.dumps([astuple(file) for file in files]), _REJECTED_ONLY: json.dumps(rejected_only)}
    return spark.read.format(FORMAT).options(**how).load()


class SegmentSource(DataSource):
    """Data source of segment files; its options are those that `read` and `read_rejected` give."""

    @classmethod
    def name(cls) -> str:
        """Name of the format."""
        return FORMAT

    def schema(self) -> StructType:
        """Columns that it gives."""
        return RECORD_TYPE

    def reader(self, schema: StructType) -> SegmentReader:
        """Build the reader."""
        files = [SegmentFile(*each) for each in json.loads(self.options[_FILES])]
        return SegmentReader(files, schema, json.loads(self.options[_REJECTED_ONLY]))


class SegmentReader(DataSourceReader):
    """Reads shares of segment files as Arrow batches."""

    def __init__(
        self,
        files: Sequence[SegmentFile],
        schema: StructType,
        rejected_only: bool = False,
        rows_per_batch: int = _ROWS_PER_BATCH,
    ) -> None:
        self._files = files
        self._schema = schema
        self._rejected_only = rejected_only
        self._rows_per_batch = rows_per_batch

    def partitions(self) -> Sequence[InputPartition]:
        """Plan one input partition for each share."""
        return plan(self._files)

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
        with opened(part.path, _READ_AHEAD_BYTES) as file:
            for item in () if file is None else read_batches(file, start=part.start, end=part.end):
                if isinstance(item, RejectedBatch):
                    yield _rejected(item, part)
                elif not self._rejected_only:
                    rows.add(item)
                    if rows.is_full(self._rows_per_batch):
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

    def is_full(self, most: int) -> bool:
        return len(self.offsets) >= most or self.size >= _BYTES_PER_BATCH


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
