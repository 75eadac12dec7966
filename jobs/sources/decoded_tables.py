"""What a process makes of records of `__consumer_offsets`: files of the silver tables, and what is left to Spark.

What is rare and needs more than its own share is put aside: what cannot be decoded, and commits whose transaction is
open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from jobs.lake.landing import Landing
from jobs.sources.tables_read import TablesRead, TableWriters
from schemas.tables.silver import GROUP_METADATA, MODERN_GROUP_RECORDS, OFFSET_COMMITS, REJECTED
from transforms.silver import topic_names
from transforms.silver.decoded_records import Decoder

WRITTEN = (OFFSET_COMMITS, GROUP_METADATA, MODERN_GROUP_RECORDS)
"""Silver tables whose files the processes write."""


@dataclass
class RecordsRead(TablesRead):
    """What came of records; left to Spark are rejected rows, and open commits.

    Attributes:
        has_markers: there are transaction markers among the records.
        topics: topic ids with the names that records give them.
    """

    has_markers: bool = False
    topics: set[tuple[str, str]] = field(default_factory=set)


def together(shares: Iterable[RecordsRead]) -> RecordsRead:
    """Put together what came of several shares."""
    found = RecordsRead()
    for each in shares:
        found.take(each)
        found.has_markers |= each.has_markers
        found.topics |= each.topics
    return found


class DecodedTables:
    """Decodes the records of one share, and writes what they say.

    Args:
        landings: where the rows of each table land, by name.
        writers: what writes them.
    """

    def __init__(self, landings: Mapping[str, Landing], writers: TableWriters) -> None:
        self._landings = landings
        self._writers = writers
        self._decoder = Decoder()
        self._read = RecordsRead()

    def take(self, records: pa.RecordBatch) -> None:
        """Take in records that silver does not have."""
        self._read.has_markers |= records.column("control_type").null_count < records.num_rows
        for name, rows in self._decoder.decode(records).items():
            kept = rows if name == REJECTED.name else self._landings[name].left_out(rows)
            if name == OFFSET_COMMITS.name:
                self._note_topics(kept)
                is_open = pc.equal(kept.column("txn_state"), "open")
                self._writers.put_aside(name, kept.filter(is_open))
                kept = kept.filter(pc.invert(is_open))
            if name == MODERN_GROUP_RECORDS.name:
                self._read.topics |= set(topic_names.told_by(kept.column("body").to_pylist()))
            self._writers.write(name, kept)

    def end(self) -> RecordsRead:
        """Close the files, and return what came of the share."""
        self._writers.end(self._read)
        return self._read

    def _note_topics(self, commits: pa.RecordBatch) -> None:
        if commits.column("topic_id").null_count < commits.num_rows:
            named = commits.select(["topic_id", "topic"]).filter(pc.is_valid(commits.column("topic_id")))
            pairs = pa.Table.from_batches([named]).group_by(["topic_id", "topic"]).aggregate([])
            self._read.topics |= {(row["topic_id"], row["topic"]) for row in pairs.to_pylist()}
