"""Logs of brokers: text files of any rotation, compressed or not.

A Python data source: the driver finds the files, small ones are read together by one task. The folder must be seen
under the same path by all executors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
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
SHARE_BYTES = 16 << 20
"""Bytes of log files that one task reads, about; a file is not cut."""

LINE_COLUMNS = ("broker", "source_file", "line_number", "logged_at", "text")
REJECTED_COLUMNS = ("source", "position", "reason_code", "detail", "raw")
LINE_TYPE = StructType(
    [StructField(name, spark_type(COLUMNS[name].data_type)) for name in (*LINE_COLUMNS, *REJECTED_COLUMNS)]
)
"""Columns of `bronze.log_lines` and of `silver.rejected`; a row with `reason_code` is one that could not be read."""

_ROWS_PER_BATCH = 2048
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
    """Gather the entries of each file into Arrow batches that are bounded in rows and in characters."""
    for file in share.files:
        name, held, size = "", list[Entry](), 0
        for name, item in read_log_file(file, time_zone, layout):
            if isinstance(item, Problem):
                yield _batch_of_problem(file, name, item, schema)
                continue
            held.append(item)
            size += len(item.text)
            if len(held) >= _ROWS_PER_BATCH or size >= _CHARACTERS_PER_BATCH:
                yield _batch(file, name, held, schema)
                held, size = [], 0
        if held:
            yield _batch(file, name, held, schema)


def _batch(file: LogFile, name: str, held: list[Entry], schema: pa.Schema) -> pa.RecordBatch:
    """Rows of `LINE_TYPE` for entries of one file; timestamps in microseconds, as Arrow counts them."""
    numbers, times, texts = zip(*held, strict=True)
    milliseconds = pa.array(times, pa.int64())
    own = {
        "broker": pa.repeat(pa.scalar(file.broker), len(held)),
        "source_file": pa.repeat(pa.scalar(name), len(held)),
        "line_number": pa.array(numbers, pa.int64()),
        "logged_at": pc.multiply(milliseconds, 1000),
        "text": pa.array(texts, pa.string()),
    }
    nothing = pa.nulls(len(held))
    return pa.RecordBatch.from_arrays([own.get(f.name, nothing).cast(f.type) for f in schema], schema=schema)


def _batch_of_problem(file: LogFile, name: str, problem: Problem, schema: pa.Schema) -> pa.RecordBatch:
    """A row of `LINE_TYPE` for what could not be read."""
    row = {
        "broker": file.broker,
        "source_file": name,
        "line_number": problem.line_number,
        "source": "log",
        "position": f"{name}:{problem.line_number}",
        "reason_code": problem.reason_code,
        "detail": problem.detail,
    }
    return pa.RecordBatch.from_pylist([row], schema=schema)
