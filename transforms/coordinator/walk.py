"""A group on its way through the evidence, whichever protocols it speaks: each piece goes to the one that it is of.

Records say of what type a group is. The classic coordinator's replay sees all else too, for it knows the brokers and
whose the group is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, inf
from typing import Any

from schemas.rows import GroupMetadataRow, ModernGroupRecordRow
from transforms.coordinator.classic.taking.walk import ClassicWalk
from transforms.coordinator.consumer.taking import protocol as consumer
from transforms.coordinator.epochs.course import Course
from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.evidence.tolerances import HOLD_MS, RECORD_DELAY_MS
from transforms.coordinator.rows.tables import Sink
from transforms.coordinator.share.taking import protocol as share
from transforms.coordinator.state import ReplayState, Spoken
from transforms.coordinator.streams.taking import protocol as streams

PROTOCOLS: dict[str, EpochProtocol] = {
    each.group_type: each for each in (consumer.PROTOCOL, share.PROTOCOL, streams.PROTOCOL)
}
"""By type of the group."""

_TYPE_OF_RECORD = {number: each.group_type for each in PROTOCOLS.values() for number in each.type_ids}


_OF_CLASSIC_GROUPS = frozenset({"preparing_rebalance", "stabilized", "group_empty", "group_converted"})

_HOLDS_OF_A_CONVERSION = ceil(RECORD_DELAY_MS / HOLD_MS) + 1
"""A conversion's line and what follows stand before its records, which come late as all records do."""


class GroupWalk:
    """The replay of a group, as the driver knows it."""

    def __init__(self, state: ReplayState, sink: Sink) -> None:
        self._state = state
        self._sink = sink
        self._classic = ClassicWalk(state.shared, state.classic, sink)
        self._courses: dict[str, Course] = {}
        for group_type in PROTOCOLS:
            if getattr(state.modern, group_type) is not None:
                self._course(group_type)
        self.take_at_once: Callable[[Item], bool] = self._classic.take_at_once
        """Take a piece of evidence, if it is one of the many that change nothing but a timer; else leave it."""

    def notice(self, item: Item) -> None:
        """Take note of evidence that is seen, and not taken yet: what it tells of its neighbours in time."""
        if item.modern:
            self._classic.notice_modern(item.modern[0].topic_partition_of_record)
        elif item.line is not None and item.line.group_id is not None:
            self._state.modern.told.notice(item.line)
        self._classic.notice(item)

    def let_time_pass(self, until: float) -> None:
        """Let the timers run out that are due before something that is about to be taken."""
        self._sink.now = until
        self._classic.let_time_pass(until)

    def comes_too_early(self, item: Item) -> bool:
        """Whether what a piece of evidence shows cannot have happened yet; then it is put off, a few times."""
        if self._is_of_classic_group_to_come(item):
            return item.holds < _HOLDS_OF_A_CONVERSION
        return self._classic.comes_too_early(item)

    def _is_of_classic_group_to_come(self, item: Item) -> bool:
        """Whether a line tells of a classic group while the records of its conversion have not been taken yet."""
        if item.line is None or item.line.event not in _OF_CLASSIC_GROUPS:
            return False
        return any(course.is_there for course in self._courses.values())

    def take(self, item: Item) -> None:
        """Take a piece of evidence."""
        if item.modern is None:
            self._classic.take(item)
        else:
            self._take_records(item, item.modern, item.record)

    def settle(self, now: float) -> None:
        """Tell what is settled at a moment; infinite = everything, as far as it has come."""
        if now == inf:
            for course in self._courses.values():
                course.tell_open()
        self._state.modern.told.forget(now)
        self._classic.settle(now)

    def _take_records(self, item: Item, rows: Sequence[ModernGroupRecordRow], classic: GroupMetadataRow | None) -> None:
        at = rows[0].recorded_at or 0.0
        was_classic = classic is not None and classic.record_offset < rows[0].record_offset
        if was_classic:
            self._classic.take(item)
        by_type: dict[str, list[ModernGroupRecordRow]] = {}
        for row in rows:
            if row.record_type in _TYPE_OF_RECORD:
                by_type.setdefault(_TYPE_OF_RECORD[row.record_type], []).append(row)
        for group_type, own in by_type.items():
            self._classic.give_way(at)
            self._course(group_type).take(own, at, was_classic)
        if classic is not None and not was_classic:
            self._classic.take(item)
            self._classic.take_over(classic)

    def _course(self, group_type: str) -> Course:
        course = self._courses.get(group_type)
        if course is None:
            protocol = PROTOCOLS[group_type]
            spoken: Any = getattr(self._state.modern, group_type)
            if spoken is None:
                spoken = Spoken(protocol.machine())
                setattr(self._state.modern, group_type, spoken)
            course = Course(
                self._state.shared, protocol, spoken.known, spoken.machine, self._state.modern.told, self._sink
            )
            self._courses[group_type] = course
        return course
