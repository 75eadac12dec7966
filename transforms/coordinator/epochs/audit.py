"""The audit of requests to groups of epochs: does the machine answer as the broker did?

A request that changes something writes its records at once, all in one place of the log: what it met is the group
as the records before made it, to the last one, and what it was answered is the group after its own. A request that
writes nothing met the group as it was when it was handled, which the log tells to a few milliseconds: where a state
that lay within those explains the answer and the likeliest one does not, the row is a race. A line may be late, which
`nearby` tells by what the member wrote; where nothing but the answer tells it, the row says so.
"""

from __future__ import annotations

from msgspec import Struct

from transforms.coordinator.epochs.asked import Asked, answer_after, answer_of
from transforms.coordinator.epochs.nearby import Claim, first_of_later_request, is_before, own_operations
from transforms.coordinator.epochs.predicted import Predicted, explains
from transforms.coordinator.epochs.protocol import EpochProtocol
from transforms.coordinator.epochs.unasked import unasked
from transforms.coordinator.evidence.tolerances import LATE_LINE_MS, SAME_MOMENT_MS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.apis import COMMIT_APIS, DELETE_GROUPS, MODERN_HEARTBEATS
from transforms.coordinator.timeline.audit import WHY_LATE, WHY_RACE, WHY_SETTING, WHY_UNKNOWN, WHY_UNTOLD


def judge(protocol: EpochProtocol, asked: Asked) -> tuple[Predicted | None, str | None]:
    """Return what a request is answered, and what is to be said of that; None where nothing can be predicted."""
    exchange = asked.exchange
    by_broker = unasked(
        exchange, asked.near, asked.ownership, asked.world.settings.commit_timeout_ms, asked.session_bounds
    )
    if by_broker is not None:
        return by_broker
    predicted, why = _of_group(protocol, asked)
    if asked.shows_assignor and why is None and predicted is not None and predicted.error != Error.INVALID_REQUEST:
        return predicted, WHY_SETTING if asked.is_agreed(protocol, predicted) else None
    return predicted, why


def _of_group(protocol: EpochProtocol, asked: Asked) -> tuple[Predicted | None, str | None]:
    """Return the same of a request that a coordinator of the group was asked."""
    exchange = asked.exchange
    observed = exchange.observed_error
    rules = asked.world.settings.rules
    if exchange.row.api == "ShareGroupHeartbeat" and not rules.keeps_share_targets:
        return None, WHY_UNTOLD
    before_deletion = _before_deletion(protocol, asked)
    if before_deletion is not None:
        return before_deletion, None
    by_records = _of_own_records(protocol, asked)
    if by_records is not None and not observed:
        if by_records.is_late and not asked.is_agreed(protocol, by_records.predicted):
            unwritten = answer_after(protocol, asked, by_records.begin)
            if unwritten is not None and asked.is_agreed(protocol, unwritten):
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
            return answer_of(protocol, asked, near.group_at(protocol, place), ())
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
    found = answer_of(protocol, asked, near.group_at(protocol, begin), records)
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
    likeliest = answer_after(protocol, asked, count)
    if likeliest is None:
        return _of_group_to_come(protocol, asked, count)
    if asked.is_agreed(protocol, likeliest):
        return likeliest, None
    is_explained = explains(likeliest, exchange)  # but for the assignment
    for end in range(min(near.taken, count), len(operations) + 1):
        if end == count or not _is_reached(asked, end):
            continue
        other = answer_after(protocol, asked, end)
        if other is not None and asked.is_agreed(protocol, other):
            return other, WHY_RACE if of_later is None else WHY_LATE
        if other is None and not is_explained:
            return None, WHY_UNKNOWN  # it was another coordinator's by then
    late = _of_late_line(protocol, asked, count) if may_be_late else None
    if late is not None:
        return late, WHY_LATE
    if is_explained:
        return likeliest, None
    said = f"{likeliest.error}" if likeliest.error != observed else f"epoch {likeliest.answer.epoch}"
    return likeliest, f"in {likeliest.state or 'no group'} the state machine answers {said}"


def _of_late_line(protocol: EpochProtocol, asked: Asked, count: int) -> Predicted | None:
    """Return the answer by a state before so many operations, if it was given so; None if none of them explains it."""
    moment, operations = asked.moment, asked.near.operations
    for end in range(count - 1, -1, -1):
        last = operations[end]
        if last.at < moment.handled_at - LATE_LINE_MS or (last.at, last.place) <= moment.claimed:
            return None
        met = answer_after(protocol, asked, end)
        if met is not None and asked.is_agreed(protocol, met):
            return met
    return None


def _of_group_to_come(protocol: EpochProtocol, asked: Asked, count: int) -> tuple[Predicted | None, str | None]:
    """Return the answer of a request of which the likeliest state tells nothing, after so many operations.

    A heartbeat may have met the group that was made, or converted, until it was answered; a join that was refused may
    have met one that was empty no more, but not where the group gave way to a classic one.
    """
    exchange, to_come = asked.exchange, asked.near.operations[count:]
    is_refused_join = exchange.row.api == "JoinGroup" and exchange.observed_error and to_come and not to_come[0].is_end
    if exchange.row.api in MODERN_HEARTBEATS or is_refused_join:
        met = _of_state_to_come(protocol, asked, count)
        if met is not None:
            return met, WHY_RACE if asked.is_agreed(protocol, met) else None
    is_commit = exchange.row.api in COMMIT_APIS
    rests_on_partitions = is_commit and asked.near.group_at(protocol, count) is not None
    return None, WHY_UNTOLD if rests_on_partitions else WHY_UNKNOWN


def _of_state_to_come(protocol: EpochProtocol, asked: Asked, count: int) -> Predicted | None:
    """Return the answer by a state after so many operations that explains it whole, or else but for the assignment."""
    explaining = None
    for end in range(count + 1, len(asked.near.operations) + 1):
        met = answer_after(protocol, asked, end) if _is_reached(asked, end) else None
        if met is not None and explains(met, asked.exchange):
            if asked.is_agreed(protocol, met):
                return met
            explaining = explaining or met
    return explaining


def _is_reached(asked: Asked, end: int) -> bool:
    """Whether so many operations were written by the time when a request was answered."""
    last = asked.near.operations[end - 1].at if end else asked.exchange.answered_at
    return last <= asked.exchange.answered_at + SAME_MOMENT_MS
