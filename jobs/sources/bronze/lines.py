"""Bronze lines of logs → files of the silver tables, by processes of this machine, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jobs.frame.side_by_side import side_by_side
from jobs.lake.cluster_files import ClusterFile
from jobs.lake.landing import Landing
from jobs.sources.bronze.shares import Share, batches, plan
from jobs.sources.tables_read import TablesRead, TableWriters, Task, tasks
from schemas.tables.bronze import LOG_LINES
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, REJECTED
from transforms.silver.logs import ENTRY, facts_told, own_batch

WRITTEN = (COORDINATOR_EVENTS, GROUP_REQUESTS, CLIENT_EVENTS)
"""Tables whose files the processes write."""

_ROWS_PER_BATCH = 4096


def parse(files: Sequence[ClusterFile], landings: Sequence[Landing], aside: Path, cores: int) -> TablesRead:
    """Parse all lines of a cluster into files of tables that have nothing of it.

    Args:
        files: the cluster's files of `bronze.log_lines`.
        landings: where the rows of the tables in `WRITTEN` land.
        aside: folder for what is left to Spark: rejected rows.
        cores: processes at a time.
    """
    found = TablesRead()
    for each in side_by_side(parse_share, tasks(plan(files, cores), landings, aside), cores):
        found.take(each)
    return found


def parse_share(task: Task[Share]) -> TablesRead:
    """Parse one share."""
    writers, parsed = TableWriters(task.landings, task.aside), TablesRead()
    for lines in batches(task.share, LOG_LINES, ENTRY, _ROWS_PER_BATCH):
        for table, columns in facts_told(lines):
            rows = own_batch(table, columns)
            writers.write(table, rows if table == REJECTED.name else task.landings[table].left_out(rows))
    writers.end(parsed)
    return parsed
