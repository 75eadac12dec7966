"""What was written around the moment of a request to a group of epochs, and which of it is the request's own.

A request that changes something writes its records at once, so its own are among those of its time. The line that tells
of it has the time at which it was printed, and that may be late: then its own records are among those that were taken
already. A member's requests come one after the other, so what none of the earlier ones wrote was written by this one,
or by one that came after it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from math import inf
from operator import attrgetter
from typing import Any

from msgspec import Struct

from schemas.rows import GroupRequestRow
from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.evidence.tolerances import LATE_LINE_MS, SAME_MOMENT_MS
from transforms.coordinator.kafka.apis import MODERN_HEARTBEATS
from transforms.coordinator.modern.group import LEFT, LEFT_FOR_A_WHILE
from transforms.coordinator.modern.records import CLASSIC_GROUP, Record, Types

Claim = tuple[float, int]
"""Moment and place of what was written."""

_written_at = attrgetter("at")
_SILENT = frozenset({"OffsetCommit", "TxnOffsetCommit", "SyncGroup", "Heartbeat"})
"""Requests that write no records of the group."""


class Operation(Struct, frozen=True, gc=False):
    """What one request or timer wrote, and when.

    Attributes:
        place: its place among those of that moment.
    """

    at: float
    place: int
    records: Sequence[Record[Struct]]

    @property
    def is_end(self) -> bool:
        """Whether nothing is left of what it is about: of the group, where it is empty."""
        return all(record.value is None for record in self.records)


class Surroundings(Struct, frozen=True, gc=False):
    """A group around the moment of a request; it is not changed.

    Attributes:
        behind: the group before the first of the operations; None = it was not there.
        present: the group as it is by the records that were taken; None = it is not there.
        taken: how many of the operations are in `present`.
        operations: what was written, in order.
    """

    behind: Any
    present: Any
    taken: int
    operations: Sequence[Operation]

    def tells_by_itself(self, handled_at: float, answered_at: float) -> bool:
        """Whether a request waited, and records have told what became of the group since it came, or are about to."""
        if self.taken and self.operations[self.taken - 1].at > handled_at:
            return True
        following = self.operations[self.taken].at if self.taken < len(self.operations) else inf
        return handled_at + SAME_MOMENT_MS < following <= answered_at

    def group_at(self, protocol: EpochProtocol, end: int) -> Any:
        """Return a copy of the group as it was after the first operations, so many of them."""
        begin, base = (self.taken, self.present) if end >= self.taken else (0, self.behind)
        records = [record for each in self.operations[begin:end] for record in each.records]
        return protocol.group_after(base, records)


class Moment(Struct, frozen=True, gc=False):
    """When a request was handled and answered, as far as that is known; and what was written by those before it.

    Attributes:
        claimed: of the last that earlier requests of its member wrote.
    """

    handled_at: float
    answered_at: float
    claimed: Claim = (-inf, 0)


class Speaker(Struct, frozen=True, gc=False):
    """Who sent a request.

    Attributes:
        ids: of all that it may write records of.
        is_leave: somebody leaves by it.
        is_going: somebody leaves by it for a while; None = perhaps.
        is_silent: it writes no records of the group.
        says_who: it says what a member's record has.
        converts: it may convert a classic group, which writes records of all its members.
        left: those of `ids` who left by themselves of late, as lines tell.
    """

    ids: frozenset[str]
    is_leave: bool
    is_going: bool | None
    is_silent: bool
    says_who: bool
    converts: bool = False
    left: frozenset[str] = frozenset()

    def may_have_written(self, types: Types, operation: Operation) -> bool:
        """Whether an operation is one by which somebody leaves, or in which somebody speaks."""
        if operation.records[0].type_id == CLASSIC_GROUP and not self.converts:
            return False
        of_member = [each for each in operation.records if each.type_id in (types.member, types.current)]
        named = [each for each in of_member if each.name in self.ids]
        if self.is_leave:  # of those whom a request names, a timer may have removed one just before
            return any(each.value is None and (not self.left or each.name in self.left) for each in named)
        return any(each.value is not None and self.is_going in (None, _is_away(each)) for each in named)

    def could_have_written_late(self, types: Types, operation: Operation) -> bool:
        """Whether it is one that nobody else can have written, and that goes with what the request says."""
        told = [each for each in operation.records if each.type_id in (types.member, types.current) and each.value]
        if operation.records[0].type_id == CLASSIC_GROUP or any(each.name not in self.ids for each in told):
            return False
        return self.says_who or not any(each.type_id == types.member for each in told)


def speaker_of(row: GroupRequestRow, left: Callable[[str], bool]) -> Speaker:
    """Return who sent a request; `left` = whether a line tells that a member left by itself of late."""
    leavers = [each.member_id for each in row.leaving_members or () if each.member_id]
    named = frozenset(filter(None, (row.member_id, row.answered_member_id, *leavers)))
    is_silent = row.api in _SILENT
    is_leave = bool(leavers) or (row.generation == LEFT and not is_silent)
    says_who = (
        row.api == "JoinGroup"
        or row.generation == 0
        or row.subscribed_topics is not None
        or row.subscribed_regex is not None
        or row.server_assignor is not None
        or row.rack_id is not None
        or (row.rebalance_timeout_ms or -1) >= 0
        or row.api == "StreamsGroupHeartbeat"  # of process, endpoint and tags, which the evidence does not hold
    )
    is_going, converts = row.generation == LEFT_FOR_A_WHILE, row.api in MODERN_HEARTBEATS
    return Speaker(named, is_leave, is_going, is_silent, says_who, converts, frozenset(filter(left, named)))


def own_operations(types: Types, near: Surroundings, moment: Moment, speaker: Speaker) -> tuple[int, int] | None:
    """Return the places of the operations that a request wrote; None if it wrote nothing, as far as can be told."""
    if speaker.is_silent or not near.operations:
        return None
    for begin, operation in _unclaimed(near, moment):
        if not speaker.may_have_written(types, operation):
            continue
        is_late = is_before(operation, moment)
        if is_late and not speaker.could_have_written_late(types, operation):
            continue
        end = begin + 1
        following = near.operations[end] if end < len(near.operations) else None
        is_heir = not speaker.is_leave and operation.records[0].value is None  # first it takes its forerunner's place
        if is_heir and following is not None and following.at == operation.at:
            end += speaker.may_have_written(types, following)
        return begin, end
    return None


def _is_away(record: Record[Struct]) -> bool:
    return getattr(record.value, "member_epoch", 0) == LEFT_FOR_A_WHILE


def is_before(operation: Operation, moment: Moment) -> bool:
    """Whether an operation can be a request's own only if the request's line is late."""
    return operation.at < moment.handled_at - SAME_MOMENT_MS


def first_of_later_request(types: Types, near: Surroundings, moment: Moment, speaker: Speaker) -> int | None:
    """Return the place of the first operation before a request that must be of a later request of its member."""
    if not near.operations:
        return None
    speaking = Speaker(speaker.ids, is_leave=False, is_going=None, is_silent=False, says_who=True)
    leaving = Speaker(speaker.left, is_leave=True, is_going=False, is_silent=False, says_who=False)
    for place, operation in _unclaimed(near, moment):
        if operation.at > moment.handled_at:
            return None
        is_spoken = speaking.may_have_written(types, operation)
        if is_spoken and speaking.could_have_written_late(types, operation):
            return place
        if leaving.ids and leaving.may_have_written(types, operation):
            return place
    return None


def _unclaimed(near: Surroundings, moment: Moment) -> Iterator[tuple[int, Operation]]:
    """Operations around a request that none of its member's earlier ones wrote, up to when its answer was logged.

    A request is answered when what it wrote is written, and both times are whole ms of one clock.
    """
    since, until = moment.handled_at - LATE_LINE_MS, moment.answered_at
    first = bisect_left(near.operations, since, key=_written_at)
    for place, operation in enumerate(near.operations[first:], first):
        if operation.at > until:
            return
        if (operation.at, operation.place) > moment.claimed:
            yield place, operation
