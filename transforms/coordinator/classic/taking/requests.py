"""Takes a request: the machine judges it by what came before it, and that is the prediction that the audit compares.

Where the request's own answer is needed for that, the audit's row says so.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from schemas.rows import GroupRequestRow
from transforms.coordinator.classic.machine.admission import admit
from transforms.coordinator.classic.machine.events import Cause
from transforms.coordinator.classic.taking.conversion import become_modern
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.joiners import is_unnamed
from transforms.coordinator.classic.taking.shown_by_answers import (
    end_being_shown_new,
    is_refused_in_a_race,
    is_shown_full,
    is_shown_new,
    learn_from_join,
    learn_unpredicted,
)
from transforms.coordinator.evidence.exchanges import Exchange, is_unreplicated, observed_error, second_exchange_of
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.evidence.ownership import may_have_asked
from transforms.coordinator.evidence.tolerances import HOLD_MS, LOOK_AHEAD_MS, SETTLING_MS, STORE_MS
from transforms.coordinator.kafka.answers import (
    BROKER_REFUSALS,
    REFUSALS,
    REFUSALS_OF_JOIN,
    REFUSALS_OF_TRANSACTIONS,
    Error,
)
from transforms.coordinator.kafka.apis import MODERN_HEARTBEATS, UNCHANGING_APIS, WAITING_APIS
from transforms.coordinator.kafka.states import COMPLETING, EMPTY, NAMES, STABLE
from transforms.coordinator.timeline.audit import (
    WHY_BROKER,
    WHY_EITHER,
    WHY_HELD,
    WHY_MODERN,
    WHY_NOT_COORDINATOR,
    WHY_OTHER_COPY,
    WHY_TRANSACTION,
    WHY_UNKNOWN,
    WHY_UNREPLICATED,
    WHY_UNSTORED,
    WHY_UNTOLD,
    Verdict,
)


def take(course: Course, item: Item) -> None:
    """Let the machine handle a request, and begin its row of the audit."""
    course.presence.hear_again(item.handled_at - HOLD_MS)
    if item.request is not None and item.request.api in MODERN_HEARTBEATS:
        _take_modern(course, item.handled_at, item.request)
        return
    exchange = course.exchange_of(item)
    row = exchange.row
    group, lives = course.machine.present, course.lives
    verdict = course.audit.begin(exchange, None if group is None else NAMES[group.state])
    lives.settle_by(exchange.answered_at + SETTLING_MS)
    second = None if item.second is None else second_exchange_of(item)
    if second is not None:
        course.audit.expect_second(exchange, second, verdict.state_before)
    if _joined_in_vain(course, verdict) or _is_refused(course, verdict) or _is_of_other_group(course, verdict):
        return
    if exchange.request.leavers:
        _note_reasons(course, exchange)
    if not course.is_known and not is_shown_new(course):
        verdict.why = WHY_UNKNOWN
        learn_unpredicted(course, exchange)
        return
    course.attend(row.broker)
    if course.presence.shown_new_by == exchange.request.token:
        end_being_shown_new(course, verdict)
    if row.api == "JoinGroup":
        if item.holds:
            verdict.use_answer(WHY_HELD)
        if exchange.observed_error in REFUSALS_OF_JOIN and _is_refused_as_told(course, verdict):
            return
        learn_from_join(course, verdict)
    _handle(course, verdict)


# --- who answers ---------------------------------------------------------------------------------------------------


def _is_refused(course: Course, verdict: Verdict) -> bool:
    """Whether the group never saw the request; says what was to be expected, where lines show it."""
    exchange = verdict.exchange
    observed, ownership, row = exchange.observed_error, course.ownership, exchange.row
    if observed and (why := _why_unforeseen(course, exchange)):
        verdict.why = why
        return True
    if row.api == "SyncGroup" and exchange.request.lacks_protocol:
        verdict.predicted_error = int(Error.INCONSISTENT_GROUP_PROTOCOL)  # by the broker, before the coordinator
        return True
    is_told = observed in REFUSALS
    is_settled = not is_told and ownership.is_settled(row.broker, exchange.handled_at, exchange.answered_at)
    if is_settled or exchange.request.unknown_topics_only:  # of such a commit nobody asks who coordinates the group
        return False
    answers = ownership.answers(row.broker, row.api, exchange.handled_at, exchange.answered_at)
    asks = not answers or answers[0] is None
    if is_told and asks and _waits(exchange) and (observed in answers or _is_answered_later(exchange)):
        return False  # the group took it, and gave it back when it moved
    if not is_told and may_have_asked(answers, observed):
        if len(answers) > 1:
            verdict.use_answer(WHY_EITHER)
        return False
    counts = row.api in UNCHANGING_APIS and _is_unreplicated(course, exchange)
    if asks and (counts or _tells_of_failed_store(exchange)):
        return False
    expected = [answer for answer in answers if answer is not None]
    verdict.predicted_error = observed if observed in expected else next(map(int, expected), None)
    if verdict.predicted_error is None:
        verdict.why = WHY_NOT_COORDINATOR
    elif len(answers) > 1 and observed in expected:
        verdict.use_answer(WHY_EITHER)
    return True


def _why_unforeseen(course: Course, exchange: Exchange) -> str | None:
    """Say who refused a request before the group was asked, where nothing can be foreseen; None if nobody did."""
    observed = exchange.observed_error
    if observed in BROKER_REFUSALS and not _may_have_stumbled(course, exchange):
        return WHY_BROKER
    return WHY_TRANSACTION if observed in REFUSALS_OF_TRANSACTIONS else None


def _joined_in_vain(course: Course, verdict: Verdict) -> bool:
    """Whether the log was not replicated in time for somebody who joined; says so.

    Source: GroupMetadataManager.classicGroupJoin (the appendFuture of a group that is new, or was of another type).
    """
    exchange = verdict.exchange
    if not exchange.observed_error or exchange.row.api != "JoinGroup" or not _is_unreplicated(course, exchange):
        return False
    verdict.predicted_error = int(Error.COORDINATOR_NOT_AVAILABLE)
    verdict.use_answer(WHY_UNREPLICATED)
    return True


def _is_refused_as_told(course: Course, verdict: Verdict) -> bool:
    """Whether a joiner's answer, which hangs on who is in the group, alone shows that it was refused."""
    if is_refused_in_a_race(course, verdict) or is_shown_full(course, verdict):
        return True
    return _is_refused_for_what_is_untold(course, verdict)


def _is_refused_for_what_is_untold(course: Course, verdict: Verdict) -> bool:
    """Whether a joiner's answer shows that a member offers none of its protocols, though nothing told what it offers.

    A record has the elected protocol alone, and a line none.
    """
    exchange, group = verdict.exchange, course.machine.present
    if exchange.observed_error != Error.INCONSISTENT_GROUP_PROTOCOL or group is None or group.state is EMPTY:
        return False
    request = exchange.request
    if not group.supports(request.protocol_type, request.protocols) or group.surely_supports(request.protocols):
        return False
    verdict.predicted_error = int(Error.INCONSISTENT_GROUP_PROTOCOL)
    verdict.use_answer(WHY_UNTOLD)
    return True


def _may_have_stumbled(course: Course, exchange: Exchange) -> bool:
    """Whether the coordinator itself may have failed on a request, and not the broker before it."""
    is_told = exchange.observed_error == Error.UNSUPPORTED_VERSION and exchange.row.api in ("JoinGroup", "LeaveGroup")
    return is_told and course.is_known and course.brokers.of(exchange.row.broker).rules.stumbles_over_old_leaders


def _waits(exchange: Exchange) -> bool:
    return exchange.parked_ms > 0 and exchange.row.api in WAITING_APIS


def _tells_of_failed_store(exchange: Exchange) -> bool:
    """Whether the group took a SyncGroup, and its answer tells that the assignment could not be stored."""
    is_error = exchange.observed_error == Error.COORDINATOR_NOT_AVAILABLE
    return exchange.row.api == "SyncGroup" and is_error and exchange.parked_ms > STORE_MS


def _is_unreplicated(course: Course, exchange: Exchange) -> bool:
    """Whether its answer tells that the log was not replicated in time; a heartbeat or commit counts all the same."""
    if exchange.observed_error != Error.COORDINATOR_NOT_AVAILABLE:
        return False  # nearly always: what the broker has set need not be looked up
    return is_unreplicated(exchange, course.brokers.of(exchange.row.broker).commit_timeout_ms)


def _is_answered_later(exchange: Exchange) -> bool:
    """Whether the answer lies further ahead than what has been seen."""
    return exchange.answered_at > exchange.handled_at + LOOK_AHEAD_MS


def _is_of_other_group(course: Course, verdict: Verdict) -> bool:
    """Whether another group answered than the one that is replayed: of a newer protocol, or the old coordinator's.

    A broker may not have given the group up yet while another coordinates it already.
    """
    if course.presence.is_modern:
        verdict.why = WHY_MODERN
        return True
    if course.is_elsewhere(verdict.exchange.row.broker):
        verdict.why = WHY_OTHER_COPY
        return True
    return False


def _take_modern(course: Course, at: float, row: GroupRequestRow) -> None:
    """A heartbeat of a newer protocol that is let in shows that the group speaks it."""
    is_known = course.presence.is_modern and course.machine.present is None
    if not is_known and observed_error(row) == Error.NONE:
        cause = Cause(at)
        course.let(cause.at, partial(become_modern, course, cause))


# --- the group answers ---------------------------------------------------------------------------------------------


def _handle(course: Course, verdict: Verdict) -> None:
    exchange, machine = verdict.exchange, course.machine
    request, at = exchange.request, exchange.handled_at
    if request.api in UNCHANGING_APIS and machine.present is not None:
        machine.handle(request, at)
        course.note()
        if verdict.predicted_error == Error.NONE and _is_unreplicated(course, exchange):
            verdict.predicted_error = int(Error.COORDINATOR_NOT_AVAILABLE)
            verdict.use_answer(WHY_UNREPLICATED)
        return
    if request.given_member_id is None and not request.member_id and is_unnamed(exchange.row):
        named = course.state.joiners.name_of(request, at, course.taken_ids())
        request = replace(request, given_member_id=named)
        if named is None:
            course.state.joiners.make_up(request.joiner_id, () if machine.present is None else machine.present.members)
    if _was_unstored(course, exchange):
        unstored = replace(request, is_unstored=True)
        settings = machine.settings
        if admit(machine.present, unstored, settings) != admit(machine.present, request, settings):
            verdict.use_answer(WHY_UNSTORED)
        request = unstored
    # It took effect at the latest when it was answered, or began to wait; a SyncGroup when what it waits for is done.
    until = exchange.answered_at if request.api == "SyncGroup" else exchange.answered_at - exchange.parked_ms
    course.let(at, partial(machine.handle, request, at), until if until > at else at, exchange)


def _was_unstored(course: Course, exchange: Exchange) -> bool:
    """Whether a request waited for the log, and its answer shows that it waited in vain.

    What is stored is the leader's assignment, and the new id of a static member that joins without its old one.
    """
    if exchange.request.api == "SyncGroup":
        if not exchange.observed_error:
            return False
        return exchange.parked_ms > STORE_MS or _is_overtaken(course, exchange) or _is_on_its_way(course, exchange)
    if exchange.request.group_instance_id is None or exchange.request.api != "JoinGroup":
        return False
    group, told = course.machine.present, exchange.observed_generation
    if group is None:
        return False
    if exchange.request.member_id or exchange.parked_ms <= (0 if _is_replaced_in_turn(exchange) else STORE_MS):
        return False
    return told is None or told > group.generation


def _is_replaced_in_turn(exchange: Exchange) -> bool:
    """Whether a static member was given an id, and fenced: the next with its instance came while it was stored."""
    is_given_id = exchange.request.given_member_id is not None
    return is_given_id and exchange.observed_error == Error.FENCED_INSTANCE_ID


def _is_overtaken(course: Course, exchange: Exchange) -> bool:
    """Whether something came while an assignment, which a line tells came in, was on its way into the log.

    A rebalance, or somebody who takes the place of the leader, which is then fenced.
    """
    return course.witnesses.tells_of(STABLE, exchange.request.generation, exchange.handled_at) is not None


def _is_on_its_way(course: Course, exchange: Exchange) -> bool:
    """Whether the leader had sent its assignment before, and that has been on its way into the log since."""
    group, member_id = course.machine.present, exchange.request.member_id
    if group is None or group.leader != member_id or group.state is not COMPLETING:
        return False
    leader = group.members.get(member_id)
    return leader is not None and leader.parked_sync is not None


def _note_reasons(course: Course, exchange: Exchange) -> None:
    """Keep the reasons of leavers under the ids that they go by in the group."""
    group = course.machine.present
    for leaver in exchange.request.leavers:
        member_id = leaver.member_id
        if not member_id and group is not None:
            member_id = group.static_members.get(leaver.group_instance_id or "", "")
        if leaver.reason and member_id:
            course.departures.reasons[member_id] = (exchange.handled_at, leaver.reason)
