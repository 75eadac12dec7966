"""What the ingest of logs notes: the files that it has read, and how many of their entries no table has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import msgspec

from jobs.lake.lake import Lake
from jobs.lake.notes import understood
from jobs.sources.reached import note_reached, reached
from schemas.tables.bronze import LOG_LINES
from transforms.loglines.entries.lines import BEGIN, Place

_STEP = "read_logs"


class Count(msgspec.Struct, frozen=True):
    """What was counted of one log.

    Attributes:
        line_number: first line of the last entry that was read.
        left_out: entries up to there that no table has.
        read_to: line from which it is to be read on, the begin of an entry.
        read_at: time of that entry (epoch ms); None = it is to be read from its beginning.
        how: how it was read; in another way, it is to be read from its beginning as well.
        size: bytes that it had.
        place: where a line begins in it that is not behind `read_to`.
    """

    line_number: int = 0
    left_out: int = 0
    read_to: int = 1
    read_at: int | None = None
    how: str = ""
    size: int = 0
    place: Place = BEGIN


class Counted(NamedTuple):
    """What a run counted.

    Attributes:
        of_logs: by the lasting name of each log that it read.
        has_rejected: something of them was rejected.
    """

    of_logs: Mapping[str, Count]
    has_rejected: bool


class LogsRead(msgspec.Struct, frozen=True):
    """How far the logs were read.

    Attributes:
        files: marks of the files that are read whole.
        counts: by the lasting name of a log, what was counted of it.
        left_out_of_gone: entries of logs that are not there any more, and that no table has.
    """

    files: list[str] = []
    counts: dict[str, Count] = {}
    left_out_of_gone: int = 0

    @property
    def left_out(self) -> int:
        """Entries that were read and that no table has."""
        return self.left_out_of_gone + sum(each.left_out for each in self.counts.values())

    def count_of(self, lasting_name: str) -> Count:
        """Return what was counted of a log."""
        return self.counts.get(lasting_name, Count())

    def read(self, files: list[str], counted: Mapping[str, Count], there: Collection[str]) -> LogsRead:
        """Return how far they are read after a run.

        Args:
            files: marks of the files that are read whole by now.
            counted: what the run counted anew of logs.
            there: lasting names of the logs that are there.
        """
        counts = {**self.counts, **counted}
        gone = sum(each.left_out for name, each in counts.items() if name not in there)
        here = {name: each for name, each in sorted(counts.items()) if name in there}
        return LogsRead(files, here, self.left_out_of_gone + gone)


def logs_read(lake: Lake) -> LogsRead:
    """Return how far the logs are read, as long as the tables have what was read of them."""
    return understood(reached(lake, _STEP, LOG_LINES) or {}, LogsRead) or LogsRead()


def note_logs_read(lake: Lake, read: LogsRead, has_rejected: bool) -> None:
    """Note how far the logs are read, and whether something of what was read now was rejected."""
    note_reached(lake, _STEP, LOG_LINES, msgspec.to_builtins(read), has_rejected)
