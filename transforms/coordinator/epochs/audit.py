"""The audit of requests to groups of epochs: does the machine answer as the broker did?

A request that changes something writes its records at once, all in one place of the log: what it met is the group
as the records before made it, to the last one, and what it was answered is the group after its own. A request that
writes nothing met the group as it was when it was handled, which the log tells to a few milliseconds: where a state
that lay within those explains the answer and the likeliest one does not, the row is a race.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

from msgspec import Struct

from schemas.rows import ReplayAuditRow
from transforms.coordinator.epochs.protocol import AuditedProtocol
from transforms.coordinator.epochs.requests import caller_of
from transforms.coordinator.evidence.exchanges import Exchange
from transforms.coordinator.evidence.tolerances import RACE_WINDOW_MS, SAME_MOMENT_MS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.apis import MODERN_HEARTBEATS
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.partitions import of_numbers
from transforms.coordinator.modern.records import Record
from transforms.coordinator.modern.requests import Answer
from transforms.coordinator.modern.world import World
from transforms.coordinator.timeline.audit import (
    WHY_BROKER,
    WHY_LATER_RELEASE,
    WHY_NOT_COORDINATOR,
    WHY_RACE,
    WHY_UNKNOWN,
    WHY_UNTOLD,
    observed_row,
)

_BY_BROKER = frozenset({Error.UNKNOWN_TOPIC_OR_PARTITION, Error.TOPIC_AUTHORIZATION_FAILED})
_UNKNOWN_TOPIC_ID = 100
_BY_COORDINATOR_CHANGE = frozenset(
    {Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE, Error.COORDINATOR_LOAD_IN_PROGRESS}
)


class Operation(Struct, frozen=True, gc=False):
    """What one request or timer wrote, and when.

    Attributes:
        place: its place among those of that moment.
    """

    at: float
    place: int
    records: Sequence[Record[Struct]]


class Asked(Struct, frozen=True, gc=False):
    """A request and what surrounds it.

    Attributes:
        request: as the machine takes it.
        present: the group as it is by the records that were taken; it is not changed. None = it is not there.
        ahead: what was written since, in order.
        claimed: by member, the moment and place of what its requests before wrote last.
        elsewhere: what the group id is, where it is no group of the protocol; None = not known.
        is_elected: the members of the classic group have elected an assignor; Kafka takes it for granted.
        failures: when targets could not be computed, and of which epoch, as lines tell.
        is_release_told: the broker told its version; else it may be an earlier one than it is taken for.
    """

    exchange: Exchange
    request: Any
    present: Any
    ahead: Sequence[Operation]
    world: World
    claimed: dict[str, tuple[float, int]]
    elsewhere: GroupType | None = GroupType.ABSENT
    is_elected: bool = False
    failures: Sequence[tuple[float, int]] = ()
    is_release_told: bool = True


class Predicted(Struct, frozen=True, gc=False):
    """What a request is answered by the machine."""

    answer: Answer
    state: str | None

    @property
    def error(self) -> int:
        """The error; of a LeaveGroup the first of its members, if there is none above them."""
        return int(self.answer.error or next(filter(None, self.answer.leaver_errors), Error.NONE))


def judge(protocol: AuditedProtocol, asked: Asked) -> tuple[Predicted | None, str | None]:
    """Return what a request is answered, and what is to be said of that; None where nothing can be predicted."""
    exchange = asked.exchange
    observed = exchange.observed_error
    if observed in _BY_COORDINATOR_CHANGE:
        return None, WHY_NOT_COORDINATOR
    if observed in _BY_BROKER or observed == _UNKNOWN_TOPIC_ID:
        return None, WHY_BROKER
    rules = asked.world.settings.rules
    if exchange.row.api == "ShareGroupHeartbeat" and not rules.keeps_share_targets:
        return None, WHY_UNTOLD
    by_records, claim = _of_own_records(protocol, asked)
    if by_records is not None and not observed:
        asked.claimed.update(claim)
        return by_records, None
    by_state, why = _of_states(protocol, asked)
    may_be_early = not asked.is_release_told and not rules.hashes_topics
    may_fail = may_be_early or not rules.balances_by_level
    untold = protocol.untold | {Error.UNKNOWN_SERVER_ERROR} if may_fail else protocol.untold
    if observed in untold and (by_state is None or by_state.error != observed):
        return None, WHY_UNTOLD
    if by_records is None or (by_state is not None and _explains(by_state, exchange)):
        return by_state, why
    return by_records, None


def _of_own_records(protocol: AuditedProtocol, asked: Asked) -> tuple[Predicted | None, dict[str, tuple[float, int]]]:
    """Return the answer of a request that wrote records, and whose the last of them are; None if it wrote nothing."""
    own = _own_operations(protocol, asked)
    if own is None:
        return None, {}
    begin, end = own
    before = _group_after(protocol, asked, asked.ahead[:begin])
    records = [record for each in asked.ahead[begin:end] for record in each.records]
    found = _answer(protocol, asked, before, records)
    if found is None or found.error:
        return None, {}
    row, last = asked.exchange.row, asked.ahead[end - 1]
    return found, {row.member_id or row.answered_member_id or "": (last.at, last.place)}


def _of_states(protocol: AuditedProtocol, asked: Asked) -> tuple[Predicted | None, str | None]:
    """Return the answer of a request that wrote nothing, by the likeliest state, else by one next to it."""
    at, observed = asked.exchange.handled_at, asked.exchange.observed_error
    count = sum(each.at <= at for each in asked.ahead)
    likeliest = _answer(protocol, asked, _group_after(protocol, asked, asked.ahead[:count]), ())
    if likeliest is None:
        return None, WHY_UNKNOWN
    if _explains(likeliest, asked.exchange):
        return likeliest, None
    for end in range(len(asked.ahead) + 1):
        is_near = end == 0 or asked.ahead[end - 1].at <= asked.exchange.answered_at + SAME_MOMENT_MS
        if end == count or not is_near:
            continue
        other = _answer(protocol, asked, _group_after(protocol, asked, asked.ahead[:end]), ())
        if other is None:
            return None, WHY_UNKNOWN  # it was another coordinator's by then
        if _explains(other, asked.exchange):
            return other, WHY_RACE
    said = f"{likeliest.error}" if likeliest.error != observed else f"epoch {likeliest.answer.epoch}"
    return likeliest, f"in {likeliest.state or 'no group'} the state machine answers {said}"


def _explains(predicted: Predicted, exchange: Exchange) -> bool:
    if predicted.error != exchange.observed_error:
        return False
    return exchange.observed_generation is None or predicted.answer.epoch == exchange.observed_generation


def _answer(protocol: AuditedProtocol, asked: Asked, group: Any, records: Sequence[Record[Struct]]) -> Predicted | None:
    """Return what a group answers; it is used up."""
    row = asked.exchange.row
    state = None if group is None else group.state.value
    if group is None and row.api not in MODERN_HEARTBEATS:
        return None  # what is answered where there is no group, the classic coordinator knows
    given = "" if row.member_id else row.answered_member_id or ""
    fails = not records and group is not None and _fails(asked, group)
    answer = protocol.observe(group, asked.request, records, asked.world, caller_of(row), given)
    if answer is not None and group is None and not records and not answer.error:
        return _of_other_group(asked)
    if answer is not None and not answer.error and fails:
        return Predicted(Answer(Error.UNKNOWN_SERVER_ERROR), state)
    return None if answer is None else Predicted(answer, state)


def _fails(asked: Asked, group: Any) -> bool:
    """Whether a line tells that the targets could not be computed which a request would have led to."""
    exchange, row = asked.exchange, asked.exchange.row
    is_leave = row.generation is not None and row.generation < 0
    says_something = row.api == "JoinGroup" or (row.api in MODERN_HEARTBEATS and not is_leave)
    is_due = row.generation == 0 or row.subscribed_topics is not None or group.epoch > group.assignment_epoch
    epochs = {group.epoch, group.epoch + 1}
    return (
        says_something
        and (is_due or row.api == "JoinGroup")
        and any(
            exchange.handled_at - SAME_MOMENT_MS <= at <= exchange.answered_at and epoch in epochs
            for at, epoch in asked.failures
        )
    )


def _of_other_group(asked: Asked) -> Predicted | None:
    """Return what a join is answered that makes no group: the id is another type of group's."""
    is_convertible = asked.exchange.row.api == "ConsumerGroupHeartbeat" and asked.world.settings.can_upgrade
    if asked.elsewhere is GroupType.CLASSIC and is_convertible:
        return None if asked.is_elected else Predicted(Answer(Error.UNKNOWN_SERVER_ERROR), None)
    is_known = asked.elsewhere not in (None, GroupType.ABSENT)
    return Predicted(Answer(Error.GROUP_ID_NOT_FOUND), None) if is_known else None


def _group_after(protocol: AuditedProtocol, asked: Asked, operations: Sequence[Operation]) -> Any:
    """Return a copy of the group as it is after some operations."""
    return protocol.group_after(asked.present, [record for each in operations for record in each.records])


# --- whose records they are ----------------------------------------------------------------------------------------


def _own_operations(protocol: AuditedProtocol, asked: Asked) -> tuple[int, int] | None:
    """Return the places of the operations that a request wrote; None if it wrote nothing, as far as can be told."""
    exchange, row = asked.exchange, asked.exchange.row
    ids = {row.member_id, row.answered_member_id} - {None, ""}
    leavers = {each.member_id for each in row.leaving_members or ()} - {None, ""}
    until = exchange.answered_at + RACE_WINDOW_MS  # a broker answers when the records are written
    claimed = max((asked.claimed[each] for each in ids if each in asked.claimed), default=(-inf, 0))
    is_leave = (row.generation is not None and row.generation == -1 and row.api not in _COMMITS) or bool(leavers)
    if row.api in _COMMITS:
        return None
    for begin, operation in _near(asked.ahead, exchange.handled_at - SAME_MOMENT_MS, until):
        is_claimed = (operation.at, operation.place) <= claimed
        if is_claimed or not _is_by(protocol, operation, ids | leavers, is_leave):
            continue
        end = begin + 1
        following = asked.ahead[end] if end < len(asked.ahead) else None
        is_heir = not is_leave and operation.records[0].value is None  # which first takes its forerunner's place
        if is_heir and following is not None and following.at == operation.at:
            end += _is_by(protocol, following, ids, False)
        return begin, end
    return None


def _near(ahead: Sequence[Operation], since: float, until: float) -> Iterator[tuple[int, Operation]]:
    for place, operation in enumerate(ahead):
        if since <= operation.at <= until:
            yield place, operation


def _is_by(protocol: AuditedProtocol, operation: Operation, ids: set[str | None], is_leave: bool) -> bool:
    """Whether an operation is one that somebody leaves by, or that somebody speaks in."""
    types = protocol.types
    of_member = [each for each in operation.records if each.type_id in (types.member, types.current)]
    named = [each for each in of_member if each.name in ids]
    if is_leave:
        return any(each.value is None for each in named)
    return any(each.value is not None for each in named)


_COMMITS = frozenset({"OffsetCommit", "TxnOffsetCommit", "SyncGroup", "Heartbeat"})
"""Requests that write no records of the group."""


# --- rows ----------------------------------------------------------------------------------------------------------


def audit_row(
    cluster: str, protocol: AuditedProtocol, asked: Asked, predicted: Predicted | None, why: str | None
) -> ReplayAuditRow:
    """Row of `gold.replay_audit`."""
    exchange = asked.exchange
    audited = observed_row(cluster, exchange, exchange.row.member_id)
    audited.group_type, audited.why = protocol.group_type, why
    if predicted is not None:
        _compare(audited, protocol, exchange, predicted)
    if not audited.agrees and asked.world.settings.rules.is_beyond_read:
        audited.why = f"{audited.why}; {WHY_LATER_RELEASE}"
    return audited


def _compare(audited: ReplayAuditRow, protocol: AuditedProtocol, exchange: Exchange, predicted: Predicted) -> None:
    """Fill in what is predicted, and whether the broker answered so."""
    told, foreseen = protocol.told(exchange.row), predicted.answer.assignment
    audited.state_before, audited.predicted_error = predicted.state, predicted.error
    if exchange.observed_generation is not None:
        audited.predicted_generation = predicted.answer.epoch
    if told is not None or (foreseen is not None and exchange.row.api in MODERN_HEARTBEATS):
        audited.is_assignment_agreed = told == (None if foreseen is None else of_numbers(foreseen))
    audited.agrees = _explains(predicted, exchange) and audited.is_assignment_agreed is not False
    if not audited.agrees and audited.why is None:
        said = "the assignment" if _explains(predicted, exchange) else f"epoch {predicted.answer.epoch}"
        audited.why = f"the state machine gives another answer: {said}"
