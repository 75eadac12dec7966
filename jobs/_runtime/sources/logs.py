"""Logs of brokers: text files of any rotation, compressed or not.

A Python data source: the driver finds the files, small ones are read together by one task. The folder must be seen
under the same path by all executors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from jobs._runtime.sources.log_files import LogFile, Problem, find_log_files, read_log_file
from schemas.columns import COLUMNS
from schemas.spark import spark_type
from transforms.loglines.entries import Entry
from transforms.loglines.pattern_layout import AUTO, compile_layout

FORMAT = "broker_logs"
SHARE_BYTES = 64 << 20
"""Bytes of log files that one task reads, about; a file is not cut."""

LINE_COLUMNS = ("broker", "source_file", "line_number", "logged_at", "text")
REJECTED_COLUMNS = ("source", "position", "reason_code", "detail", "raw")
LINE_TYPE = StructType(
    [StructField(name, spark_type(COLUMNS[name].data_type)) for name in (*LINE_COLUMNS, *REJECTED_COLUMNS)]
)
"""Columns of `bronze.log_lines` and of `silver.rejected`; a row with `reason_code` is one that could not be read."""

_ROWS_PER_BATCH = 8192
_CHARACTERS_PER_BATCH = 16 << 20


@dataclass
class Share(InputPartition):
    """What one task reads."""

    files: tuple[LogFile, ...]


def read(spark: SparkSession, path: str, broker: str, time_zone: str, layout: str = AUTO) -> DataFrame:
    """Read the entries of all log files below a folder.

    Args:
        spark: session.
        path: folder, read at any depth, a file, or a glob of these.
        broker: name of the broker; `{dir}` in it is the name of the folder that holds the file.
        time_zone: time zone that the logs are written in, by name.
        layout: log4j's pattern of the lines, or `auto`.

    Returns:
        `LINE_TYPE`. Grain: one entry, or one file of which (the rest of) could not be read. `source_file` is the name
        of the file below `path` without what rotation adds to it, and its first time stamp, so that it stays the same
        when the file is renamed.

    Raises:
        SourceError: there are no files, or one may not be read.
        LayoutError: lines cannot be read by such a pattern.
    """
    find_log_files(path, broker)  # here, where an error keeps its type
    if layout != AUTO:
        compile_layout(layout)
    spark.dataSource.register(LogSource)
    how = {"broker": broker, "log_time_zone": time_zone, "layout": layout}
    return spark.read.format(FORMAT).options(**how).load(path)


def plan(path: str, broker: str, share_bytes: int = SHARE_BYTES) -> list[Share]:
    """Gather the log files into shares of about `share_bytes`."""
    shares: list[Share] = []
    held: list[LogFile] = []
    size = 0
    for file in find_log_files(path, broker):
        bytes_of_file = Path(file.path).stat().st_size
        if held and size + bytes_of_file > share_bytes:
            shares.append(Share(tuple(held)))
            held, size = [], 0
        held.append(file)
        size += bytes_of_file
    return [*shares, Share(tuple(held))]


class LogSource(DataSource):
    """Data source of log files; options `path`, `broker`, `log_time_zone` and `layout`."""

    @classmethod
    def name(cls) -> str:
        """Name of the format."""
        return FORMAT

    def schema(self) -> StructType:
        """Columns that it gives."""
        return LINE_TYPE

    def reader(self, schema: StructType) -> LogReader:
        """Build the reader."""
        options = self.options
        return LogReader(options["path"], options["broker"], options["log_time_zone"], options["layout"], schema)


class LogReader(DataSourceReader):
    """Reads shares of log files as Arrow batches."""

    def __init__(self, path: str, broker: str, time_zone: str, layout: str, schema: StructType) -> None:
        self._path = path
        self._broker = broker
        self._time_zone = time_zone
        self._layout = layout
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        """Plan one input partition for each share."""
        return plan(self._path, self._broker)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one share."""
        assert isinstance(partition, Share)
        return _arrow_batches(partition, self._time_zone, self._layout, to_arrow_schema(self._schema))


def _arrow_batches(share: Share, time_zone: str, layout: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Gather rows into Arrow batches that are bounded in rows and in characters."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    for file in share.files:
        for name, item in read_log_file(file, time_zone, layout):
            rows.append(_row(file, name, item))
            size += len(item.text) if isinstance(item, Entry) else 0
            if len(rows) >= _ROWS_PER_BATCH or size >= _CHARACTERS_PER_BATCH:
                yield _arrow_batch(rows, schema)
                rows, size = [], 0
    if rows:
        yield _arrow_batch(rows, schema)


def _row(file: LogFile, name: str, item: Entry | Problem) -> tuple[Any, ...]:
    """A row of `LINE_TYPE`; timestamps in microseconds, as Arrow counts them."""
    if isinstance(item, Problem):
        position = f"{name}:{item.line_number}"
        return (file.broker, name, item.line_number, None, None, "log", position, item.reason_code, item.detail, None)
    at = None if item.logged_at is None else item.logged_at * 1000
    return (file.broker, name, item.line_number, at, item.text, None, None, None, None, None)


def _arrow_batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )
