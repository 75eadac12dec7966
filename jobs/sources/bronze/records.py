"""Bronze records of `__consumer_offsets` → files of the silver tables, by processes of this machine, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jobs.frame.side_by_side import side_by_side
from jobs.lake.cluster_files import ClusterFile
from jobs.lake.landing import Landing
from jobs.sources.bronze.shares import Share, batches, plan
from jobs.sources.decoded_tables import DecodedTables, RecordsRead, together
from jobs.sources.record_type import RECORD_COLUMNS
from jobs.sources.tables_read import TableWriters, Task, tasks
from schemas.tables.bronze import OFFSETS_RECORDS

_COLUMNS = tuple(name for name in RECORD_COLUMNS if name in OFFSETS_RECORDS.columns)
_ROWS_PER_BATCH = 1 << 15


def decode(files: Sequence[ClusterFile], landings: Sequence[Landing], aside: Path, cores: int) -> RecordsRead:
    """Decode all records of a cluster into files of tables that have nothing of it.

    Args:
        files: the cluster's files of `bronze.offsets_records`.
        landings: where the rows of the tables in `decoded_tables.WRITTEN` land.
        aside: folder for what is left to Spark.
        cores: processes at a time.
    """
    return together(side_by_side(decode_share, tasks(plan(files, cores), landings, aside), cores))


def decode_share(task: Task[Share]) -> RecordsRead:
    """Decode one share."""
    writers = TableWriters(task.landings, task.aside)
    decoded = DecodedTables(task.landings, writers)
    for records in batches(task.share, OFFSETS_RECORDS, _COLUMNS, _ROWS_PER_BATCH):
        decoded.take(records)
    return decoded.end()
