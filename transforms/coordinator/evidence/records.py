"""Puts a group's records into the order of the log: within a partition of `__consumer_offsets`, that of their offsets.

A record has the time of the clock of the broker that wrote it. A clock may be set back, and that of a coordinator that
takes over may be behind: then a record looks older than one that stands before it in the log. It counts from the moment
of that one, which is its time in gold. Offsets alone are no order either: where the topic is made anew, they begin at 0
again, and times go on.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Sequence
from operator import attrgetter, itemgetter, le

from msgspec.structs import replace

from schemas.rows import GroupMetadataRow, ModernGroupRecordRow
from transforms.coordinator.evidence.items import RECORD, Item
from transforms.coordinator.evidence.tolerances import CLOCK_STEP_MS, RECORD_DELAY_MS

RecordRow = GroupMetadataRow | ModernGroupRecordRow

_PLACE_IN_LOG = attrgetter("record_offset", "recorded_at")
_MOMENT = itemgetter(0)


class Records:
    """Records that wait for their place in the order, by the partitions that they are in.

    Those that were taken before are among them as long as they may move others: whoever reads a group's records from a
    moment on has, of each that stands after it, all that do.
    """

    def __init__(self) -> None:
        self._waiting: defaultdict[int, list[RecordRow]] = defaultdict(list)

    def add(self, row: RecordRow) -> None:
        """Take in a record; it has a time."""
        self._waiting[row.topic_partition_of_record].append(row)

    def emit(self, before: float, until: float) -> list[Item]:
        """Give out, of each partition in order, the records that stand before a moment.

        Nothing that is younger than that moment by less than `CLOCK_STEP_MS` may come any more.

        Args:
            before: the moment (epoch ms).
            until: those that stand before this one were taken.
        """
        found: list[Item] = []
        for partition, rows in self._waiting.items():
            rows.sort(key=_PLACE_IN_LOG)
            placed = [*zip(moments_in_log(rows), rows, strict=True)]
            ready = [each for each in placed if until <= each[0] + RECORD_DELAY_MS < before]
            ready.sort(key=_MOMENT)
            found += _items(ready)
            self._waiting[partition] = [row for at, row in placed if at + RECORD_DELAY_MS >= before]
        return found


def moments_in_log(rows: Sequence[RecordRow]) -> list[float]:
    """Return from when on records count: none of them from before one that stands before it in the log.

    What is younger than a record by more than `CLOCK_STEP_MS` does not move it. As only younger ones do, the result
    does not hang on how far back the log was read.

    Args:
        rows: records of one partition, in the order of their offsets.
    """
    told = [*map(_told_of, rows)]
    if all(map(le, told, told[1:])):
        return told  # mostly
    found: list[float] = []
    earlier: list[float] = []
    for row, at in zip(rows, told, strict=True):
        insort(earlier, at)
        found.append(earlier[bisect_right(earlier, (row.recorded_at or 0.0) + CLOCK_STEP_MS) - 1])
    return found


def _told_of(row: RecordRow) -> float:
    """Return when a record was written: not before the change of state that it tells of, if the clock was set back."""
    at = row.recorded_at or 0.0
    changed_at = row.state_changed_at if isinstance(row, GroupMetadataRow) else None
    return at if changed_at is None or not at < changed_at <= at + CLOCK_STEP_MS else changed_at


def _items(ready: Sequence[tuple[float, RecordRow]]) -> list[Item]:
    """Return records, in order and each with the moment from which on it counts, as evidence.

    Records of newer protocols that were written at one moment stand together: they tell of one thing, as a whole. A
    record of the classic group that was written with them is of its conversion.
    """
    found: list[Item] = []
    moments_before: tuple[float, float] | None = None
    for at, row in ready:
        item, written = _item(row, at), row.recorded_at or 0.0
        before = found[-1] if moments_before == (at, written) else None
        if before is None or not _tells_with(before, item):
            found.append(item)
        elif item.modern is None:
            before.record = item.record
        else:
            before.modern = [*(before.modern or ()), *item.modern]
        moments_before = (at, written)
    return found


def _tells_with(before: Item, item: Item) -> bool:
    """Whether a record that was written at the moment of those before it tells of the same thing."""
    return item.modern is not None if before.modern is None else item.modern is not None or before.record is None


def _item(row: RecordRow, at: float) -> Item:
    """Return a record as evidence; it is read as if it had been written at the moment from which on it counts."""
    if row.recorded_at != at:
        row = replace(row, recorded_at=at)
    place = ("", row.topic_partition_of_record, row.record_offset)
    if isinstance(row, ModernGroupRecordRow):
        return Item(at + RECORD_DELAY_MS, RECORD, place, modern=[row])
    return Item(at + RECORD_DELAY_MS, RECORD, place, None, None, row)
