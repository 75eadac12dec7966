"""Takes a line of the broker's log: what it says wins over what the machine thinks."""

from __future__ import annotations

from schemas.client_reasons import is_poll_timeout, refined
from schemas.rows import CoordinatorEventRow
from transforms.coordinator.classic.machine.events import Cause, Event
from transforms.coordinator.classic.machine.group import Group
from transforms.coordinator.classic.machine.moves import assume, bring_to, create
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.joiners import listed_ids
from transforms.coordinator.classic.taking.records import delete, was_taken_for_full
from transforms.coordinator.classic.taking.resync import (
    accounts_for,
    are_answered,
    bring_to_unknown,
    end_join,
    is_miscounted,
)
from transforms.coordinator.classic.taking.takeovers import TAKEOVERS, Handler
from transforms.coordinator.classic.taking.triggers import BY_EVENT
from transforms.coordinator.classic.taking.unanswered import is_unanswered_rejoin, join_unanswered, rejoin_unanswered
from transforms.coordinator.evidence.sources import Authority, Source
from transforms.coordinator.kafka.states import COMPLETING, EMPTY, PREPARING, STABLE
from transforms.coordinator.timeline.facts import authority_of

_SOURCE = Source.BROKER_LOG


def take(course: Course, line: CoordinatorEventRow, at: float) -> None:
    """Take one event of the broker's log, which has a handler, logged at a moment."""
    if not _is_afterthought(course, line, at):
        if line.group_id is not None:
            course.attend(line.broker)
        HANDLERS[line.event](course, line, at)


def _is_afterthought(course: Course, line: CoordinatorEventRow, at: float) -> bool:
    """Whether a broker tells of a group that it has given up, whose timers may run on, or that is another's by now."""
    if course.ownership.tells_of_the_past(line):
        return True
    if line.group_id is None or line.event in ("group_loaded", "group_unloaded"):
        return False
    return course.ownership.is_out(line.broker, at) and not _is_of_a_load(line)


def _is_of_a_load(line: CoordinatorEventRow) -> bool:
    """Whether a line is written before the partition that its group lies in has been loaded to its end.

    Source: GroupCoordinator.onGroupLoaded (Scala), GroupMetadataManager.onLoaded (Java).
    """
    return (line.attributes or {}).get("trigger") == BY_EVENT[Event.LOADED_OVER_CAPACITY]


def member_ids_of(line: CoordinatorEventRow) -> tuple[str, ...]:
    """Return the members that a line names, in its order."""
    listed = (line.attributes or {}).get("member_ids")
    if listed:
        return listed_ids(listed)
    return (line.member_id,) if line.member_id else ()


def _cause(at: float, *member_ids: str) -> Cause:
    return Cause(at, None, member_ids, _SOURCE)


# --- the rounds of a rebalance -------------------------------------------------------------------------------------


def _preparing(course: Course, line: CoordinatorEventRow, at: float) -> None:
    old = line.generation or 0
    course.presence.is_modern = False
    machine, group = course.machine, course.machine.present
    if group is not None and group.generation > old and course.life.has(old + 1):
        _late_or_new_life(course, old, at)
        group = machine.present
    if group is None:
        group = create(machine)
    trigger = (line.attributes or {}).get("trigger")
    named = member_ids_of(line)
    course.life.generation(old + 1)
    if group.state is not PREPARING and group.generation == old and is_unanswered_rejoin(course, line, at):
        rejoin_unanswered(course, line, at)
    if not _is_begun(machine.group, old):
        _begin_join(course, old, at, trigger, named)
    member_id = _culprit(course, trigger, named)
    client_reason = line.client_reason or course.departures.reason(member_id)
    if trigger == "member_left" and member_id in course.departures.pending:
        trigger = "pending_member_left"
    if trigger is not None:
        trigger = refined(trigger, client_reason)
    if trigger == "sync_timeout":
        _ended(course, named, at, trigger)
    if trigger == "assignment_store_failed" and old in course.life.generations:
        course.life.generations[old].assigned_at = None  # it came in, and that was all
    row = course.life.generation(old + 1)
    row.learn_times(_SOURCE, preparing_at=at)
    row.learn_cause(_SOURCE, trigger=trigger, member_id=member_id, reason=line.reason, client_reason=client_reason)


def _is_begun(group: Group, old: int) -> bool:
    """Whether the join phase after a generation has begun, or is over."""
    return (group.state is PREPARING and group.generation == old) or group.generation > old


def _late_or_new_life(course: Course, old: int, at: float) -> None:
    """A generation that was counted already is prepared again: a failover lost it, unless the line is just late."""
    row = course.life.generations.get(old + 1)
    if row is None or authority_of(row.preparing_at) >= Authority.LOGGED:
        course.lives.begin(at, _SOURCE)
        assume(course.machine, STABLE, old, _cause(at))


def _culprit(course: Course, trigger: str | None, named: tuple[str, ...]) -> str | None:
    """Return the member behind a rebalance: the first named that was a member.

    For the removal of an instance by an administrator the Java coordinator names nobody; the leave line before does.
    """
    if not named and trigger == "member_left":
        return course.departures.last_leaver
    known = [member_id for member_id in named if member_id in course.life.sessions]
    return next(iter(known or named), None)


_EVENT_OF_TRIGGER = {
    "member_left": Event.MEMBERS_LEFT,
    "poll_timeout": Event.MEMBERS_LEFT,
    "session_expired": Event.SESSION_EXPIRED,
    "sync_timeout": Event.SYNC_TIMED_OUT,
}
"""Triggers whose line names who goes; those that come send a request of their own."""


def _begin_join(course: Course, old: int, at: float, trigger: str | None, named: tuple[str, ...]) -> None:
    """The line is the first to show this join phase: let happen what it names, or just begin it."""
    machine, group = course.machine, course.machine.group
    if group.generation != old or (trigger != "assignment_store_failed" and _is_stable_by_line(course)):
        state = STABLE if old else EMPTY
        bring_to(machine, state, old, Cause(at, None, (), _SOURCE, is_inferred=True), None)
    if trigger == "assignment_store_failed" and machine.apply(Event.ASSIGNMENT_STORE_FAILED, _cause(at, *named)):
        return
    present = tuple(member_id for member_id in named if member_id in group.members)
    event = _EVENT_OF_TRIGGER.get(trigger or "")
    if event is not None and present and group.is_known and course.presence.hears_at(at):
        machine.apply(event, _cause(at, *present))
    else:
        machine.apply(Event.REBALANCE_OBSERVED, _cause(at))


def _is_stable_by_line(course: Course) -> bool:
    """Whether a line told of the leader's assignment, which the machine has not seen."""
    group = course.machine.group
    row = course.life.generation(group.generation)
    is_unseen = group.state is COMPLETING and not row.stable_sets
    return is_unseen and row.assigned_at is not None


def _stabilized(course: Course, line: CoordinatorEventRow, at: float) -> None:
    generation, machine = line.generation or 0, course.machine
    group = machine.present
    if group is not None and group.state is PREPARING and group.generation == generation - 1:
        if group.is_known and group.awaiting_join:
            if accounts_for(group, line.member_count) and are_answered(course, group):
                end_join(machine, at, _SOURCE)
            else:
                course.presence.lacks_requests = True
        if machine.group.state is PREPARING:
            bring_to_unknown(course, COMPLETING, generation, _cause(at))
    elif group is None or group.generation < generation:
        bring_to_unknown(course, COMPLETING, generation, _cause(at))
    elif is_miscounted(group, generation, line.member_count):
        course.presence.lacks_requests = True
        bring_to_unknown(course, group.state, generation, _cause(at))
        course.life.generation(generation).forget_members()
    row = course.life.generation(generation)
    row.learn_times(_SOURCE, completing_at=at)
    row.learn_choice(_SOURCE, member_count=line.member_count)


def _assignment_received(course: Course, line: CoordinatorEventRow, at: float) -> None:
    generation, group = line.generation or 0, course.machine.present
    row = course.lives.of_generation(generation).generation(generation)
    row.learn_times(_SOURCE, assigned_at=at)
    row.learn_choice(_SOURCE, leader=line.member_id, member_count=line.member_count)
    if group is None or group.generation != generation or group.state is not COMPLETING:
        return
    if not course.presence.hears_at(at):
        course.machine.apply(Event.ASSIGNMENT_STORED, _cause(at))


def _emptied(course: Course, line: CoordinatorEventRow, at: float) -> None:
    generation, machine = line.generation or 0, course.machine
    group = machine.present
    life = course.lives.of_generation(generation)
    life.come_about(generation).learn_times(_SOURCE, emptied_at=at)
    is_full = group is not None and life is course.life and was_taken_for_full(group, generation)
    if group is not None and group.generation >= generation and not is_full:
        return
    bring_to(machine, EMPTY, generation, _cause(at), ())
    course.forget_parked()


# --- members -------------------------------------------------------------------------------------------------------


def _failed(course: Course, line: CoordinatorEventRow, at: float) -> None:
    group, member_id = course.machine.present, line.member_id
    if group is not None and _is_of_copy_before(course, group, member_id or "", at):
        return
    _departed(course, line, at, "session_expired")
    # Without a request log the members in between two records are not known: the line is a fact, and no more.
    if group is not None and member_id in group.members and course.presence.hears_at(at):
        course.machine.apply(Event.SESSION_EXPIRED, _cause(at, member_id or ""))


def _is_of_copy_before(course: Course, group: Group, member_id: str, at: float) -> bool:
    """Whether a session ended in a copy of the group that its broker had given up, and since then loaded anew.

    The timers of such a copy run on, and old brokers do not look whether it is still in use when one runs out. Source:
    GroupCoordinator.onExpireHeartbeat (Scala).
    """
    member = group.members.get(member_id)
    return member is not None and at < course.presence.loaded_at + member.session_timeout_ms


def _left(course: Course, line: CoordinatorEventRow, at: float) -> None:
    if line.member_id:
        course.departures.last_leaver = line.member_id
        if line.client_reason:
            course.departures.reasons[line.member_id] = (at, line.client_reason)
    _departed(course, line, at, "poll_timeout" if is_poll_timeout(line.client_reason) else "left")


def _pending_left(course: Course, line: CoordinatorEventRow, at: float) -> None:
    """The Java coordinator rebalances for a pending id that leaves, too, and names it as if it were a member."""
    if line.member_id:
        course.departures.pending[line.member_id] = at


def _departed(course: Course, line: CoordinatorEventRow, at: float, end_cause: str) -> None:
    """A member went. In the Java coordinator its line comes before the rebalance that follows from it."""
    member_id = line.member_id or ""
    course.lives.of_leaver(member_id).session(member_id).went(_SOURCE, end_cause, at, at)


def _pending_expired(course: Course, line: CoordinatorEventRow, at: float) -> None:
    group = course.machine.present
    if group is not None and line.member_id in group.pending_joins:
        course.machine.apply(Event.PENDING_MEMBER_EXPIRED, _cause(at, line.member_id or ""))


def _not_rejoined(course: Course, line: CoordinatorEventRow, at: float) -> None:
    group = course.machine.present
    _ended(course, member_ids_of(line), at, "rebalance_timeout")
    for member_id in member_ids_of(line):
        if group is not None and group.state is PREPARING and member_id in group.members:
            course.machine.remove(member_id, _cause(at), "rebalance_timeout")


def _ended(course: Course, member_ids: tuple[str, ...], at: float, end_cause: str) -> None:
    for member_id in member_ids:
        if member_id in course.life.sessions or end_cause != "sync_timeout":
            course.life.session(member_id).went(_SOURCE, end_cause, at, at)


def _joined(course: Course, line: CoordinatorEventRow, at: float) -> None:
    """Without a request log, or an answer, a line is the only sign of a member until the next record."""
    if line.member_id and not course.presence.hears_at(at):
        course.life.session(line.member_id).came(_SOURCE, at=at, group_instance_id=line.group_instance_id)
    elif line.member_id and course.state.joiners.is_unanswered(line, at):
        join_unanswered(course, line, at)


# --- the group as a whole ------------------------------------------------------------------------------------------


def _deleted(course: Course, line: CoordinatorEventRow, at: float) -> None:
    if not course.lives.is_deletion_known(at, _SOURCE) and course.machine.present is not None:
        delete(course, _cause(at))


HANDLERS: dict[str, Handler] = {
    "preparing_rebalance": _preparing,
    "stabilized": _stabilized,
    "assignment_received": _assignment_received,
    "group_empty": _emptied,
    "member_failed": _failed,
    "member_left": _left,
    "pending_member_left": _pending_left,
    "pending_member_expired": _pending_expired,
    "members_not_rejoined": _not_rejoined,
    "pending_member_joined": _joined,
    "member_added": _joined,
    "static_member_added": _joined,
    "group_deleted": _deleted,
    "group_expired": _deleted,
    **TAKEOVERS,
}
"""What each event of the broker's log does; events that are not here are kept in the table of events alone."""
