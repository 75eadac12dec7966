"""Logs → files of the bronze and silver tables, by processes of this machine, without Spark.

Each process reads whole logs, entries and what they tell at one go, and writes a file for each table; what it holds in
memory is bounded, but for the numbers of those of its lines that the lake has already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from jobs.frame.side_by_side import side_by_side
from jobs.lake.landing import Landing, LinesThere
from jobs.sources.logs.files import LogFile
from jobs.sources.logs.reader import LEAST_SHARE_BYTES, MOST_SHARE_BYTES, Share, plan
from jobs.sources.logs.reader import read_share as told
from jobs.sources.tables_read import TablesRead, TableWriters, Task, tasks
from schemas.tables.bronze import LOG_LINES
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, REJECTED
from transforms.silver.logs import OF_LOGS, SAID, Wanted, own_batch, wide_batch

WRITTEN = (LOG_LINES, COORDINATOR_EVENTS, GROUP_REQUESTS, CLIENT_EVENTS)
"""Tables whose files the processes write."""

_SHARES_PER_CORE = 4
"""Logs are not cut: of several shares the last ones are not waited for as long."""


@dataclass
class BulkRead(TablesRead):
    """What came of logs; left to Spark are rejected rows.

    Attributes:
        of_logs: what the rows of tables in `OF_LOGS` say, columns `SAID`.
    """

    of_logs: list[dict[str, Any]] = field(default_factory=list)


def read(
    files: Sequence[LogFile], how: tuple[str, str, str], landings: Sequence[Landing], aside: Path, cores: int
) -> BulkRead:
    """Read log files into files of the tables.

    Args:
        files: the files.
        how: time zone and layout of the logs, and which of their entries are kept.
        landings: where the rows of the tables in `WRITTEN` land.
        aside: folder for what is left to Spark.
        cores: processes at a time.
    """
    size = sum(file.unread for file in files)
    share_bytes = min(max(size // (cores * _SHARES_PER_CORE), LEAST_SHARE_BYTES), MOST_SHARE_BYTES)
    shares, found = tasks(plan(files, share_bytes), landings, aside), BulkRead()
    for each in side_by_side(partial(read_share, how), shares, cores):
        found.take(each)
        found.of_logs += each.of_logs
    return found


def read_share(how: tuple[str, str, str], task: Task[Share]) -> BulkRead:
    """Read one share."""
    time_zone, layout, keep = how
    first = {file.lasting_name: file.read_from for file in reversed(task.share.files)}
    there = {name: LinesThere(each.there, first) for name, each in task.landings.items()}
    writers, read = TableWriters(task.landings, task.aside), BulkRead()
    for log, (table, columns) in told(task.share, time_zone, layout, tuple(Wanted), keep):
        if table in OF_LOGS:
            read.of_logs += wide_batch(table, columns).select(SAID).to_pylist()
        elif table == REJECTED.name:
            writers.write(table, own_batch(table, columns))
        else:
            rows = task.landings[table].left_out(own_batch(table, columns))
            writers.write(table, there[table].without(log.lasting_name, rows))
    writers.end(read)
    return read
