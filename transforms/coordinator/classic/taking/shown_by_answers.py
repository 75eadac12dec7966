"""What only the answer to a request shows: what the group had been, and what the broker has set.

Where a prediction rests on it, the audit's row says so.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from transforms.coordinator.classic.machine.admission import admit
from transforms.coordinator.classic.machine.events import Cause, Event
from transforms.coordinator.classic.machine.foresight import foresee
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.rejoins import is_unprinted
from transforms.coordinator.evidence.exchanges import Exchange
from transforms.coordinator.kafka.answers import REFUSALS_OF_JOIN, Error
from transforms.coordinator.kafka.states import PREPARING
from transforms.coordinator.timeline.audit import WHY_NEW_GROUP, WHY_SETTING, WHY_UNPRINTED, Verdict


def is_refused_in_a_race(course: Course, verdict: Verdict) -> bool:
    """Settle a JoinGroup that only the state of a moment ago would have refused; it changed nothing then."""
    exchange, machine = verdict.exchange, course.machine
    if exchange.observed_error not in REFUSALS_OF_JOIN:
        return False
    if foresee(machine.present, exchange.request, machine.settings) == exchange.observed_error:
        return False
    return course.audit.is_settled_by_past(verdict, course.answer_of)


def learn_from_join(course: Course, verdict: Verdict) -> None:
    """Learn from the answer to a JoinGroup what neither bytes nor lines tell: what is new in it, and settings."""
    exchange = verdict.exchange
    if exchange.request.token in course.state.rejoins.told_apart:
        verdict.use_answer(WHY_UNPRINTED)
    elif is_unprinted(exchange.row) and exchange.request.is_changed is None:
        _learn_change(course, verdict)
    is_full = exchange.observed_error == Error.GROUP_MAX_SIZE_REACHED
    if is_full and not course.brokers.are_printed(exchange.row.broker):
        _learn_max_size(course, verdict)
    _learn_session_bounds(course, verdict)


def _learn_change(course: Course, verdict: Verdict) -> None:
    """Without bytes and without lines, only its own answer shows whether a rejoin brought something new: it waited."""
    exchange, machine = verdict.exchange, course.machine
    changed, unchanged = (replace(exchange.request, is_changed=is_changed) for is_changed in (True, False))
    if admit(machine.present, changed, machine.settings) != admit(machine.present, unchanged, machine.settings):
        verdict.exchange = replace(exchange, request=changed if exchange.parked_ms else unchanged)
        verdict.use_answer(WHY_UNPRINTED)


def _learn_max_size(course: Course, verdict: Verdict) -> None:
    """Nothing but the first refusal of a join shows what group.max.size is, where it is not printed."""
    group = course.machine.present
    if group is not None:
        size = group.awaiting_join if group.state is PREPARING else len(group.members)
        if size < course.machine.settings.max_size:
            course.machine.settings = course.brokers.learn(verdict.exchange.row.broker, max_size=size)
            verdict.use_answer(WHY_SETTING)


def _learn_session_bounds(course: Course, verdict: Verdict) -> None:
    """A session timeout that was let in shows how far the bounds reach, where they are not printed."""
    exchange, settings = verdict.exchange, course.machine.settings
    timeout, broker = exchange.request.session_timeout_ms, exchange.row.broker
    if not timeout or settings.min_session_timeout_ms <= timeout <= settings.max_session_timeout_ms:
        return
    if exchange.observed_error == Error.INVALID_SESSION_TIMEOUT or course.brokers.are_printed(broker):
        return
    if timeout < settings.min_session_timeout_ms:
        course.machine.settings = course.brokers.learn(broker, min_session_timeout_ms=timeout)
        verdict.use_answer(WHY_SETTING)
    else:
        course.machine.settings = course.brokers.learn(broker, max_session_timeout_ms=timeout)
        verdict.use_answer(WHY_SETTING)


def is_shown_new(course: Course, verdict: Verdict) -> bool:
    """Whether an answer with the first generation, this one's or one close by, shows that there was no group before."""
    presence, token = course.presence, verdict.exchange.request.token
    if course.machine.present is not None or presence.shown_new_by is None:
        return False
    presence.is_absence_known = True
    if token == presence.shown_new_by:
        verdict.use_answer(WHY_NEW_GROUP)
    else:
        presence.is_shown_new = True
    return True


def learn_unpredicted(course: Course, exchange: Exchange) -> None:
    """Where the members are not known, all that a request can show is that somebody who was one has left."""
    group = course.machine.present
    if group is None or exchange.request.api != "LeaveGroup" or exchange.observed_error != Error.NONE:
        return
    for leaver in exchange.request.leavers:
        if leaver.member_id in group.members:
            cause = Cause(exchange.handled_at, None, (leaver.member_id,))
            course.let(cause.at, partial(course.machine.apply, Event.MEMBERS_LEFT, cause))
