"""Segment files → files of the bronze and silver tables, by processes of this machine, without Spark.

Each process reads a share batch by batch, decodes what the lake does not have yet, and writes a file for each table;
what it holds in memory is bounded. What is rare and needs more than its own share is put aside for Spark: what could
not be read, and commits whose transaction is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from jobs.frame.side_by_side import side_by_side
from jobs.lake.landing import Landing, RecordsThere
from jobs.sources.record_type import RECORD_TYPE
from jobs.sources.segments.files import SHARE_BYTES, SegmentFile, Share, plan
from jobs.sources.segments.reader import SegmentReader
from jobs.sources.tables_read import TablesRead, TableWriters
from schemas.tables.bronze import OFFSETS_RECORDS
from schemas.tables.silver import GROUP_METADATA, MODERN_GROUP_RECORDS, OFFSET_COMMITS, REJECTED
from transforms.silver import topic_names
from transforms.silver.decoded_records import Decoder

WRITTEN = (OFFSETS_RECORDS, OFFSET_COMMITS, GROUP_METADATA, MODERN_GROUP_RECORDS)
"""Tables whose files the processes write."""

_LEAST_SHARE_BYTES = 8 << 20
"""A process of its own takes as long to start as this takes to be read."""

_ROWS_PER_BATCH = 1 << 15
"""Rows that are decoded and written at once: kernels take as long to be called as for some hundred rows."""


@dataclass(frozen=True)
class Task:
    """What one process is given.

    Attributes:
        share: what it reads.
        landings: where the rows of each table land, by name.
        aside: folder for what is left to Spark.
    """

    share: Share
    landings: Mapping[str, Landing]
    aside: Path


@dataclass
class SegmentsRead(TablesRead):
    """What came of segment files; left to Spark are rejected rows, and open commits.

    Attributes:
        has_markers: there are transaction markers among the new records.
        topics: topic ids with the names that records give them.
    """

    has_markers: bool = False
    topics: set[tuple[str, str]] = field(default_factory=set)


def read(files: Sequence[SegmentFile], landings: Sequence[Landing], aside: Path, cores: int) -> SegmentsRead:
    """Read segment files into files of the tables.

    Args:
        files: the files; no record lies in two of them.
        landings: where the rows of the tables in `WRITTEN` land.
        aside: folder for what is left to Spark.
        cores: processes at a time.
    """
    size = sum(file.unread for file in files)
    share_bytes = min(max(size // cores, _LEAST_SHARE_BYTES), SHARE_BYTES)
    by_name = {each.spec.name: each for each in landings}
    tasks = [Task(share, by_name, aside) for share in plan(files, share_bytes)]
    found = SegmentsRead()
    for each in side_by_side(read_share, tasks, cores):
        found.take(each)
        found.has_markers |= each.has_markers
        found.topics |= each.topics
    return found


def read_share(task: Task) -> SegmentsRead:
    """Read one share."""
    return _Reading(task).done()


class _Reading:
    """The reading of one share."""

    def __init__(self, task: Task) -> None:
        self._share = task.share
        self._landings = task.landings
        self._there = RecordsThere(task.landings[OFFSETS_RECORDS.name].there)
        self._decoder = Decoder()
        self._writers = TableWriters(task.landings, task.aside)
        self._read = SegmentsRead()

    def done(self) -> SegmentsRead:
        """Read it, and return what came of it."""
        for batch in SegmentReader((), RECORD_TYPE, rows_per_batch=_ROWS_PER_BATCH).read(self._share):
            if batch.column("reason_code").null_count == batch.num_rows:
                self._take(self._landings[OFFSETS_RECORDS.name].left_out(batch))
            else:
                self._writers.write(REJECTED.name, batch)
        self._writers.end(self._read)
        return self._read

    def _take(self, batch: pa.RecordBatch) -> None:
        """Take in records of one partition."""
        if not batch.num_rows:
            return
        new = self._there.without(batch.column("topic_partition")[0].as_py(), batch)
        self._writers.write(OFFSETS_RECORDS.name, new)
        self._read.has_markers |= new.column("control_type").null_count < new.num_rows
        for name, rows in self._decoder.decode(new).items():
            kept = rows if name == REJECTED.name else self._landings[name].left_out(rows)
            if name == OFFSET_COMMITS.name:
                self._note_topics(kept)
                is_open = pc.equal(kept.column("txn_state"), "open")
                self._writers.put_aside(name, kept.filter(is_open))
                kept = kept.filter(pc.invert(is_open))
            if name == MODERN_GROUP_RECORDS.name:
                self._read.topics |= set(topic_names.told_by(kept.column("body").to_pylist()))
            self._writers.write(name, kept)

    def _note_topics(self, commits: pa.RecordBatch) -> None:
        if commits.column("topic_id").null_count < commits.num_rows:
            named = commits.select(["topic_id", "topic"]).filter(pc.is_valid(commits.column("topic_id")))
            pairs = pa.Table.from_batches([named]).group_by(["topic_id", "topic"]).aggregate([])
            self._read.topics |= {(row["topic_id"], row["topic"]) for row in pairs.to_pylist()}
