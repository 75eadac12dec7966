"""The audit of requests to groups of epochs: does the machine answer as the broker did?

A request that changes something writes its records at once, all in one place of the log: what it met is the group
as the records before made it, to the last one, and what it was answered is the group after its own. A request that
writes nothing met the group as it was when it was handled, which the log tells to a few milliseconds: where a state
that lay within those explains the answer and the likeliest one does not, the row is a race. A line may be late, which
`nearby` tells by what the member wrote; where nothing but the answer tells it, the row says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from transforms.coordinator.epochs.converting import ClassicThere, refusal
from transforms.coordinator.epochs.nearby import (
    Claim,
    Moment,
    Speaker,
    Surroundings,
    first_of_later_request,
    is_before,
    own_operations,
)
from transforms.coordinator.epochs.predicted import Predicted, agrees, explains, predicted_of
from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.epochs.recall import Recall
from transforms.coordinator.epochs.requests import caller_of
from transforms.coordinator.epochs.unasked import unasked
from transforms.coordinator.evidence.exchanges import Observed
from transforms.coordinator.evidence.ownership import Ownership
from transforms.coordinator.evidence.tolerances import LATE_LINE_MS, SAME_MOMENT_MS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.apis import COMMIT_APIS, DELETE_GROUPS, MODERN_HEARTBEATS
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.records import Record
from transforms.coordinator.modern.requests import Answer
from transforms.coordinator.modern.world import World
from transforms.coordinator.timeline.audit import (
    WHY_LATE,
    WHY_RACE,
    WHY_UNKNOWN,
    WHY_UNTOLD,
)

_LOOKED_AT_LAST = frozenset({Error.NONE, Error.INVALID_REGULAR_EXPRESSION})
"""What a join is answered for its own sake, once the group that its id names was found to be one that it can join."""


class Asked(Struct, frozen=True, gc=False):
    """A request and what surrounds it.

    Attributes:
        request: as the machine takes it.
        near: what was written around it.
        speaker: who sent it.
        moment: when, by the order of its connection, and what was written before it by those who sent it.
        claimed: by member, the moment and place of what its requests before wrote last.
        elsewhere: what the group id is, where it is no group of the protocol; None = not known.
        classic: the classic group, where the group id is one.
        failures: when targets could not be computed, and of which epoch, as lines tell.
        is_release_told: the broker told its version; else it may be an earlier one than it is taken for.
        ownership: which broker coordinated the group when.
        recall: answers of the group as it is by the records that were taken.
        topic_names: names of topics by their ids, as far as they are known.
        session_bounds: as `unasked` has them.
        unwritten: members that the broker has in memory alone.
    """

    exchange: Observed
    request: Any
    near: Surroundings
    world: World
    speaker: Speaker
    moment: Moment
    claimed: dict[str, Claim]
    elsewhere: GroupType | None = GroupType.ABSENT
    classic: ClassicThere = ClassicThere()
    failures: Sequence[tuple[float, int]] = ()
    is_release_told: bool = True
    ownership: Ownership = field(default_factory=Ownership)
    recall: Recall = field(default_factory=Recall)
    topic_names: Mapping[str, str] = {}
    session_bounds: tuple[int, int] | None = None
    unwritten: tuple[str, ...] = ()


def judge(protocol: EpochProtocol, asked: Asked) -> tuple[Predicted | None, str | None]:
    """Return what a request is answered, and what is to be said of that; None where nothing can be predicted."""
    exchange = asked.exchange
    observed = exchange.observed_error
    by_broker = unasked(
        exchange, asked.near, asked.ownership, asked.world.settings.commit_timeout_ms, asked.session_bounds
    )
    if by_broker is not None:
        return by_broker
    rules = asked.world.settings.rules
    if exchange.row.api == "ShareGroupHeartbeat" and not rules.keeps_share_targets:
        return None, WHY_UNTOLD
    before_deletion = _before_deletion(protocol, asked)
    if before_deletion is not None:
        return before_deletion, None
    by_records = _of_own_records(protocol, asked)
    if by_records is not None and not observed:
        if by_records.is_late and not agrees(protocol, exchange, by_records.predicted, asked.topic_names):
            unwritten = _of_state(protocol, asked, by_records.begin)
            if unwritten is not None and agrees(protocol, exchange, unwritten, asked.topic_names):
                return unwritten, WHY_LATE
        asked.claimed.update(by_records.claims)
        return by_records.predicted, None
    if by_records is not None and by_records.is_certain:
        return by_records.predicted, None  # whatever it is said to have been answered
    by_state, why = _of_states(protocol, asked, may_be_late=by_records is None)
    may_be_early = not asked.is_release_told and not rules.hashes_topics
    may_fail = may_be_early or not rules.balances_by_level
    is_untold = observed in protocol.untold or (may_fail and observed == Error.UNKNOWN_SERVER_ERROR)
    if is_untold and (by_state is None or by_state.error != observed):
        return None, WHY_UNTOLD
    if by_records is None or (by_state is not None and explains(by_state, exchange)):
        return by_state, why
    return by_records.predicted, None


def _before_deletion(protocol: EpochProtocol, asked: Asked) -> Predicted | None:
    """Return what a request to delete the group is answered that wrote its end; None if it wrote none."""
    near, moment = asked.near, asked.moment
    if asked.exchange.row.api != DELETE_GROUPS or asked.exchange.observed_error:
        return None
    since, until = moment.handled_at - SAME_MOMENT_MS, moment.answered_at + SAME_MOMENT_MS
    for place, operation in enumerate(near.operations):
        if since <= operation.at <= until and operation.is_end:
            return _answer(protocol, asked, near.group_at(protocol, place), ())
    return None


class _Written(Struct, frozen=True, gc=False):
    """What a request is answered that wrote records.

    Attributes:
        begin: the place of the first operation that is its own.
        is_late: its line is, if they are its own.
        is_certain: nobody else can have written them: its member speaks in them, or left, as a line tells.
        claims: whose the last of them are.
    """

    predicted: Predicted
    begin: int
    is_late: bool
    is_certain: bool
    claims: dict[str, Claim]


def _of_own_records(protocol: EpochProtocol, asked: Asked) -> _Written | None:
    """Return the answer of a request that wrote records; None if it wrote nothing."""
    near, speaker, moment = asked.near, asked.speaker, asked.moment
    own = own_operations(protocol.types, near, moment, speaker)
    if own is None:
        return None
    begin, end = own
    records = [record for each in near.operations[begin:end] for record in each.records]
    found = _answer(protocol, asked, near.group_at(protocol, begin), records)
    if found is None or found.error:
        return None
    last = near.operations[end - 1]
    claims = dict.fromkeys(speaker.ids, (last.at, last.place))
    is_late = is_before(near.operations[begin], moment)
    is_certain = not is_late and (bool(speaker.left) or not speaker.is_leave)
    return _Written(found, begin, is_late, is_certain, claims)


def _of_states(protocol: EpochProtocol, asked: Asked, may_be_late: bool) -> tuple[Predicted | None, str | None]:
    """Return the answer of a request that wrote nothing, by the likeliest state, else by one next to it.

    Args:
        protocol: the protocol of the group.
        asked: the request.
        may_be_late: its line may be late; it is not known to stand beside what it wrote.
    """
    exchange, near, moment = asked.exchange, asked.near, asked.moment
    at, observed, operations = moment.handled_at, exchange.observed_error, near.operations
    by_time = sum(each.at <= at for each in operations)
    of_later = first_of_later_request(protocol.types, near, moment, asked.speaker) if may_be_late else None
    count = by_time if of_later is None else of_later
    likeliest = _of_state(protocol, asked, count)
    if likeliest is None:
        return _of_group_to_come(protocol, asked, count)
    if explains(likeliest, exchange):
        return likeliest, None
    for end in range(min(near.taken, count), len(operations) + 1):
        if end == count or not _is_reached(asked, end):
            continue
        other = _of_state(protocol, asked, end)
        if other is None:
            return None, WHY_UNKNOWN  # it was another coordinator's by then
        if explains(other, exchange):
            return other, WHY_RACE if of_later is None else WHY_LATE
    for end in range(count - 1, -1, -1) if may_be_late else ():
        last = operations[end]
        if last.at < at - LATE_LINE_MS or (last.at, last.place) <= moment.claimed:
            break
        other = _of_state(protocol, asked, end)
        if other is not None and explains(other, exchange):
            return other, WHY_LATE
    said = f"{likeliest.error}" if likeliest.error != observed else f"epoch {likeliest.answer.epoch}"
    return likeliest, f"in {likeliest.state or 'no group'} the state machine answers {said}"


def _of_group_to_come(protocol: EpochProtocol, asked: Asked, count: int) -> tuple[Predicted | None, str | None]:
    """Return the answer of a request of which the likeliest state tells nothing, after so many operations.

    A heartbeat may have met the group that was made, or converted, until it was answered; a join that was refused may
    have met one that was empty no more, but not where the group gave way to a classic one.
    """
    exchange, to_come = asked.exchange, asked.near.operations[count:]
    is_refused_join = exchange.row.api == "JoinGroup" and exchange.observed_error and to_come and not to_come[0].is_end
    if exchange.row.api in MODERN_HEARTBEATS or is_refused_join:
        for end in range(count + 1, len(asked.near.operations) + 1):
            met = _of_state(protocol, asked, end) if _is_reached(asked, end) else None
            if met is not None and explains(met, exchange):
                return met, WHY_RACE
    is_commit = exchange.row.api in COMMIT_APIS
    rests_on_partitions = is_commit and asked.near.group_at(protocol, count) is not None
    return None, WHY_UNTOLD if rests_on_partitions else WHY_UNKNOWN


def _is_reached(asked: Asked, end: int) -> bool:
    """Whether so many operations were written by the time when a request was answered."""
    last = asked.near.operations[end - 1].at if end else asked.exchange.answered_at
    return last <= asked.exchange.answered_at + SAME_MOMENT_MS


def _of_state(protocol: EpochProtocol, asked: Asked, end: int) -> Predicted | None:
    """Return the answer of a request that wrote nothing, after the first operations, so many of them."""
    near, row = asked.near, asked.exchange.row
    if end != near.taken or near.present is None or asked.failures:
        return _answer(protocol, asked, near.group_at(protocol, end), ())
    said = (asked.request, asked.world.settings, caller_of(row), row.answered_member_id, asked.unwritten)
    predicted: Predicted | None = asked.recall.answer(
        (protocol.group_type, row.api, row.member_id),
        said,
        lambda: _answer(protocol, asked, near.group_at(protocol, end), ()),
    )
    return predicted


def _answer(protocol: EpochProtocol, asked: Asked, group: Any, records: Sequence[Record[Struct]]) -> Predicted | None:
    """Return what a group answers; it is used up."""
    row = asked.exchange.row
    if group is not None and asked.unwritten:
        group = protocol.with_unwritten(group, asked.unwritten)
    state = None if group is None else group.state.value
    if row.api == DELETE_GROUPS and (group is not None or asked.elsewhere is GroupType.ABSENT):
        return predicted_of(Answer(_error_of_deletion(group)), state)
    if group is None and row.api not in MODERN_HEARTBEATS:
        return None  # what is answered where there is no group, the classic coordinator knows
    given = "" if row.member_id else row.answered_member_id or ""
    fails = not records and group is not None and _fails(asked, group)
    answer = protocol.observe(group, asked.request, records, asked.world, caller_of(row), given)
    if answer is not None and group is None and not records and answer.error in _LOOKED_AT_LAST:
        of_other = _of_other_group(asked)
        return predicted_of(answer, None) if of_other is None and answer.error else of_other
    if answer is not None and not answer.error and fails:
        return predicted_of(Answer(Error.UNKNOWN_SERVER_ERROR), state)
    return None if answer is None else predicted_of(answer, state)


def _error_of_deletion(group: Any) -> Error:
    if group is None:
        return Error.GROUP_ID_NOT_FOUND
    return Error.NON_EMPTY_GROUP if group.members else Error.NONE


def _fails(asked: Asked, group: Any) -> bool:
    """Whether a line tells that the targets could not be computed which a request would have led to."""
    exchange, row = asked.exchange, asked.exchange.row
    if not asked.failures:
        return False
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
    if asked.elsewhere is GroupType.CLASSIC and asked.exchange.row.api == "ConsumerGroupHeartbeat":
        error = refusal(asked.classic, asked.world.settings)
        return None if error is None else predicted_of(Answer(error), None)
    is_known = asked.elsewhere not in (None, GroupType.ABSENT)
    return predicted_of(Answer(Error.GROUP_ID_NOT_FOUND), None) if is_known else None
