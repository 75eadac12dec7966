"""Segment files → files of the bronze and silver tables, by processes of this machine, without Spark.

Each process reads a share batch by batch, decodes what the lake does not have yet, and writes a file for each table;
what it holds in memory is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from jobs.frame.side_by_side import side_by_side
from jobs.lake.landing import Landing, RecordsThere
from jobs.sources.decoded_tables import WRITTEN as DECODED
from jobs.sources.decoded_tables import DecodedTables, RecordsRead, together
from jobs.sources.record_type import RECORD_TYPE
from jobs.sources.segments.files import SHARE_BYTES, SegmentFile, Share, plan
from jobs.sources.segments.reader import SegmentReader
from jobs.sources.tables_read import TableWriters, Task, tasks
from schemas.tables.bronze import OFFSETS_RECORDS
from schemas.tables.silver import REJECTED

WRITTEN = (OFFSETS_RECORDS, *DECODED)
"""Tables whose files the processes write."""

_LEAST_SHARE_BYTES = 8 << 20
"""A process of its own takes as long to start as this takes to be read."""

_ROWS_PER_BATCH = 1 << 15
"""Rows that are decoded and written at once: kernels take as long to be called as for some hundred rows."""


def read(files: Sequence[SegmentFile], landings: Sequence[Landing], aside: Path, cores: int) -> RecordsRead:
    """Read segment files into files of the tables.

    Args:
        files: the files; no record lies in two of them.
        landings: where the rows of the tables in `WRITTEN` land.
        aside: folder for what is left to Spark.
        cores: processes at a time.
    """
    size = sum(file.unread for file in files)
    share_bytes = min(max(size // cores, _LEAST_SHARE_BYTES), SHARE_BYTES)
    return together(side_by_side(read_share, tasks(plan(files, share_bytes), landings, aside), cores))


def read_share(task: Task[Share]) -> RecordsRead:
    """Read one share."""
    return _Reading(task).done()


class _Reading:
    """The reading of one share."""

    def __init__(self, task: Task[Share]) -> None:
        self._share = task.share
        self._landings = task.landings
        self._there = RecordsThere(task.landings[OFFSETS_RECORDS.name].there)
        self._writers = TableWriters(task.landings, task.aside)
        self._decoded = DecodedTables(task.landings, self._writers)

    def done(self) -> RecordsRead:
        """Read it, and return what came of it."""
        for batch in SegmentReader((), RECORD_TYPE, rows_per_batch=_ROWS_PER_BATCH).read(self._share):
            if batch.column("reason_code").null_count == batch.num_rows:
                self._take(self._landings[OFFSETS_RECORDS.name].left_out(batch))
            else:
                self._writers.write(REJECTED.name, batch)
        return self._decoded.end()

    def _take(self, batch: pa.RecordBatch) -> None:
        """Take in records of one partition."""
        if not batch.num_rows:
            return
        new = self._there.without(batch.column("topic_partition")[0].as_py(), batch)
        self._writers.write(OFFSETS_RECORDS.name, new)
        self._decoded.take(new)
