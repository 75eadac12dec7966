"""Logs of brokers: text files of any rotation, compressed or not.

A Python data source: the driver plans, small files are read together by one task, and what the reader gives are rows
of bronze and of silver alike: text need not go to Spark and come back to be parsed. The folder must be seen under the
same path by all executors.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import chain, groupby
from operator import attrgetter

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from jobs.sources.logs.files import LogFile, Problem, read_log_file
from transforms.given_rows import held_if_few
from transforms.loglines.entries.entry import Entry
from transforms.loglines.entries.lines import Place, Places, Run
from transforms.loglines.entries.log4j_pattern import AUTO
from transforms.loglines.relevant import Selection
from transforms.loglines.requests.request_log import OTHER_REQUEST
from transforms.silver.logs import LEFT_OUT, OF_PLACE, READ_TO, WIDE_TYPE, Columns, Wanted, told_by, wide_batch

FORMAT = "broker_logs"
ALL, RELEVANT = "all", "relevant"
LEAST_SHARE_BYTES, MOST_SHARE_BYTES = 16 << 20, 128 << 20
"""Bytes of log files that one task reads, about; a file is not cut. Each task costs as much as reading some 10 MB."""

_ENTRIES_PER_BATCH = 4096
_CHARACTERS_PER_BATCH = 16 << 20


@dataclass
class Share(InputPartition):
    """What one task reads."""

    files: tuple[LogFile, ...]


def read(
    spark: SparkSession,
    files: Sequence[LogFile],
    time_zone: str,
    layout: str = AUTO,
    wanted: Collection[Wanted] = tuple(Wanted),
    keep: str = ALL,
) -> DataFrame:
    """Read the entries of log files, and the facts that they tell.

    Args:
        spark: session.
        files: what `find_log_files` found, with the same layout.
        time_zone: time zone that the logs are written in, by name.
        layout: log4j's pattern of the lines, or `auto`.
        wanted: entries, facts, or both. It is no filter that Spark pushes down: two queries over one DataFrame share
            its reader, and each would get what the other one has asked for.
        keep: `relevant`: entries that tell nothing are left out here, before they reach Spark, see `Selection`; `all`.

    Returns:
        `transforms.silver.logs.WIDE_TYPE`. Grain: one entry, or one fact that an entry tells, or one file of which
        (the rest of) could not be read; with the facts, one log of which so many entries were left out, or that was
        read up to there. An entry that lies in several files is read once.
    """
    spark.dataSource.register(LogSource)
    how = {
        "log_time_zone": time_zone,
        "layout": layout,
        "wanted": json.dumps([each.name for each in wanted]),
        "keep": keep,
        "share_bytes": str(_share_bytes(files, spark.sparkContext.defaultParallelism)),
        "files": json.dumps([astuple(file) for file in files]),
    }
    return spark.read.format(FORMAT).options(**how).load()


def read_here(
    spark: SparkSession, files: Sequence[LogFile], time_zone: str, layout: str, keep: str, most: int
) -> DataFrame | None:
    """Read entries and facts as `read` does, in this process: what is little is read before another one has started.

    Args:
        spark: session.
        files: as for `read`.
        time_zone: likewise.
        layout: likewise.
        keep: likewise.
        most: rows.

    Returns:
        As `read`; None if there are more rows than `most`.
    """
    reader = LogReader(plan(files, sys.maxsize), time_zone, layout, tuple(Wanted), keep)
    batches = chain.from_iterable(map(reader.read, reader.partitions()))
    return held_if_few(spark, batches, WIDE_TYPE, most)


def _share_bytes(files: Sequence[LogFile], cores: int) -> int:
    """Give each core something to do."""
    of_a_core = sum(file.unread for file in files) // cores
    return min(max(of_a_core, LEAST_SHARE_BYTES), MOST_SHARE_BYTES)


def plan(files: Sequence[LogFile], share_bytes: int) -> list[Share]:
    """Gather log files into shares of about `share_bytes`; those that have a lasting name in common stay together."""
    shares: list[Share] = []
    held: list[LogFile] = []
    size = 0
    for file in sorted(files, key=lambda file: (file.lasting_name, file.name)):
        is_other = not held or held[-1].lasting_name != file.lasting_name
        if held and is_other and size + file.unread > share_bytes:
            shares.append(Share(tuple(held)))
            held, size = [], 0
        held.append(file)
        size += file.unread
    return [*shares, Share(tuple(held))] if held else shares


class LogSource(DataSource):
    """Data source of log files; its options are those that `read` gives."""

    @classmethod
    def name(cls) -> str:
        """Name of the format."""
        return FORMAT

    def schema(self) -> StructType:
        """Columns that it gives."""
        return WIDE_TYPE

    def reader(self, schema: StructType) -> LogReader:
        """Build the reader."""
        files = [replace(LogFile(*each), place=Place(*each[-1])) for each in json.loads(self.options["files"])]
        wanted = [Wanted[name] for name in json.loads(self.options["wanted"])]
        shares = plan(files, int(self.options["share_bytes"]))
        how = (self.options["log_time_zone"], self.options["layout"])
        return LogReader(shares, *how, wanted, self.options["keep"])


class LogReader(DataSourceReader):
    """Reads shares of log files as Arrow batches."""

    def __init__(
        self, shares: Sequence[Share], time_zone: str, layout: str, wanted: Collection[Wanted], keep: str
    ) -> None:
        self._shares = shares
        self._time_zone = time_zone
        self._layout = layout
        self._wanted = wanted
        self._keep = keep

    def partitions(self) -> Sequence[InputPartition]:
        """Plan one input partition for each share."""
        return self._shares

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one share."""
        assert isinstance(partition, Share)
        return arrow_batches(partition, self._time_zone, self._layout, self._wanted, self._keep)


def arrow_batches(
    share: Share, time_zone: str, layout: str, wanted: Collection[Wanted], keep: str = ALL
) -> Iterator[pa.RecordBatch]:
    """Gather the entries of each log into Arrow batches that are bounded in entries and in characters."""
    yield from (wide_batch(*each) for _, each in read_share(share, time_zone, layout, wanted, keep))


def read_share(
    share: Share, time_zone: str, layout: str, wanted: Collection[Wanted], keep: str = ALL
) -> Iterator[tuple[LogFile, tuple[str, Columns]]]:
    """Yield what a share tells: the log, and the name of a table and columns for it, bounded likewise."""
    for _, files in groupby(share.files, attrgetter("lasting_name")):
        of_log = list(files)
        yield from ((of_log[0], each) for each in _of_log(of_log, time_zone, layout, wanted, keep))


def _of_log(
    files: Sequence[LogFile], time_zone: str, layout: str, wanted: Collection[Wanted], keep: str
) -> Iterator[tuple[str, Columns]]:
    """Gather the entries of one log, of which there may be several files."""
    log = files[0]
    selection = Selection(log.counted_to, keeps_all=keep == ALL, shown_to=log.read_at)
    held: list[Entry] = []
    size = 0
    places = Places(log.place)
    for item in _items(files, time_zone, layout, None if keep == ALL or layout != AUTO else OTHER_REQUEST):
        if isinstance(item, Problem):
            yield from _told_of(log, item, wanted)
        elif isinstance(item, Run):
            selection.passes(item)
        elif isinstance(item, Places):
            places = item
        elif selection.takes(item):
            held.append(item)
            size += len(item.text)
            if len(held) >= _ENTRIES_PER_BATCH or size >= _CHARACTERS_PER_BATCH:
                yield from told_by(log.broker, log.lasting_name, held, wanted)
                held, size = [], 0
    newest = selection.end()
    if newest is not None:
        held.append(newest)
    if held:
        yield from told_by(log.broker, log.lasting_name, held, wanted)
    if Wanted.FACTS in wanted:
        yield from _reached(log, selection, places)


def _told_of(log: LogFile, problem: Problem, wanted: Collection[Wanted]) -> Iterator[tuple[str, Columns]]:
    """Tell of a file, or the rest of a file, that cannot be read."""
    if Wanted.FACTS in wanted:
        yield _one_row("rejected", log, problem.line_number, reason_code=problem.reason_code, detail=problem.detail)


def _reached(log: LogFile, selection: Selection, places: Places) -> Iterator[tuple[str, Columns]]:
    """Say how far a log was read, and how much of it was left out."""
    if selection.line_number:
        yield _one_row(LEFT_OUT, log, selection.line_number, left_out_count=selection.left_out)
    landmark = selection.landmark
    if landmark is not None and landmark.logged_at is not None:
        known = dict(zip(OF_PLACE, places.before(landmark.line_number), strict=True))
        yield _one_row(READ_TO, log, landmark.line_number, logged_at=landmark.logged_at * 1000, **known)


def _items(
    files: Sequence[LogFile], time_zone: str, layout: str, skimming: re.Pattern[bytes] | None
) -> Iterator[Entry | Run | Problem | Places]:
    """Yield what several files of one log hold, each entry once."""
    last = failed = 0
    for file in files:
        for item in read_log_file(file, time_zone, layout, skimming):
            if isinstance(item, Places):
                yield item
                continue
            if item.line_number <= last:  # read from another file, which holds the same
                continue
            if isinstance(item, Problem):
                if item.line_number != failed:
                    yield item
                failed = item.line_number
                continue
            yield item.after(last) if isinstance(item, Run) else item
            last = item.line_number


def _one_row(table: str, log: LogFile, line_number: int, **more: str | int) -> tuple[str, Columns]:
    """Return one row about a log."""
    row = {"broker": log.broker, "source_file": log.lasting_name, "line_number": line_number, **more}
    return table, {name: pa.array([value]) for name, value in row.items()}
