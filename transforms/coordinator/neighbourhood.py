"""What surrounds a request to a group of epochs: the group that its id is by then, and what was written around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from math import inf
from typing import Any

from schemas.rows import GroupRequestRow
from transforms.coordinator.consumer.conversion import CONSUMER_PROTOCOL
from transforms.coordinator.epochs.converting import ClassicThere
from transforms.coordinator.epochs.course import Course
from transforms.coordinator.epochs.nearby import Moment, Operation, Speaker, Surroundings
from transforms.coordinator.evidence.items import Item, taken_up_at
from transforms.coordinator.evidence.tolerances import SAME_MOMENT_MS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.apis import DELETE_GROUPS
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.states import EMPTY
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.moments import PROTOCOLS, Ahead, operations_of
from transforms.coordinator.past import Past
from transforms.coordinator.state import ReplayState
from transforms.wire.consumer_protocol import read_assignment


class Neighbourhood:
    """What is known around the moment that the replay has come to.

    Args:
        state: the replay's state.
        courses: the replay of the group by each of the newer protocols that it has spoken.
        ahead: records that were seen and not taken yet.
        past: records that were taken a moment ago.
    """

    def __init__(self, state: ReplayState, courses: Mapping[str, Course], ahead: Iterable[Ahead], past: Past) -> None:
        self._state = state
        self._courses = courses
        self._ahead = ahead
        self._past = past

    def present(self) -> str | None:
        """Return the type of the group of epochs that is there by the records that were taken; None = there is none."""
        for name, course in self._courses.items():
            if course.is_there:
                return name
        return None

    def type_at(self, row: GroupRequestRow, handled_at: float) -> str | None:
        """Return the type of the group at a moment, if it is one of epochs; that of its next records, if it is new."""
        there = self.present()
        if there is None:
            near = (each for each in self._ahead if each.at <= handled_at + SAME_MOMENT_MS)
            there = next((name for each in near for name in each.operations), None) or self._joined(row)
        if there is None and row.api == DELETE_GROUPS and self._past.last is not None:
            there = next(iter(self._past.last.operations), None)  # its line may be late, and the group no more
        return there

    def _joined(self, row: GroupRequestRow) -> str | None:
        """Return the type of a group that was new when a JoinGroup was answered, and had whom it let in.

        A broker's first requests of a group can wait for each other, longer than estimates are off.
        """
        if row.api != "JoinGroup" or not row.answered_member_id or row.error_code:
            return None
        if self._state.classic.machine.present is not None:
            return None
        for group_type in PROTOCOLS:
            written = self.to_come(group_type, row.answered_at)
            if any(record.name == row.answered_member_id for each in written for record in each.records):
                return group_type
        return None

    def to_come(self, group_type: str, until: float) -> list[Operation]:
        """Return what was written by a moment of a group of one type, and has not been taken yet."""
        return operations_of(takewhile(lambda each: each.at <= until, self._ahead), group_type)

    def is_over_by(self, at: float) -> bool:
        """Whether the group of epochs was no more at a moment, by records that have not been taken yet."""
        group_type = self.present()
        if group_type is None:
            return False
        epoch = PROTOCOLS[group_type].types.epoch
        records = (record for each in self.to_come(group_type, at) for record in each.records)
        told = [record for record in records if record.type_id == epoch]
        return bool(told) and told[-1].value is None

    def given_up_at(self, group_type: str, row: GroupRequestRow) -> float | None:
        """Return when an empty group gave way to a classic one by a join, as its records tell; None if it did not.

        Where it wrote none it was gone before: who joins an empty group by an id lets its coordinator forget it, and no
        record tells. Source: GroupMetadataManager.classicGroupJoin and maybeDeleteEmptyConsumerGroup (4.2).
        """
        if row.api != "JoinGroup" or row.member_id or not self._is_empty(group_type):
            return None
        written = self.to_come(group_type, row.answered_at + SAME_MOMENT_MS)
        if not written:
            return taken_up_at(row)
        return written[0].at if all(each.is_end for each in written) else None

    def forgotten_at(self, group_type: str, row: GroupRequestRow, rules: ModernRules) -> float | None:
        """Return when an empty group was forgotten by its coordinator, without a record; None if it was not.

        Source: GroupMetadataManager.classicGroupJoin and maybeDeleteEmptyConsumerGroup (4.2).
        """
        is_by_id = row.api == "JoinGroup" and row.member_id and row.error_code == Error.UNKNOWN_MEMBER_ID
        can_be = group_type == "consumer" or (group_type == "streams" and rules.converts_empty_streams)
        is_forgotten = (
            is_by_id and can_be and self._is_empty(group_type) and not self.to_come(group_type, row.answered_at)
        )
        return taken_up_at(row) if is_forgotten else None

    def _is_empty(self, group_type: str) -> bool:
        course = self._courses.get(group_type)
        return course is not None and course.is_there and not course.present.members

    def around(self, group_type: str, handled_at: float, answered_at: float) -> Surroundings:
        """Return a group of one type with what was written of it up to the answer to a request."""
        course = self._courses.get(group_type)
        past = self._past.operations(group_type)
        spoken: Any = getattr(self._state.modern, group_type)
        behind = None if spoken is None or spoken.behind is None else spoken.behind.present
        present = None if course is None else course.present
        to_come = self.to_come(group_type, max(handled_at, answered_at) + SAME_MOMENT_MS)
        return Surroundings(behind, present, len(past), [*past, *to_come])

    def moment(self, item: Item, row: GroupRequestRow, speaker: Speaker) -> Moment:
        """Return when a request was handled, and what those who sent it had written before."""
        claimed = self._state.modern.claimed
        handled_at = item.handled_at if row.handled_at is None else min(item.handled_at, row.handled_at)
        return Moment(
            min(handled_at, item.followed_at),
            min(row.answered_at, item.followed_at),
            max([claimed[each] for each in speaker.ids if each in claimed], default=(-inf, 0)),
        )

    def elsewhere(self, group_type: str) -> GroupType | None:
        """Return what the group id is, if it is no group of a type; None = not known."""
        for name, course in self._courses.items():
            if name != group_type and course.is_there:
                return GroupType(name)
        if self._state.classic.machine.present is not None:
            return GroupType.CLASSIC
        return GroupType.ABSENT if self._courses else None

    def classic(self, at: float) -> ClassicThere:
        """Return the classic group that the id is at a moment, as far as a conversion asks for it."""
        group = self._state.classic.machine.present
        if group is None:
            return ClassicThere()
        given = [member.assignment for member in group.members.values()]
        return ClassicThere(
            len(given),
            group.protocol is not None,
            all(given),
            group.state is EMPTY and not self._is_waited_in(at),
            group.protocol_type in (None, CONSUMER_PROTOCOL),
            any(read_assignment(each).user_data for each in given if each),
        )

    def _is_waited_in(self, at: float) -> bool:
        """Whether somebody waits for the answer to a JoinGroup, and so is in the group, whatever is known of it."""
        asked = (each.exchange for each in self._state.classic.audit.verdicts.values())
        return any(each.row.api == "JoinGroup" and each.handled_at <= at < each.answered_at for each in asked)
