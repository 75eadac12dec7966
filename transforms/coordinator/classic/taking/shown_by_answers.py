"""What only the answer to a request shows: what the group had been, and what the broker has set.

Where a prediction rests on it, the audit's row says so.
"""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from transforms.coordinator.classic.machine.admission import admit, counted_members, has_room
from transforms.coordinator.classic.machine.events import Cause, Event
from transforms.coordinator.classic.machine.foresight import foresee
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.rejoins import is_unprinted
from transforms.coordinator.evidence.exchanges import Exchange
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.timeline.audit import WHY_NEW_GROUP, WHY_SETTING, WHY_UNPRINTED, Verdict

_LET_IN = frozenset({Error.NONE, Error.MEMBER_ID_REQUIRED})
"""Answers to a JoinGroup for whom there was room."""


def is_refused_in_a_race(course: Course, verdict: Verdict) -> bool:
    """Settle a JoinGroup that only the state of a moment ago would have refused; it changed nothing then."""
    exchange, machine = verdict.exchange, course.machine
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
    """Joins that are refused and joins that are let in show what group.max.size is, where it is not printed."""
    exchange, machine = verdict.exchange, course.machine
    group, request = machine.present, exchange.request
    is_full = exchange.observed_error == Error.GROUP_MAX_SIZE_REACHED
    if group is None or not (is_full or exchange.observed_error in _LET_IN):
        return
    if has_room(group, request.member_id, machine.settings) is not is_full:
        return  # as was to be expected
    count = counted_members(group, request.member_id, machine.settings)
    size = None if count is None else count if is_full else count + 1
    if size and not course.brokers.are_printed(exchange.row.broker):
        machine.settings = course.brokers.learn(exchange.row.broker, max_size=size)
        verdict.use_answer(WHY_SETTING)


def is_shown_full(course: Course, verdict: Verdict) -> bool:
    """Let a JoinGroup be refused that its answer alone shows to be one too many.

    Where nothing but a record tells of the members, there may be more by now: how many are allowed is not learnt.
    """
    exchange, machine, group = verdict.exchange, course.machine, course.machine.present
    if exchange.observed_error != Error.GROUP_MAX_SIZE_REACHED or group is None:
        return False
    if not all(member.is_partial for member in group.members.values()):
        return False
    request, at = exchange.request, exchange.handled_at
    count = counted_members(group, request.member_id, machine.settings)
    if not count or count >= machine.settings.max_size or course.brokers.are_printed(exchange.row.broker):
        return False
    verdict.use_answer(WHY_SETTING)
    cause = Cause(at, request, (request.member_id,))
    course.let(at, partial(machine.apply, Event.JOIN_REFUSED_FULL, cause), by=exchange)
    return True


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


def is_shown_new(course: Course) -> bool:
    """Whether an answer with the first generation, to this or a request close by, shows that there was no group yet."""
    presence = course.presence
    if course.machine.present is not None or presence.shown_new_by is None:
        return False
    presence.is_absence_known = True
    presence.is_shown_new = True
    return True


def end_being_shown_new(course: Course, verdict: Verdict) -> None:
    """The request is taken whose answer showed that there was no group before; of what comes later it shows nothing."""
    presence = course.presence
    if presence.is_shown_new:
        verdict.use_answer(WHY_NEW_GROUP)
    presence.shown_new_by, presence.is_shown_new = None, False


def learn_unpredicted(course: Course, exchange: Exchange) -> None:
    """Where the members are not known, all that a request can show is that somebody who was one has left."""
    group = course.machine.present
    if group is None or exchange.request.api != "LeaveGroup" or exchange.observed_error != Error.NONE:
        return
    for leaver in exchange.request.leavers:
        if leaver.member_id in group.members:
            cause = Cause(exchange.handled_at, None, (leaver.member_id,))
            course.let(cause.at, partial(course.machine.apply, Event.MEMBERS_LEFT, cause))
