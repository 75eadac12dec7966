"""Takes a line of the broker's log: what it says wins over what the machine thinks."""

from __future__ import annotations

import json
from collections.abc import Callable

from transforms.coordinator.events import Cause, Event
from transforms.coordinator.evidence import Row
from transforms.coordinator.facts import AUTHORITY
from transforms.coordinator.records import delete
from transforms.coordinator.replaying import Replay
from transforms.coordinator.resync import bring_to, end_join
from transforms.coordinator.states import GroupState
from transforms.coordinator.takeovers import SOURCE, TAKEOVERS
from transforms.coordinator.triggers import POLL_TIMEOUT, refined


def take(replay: Replay, line: Row) -> None:
    """Take one event of the broker's log; lines about other things pass."""
    handler = _HANDLERS.get(line["event"])
    if handler is not None and not _is_afterthought(replay, line):
        handler(replay, line)


def _is_afterthought(replay: Replay, line: Row) -> bool:
    """Whether a broker tells of a group that it has given up, whose timers may run on for a while."""
    if line["group_id"] is None or line["event"] in ("group_loaded", "group_unloaded"):
        return False
    return replay.brokers.ownership.is_out(line["broker"], float(line["logged_at"]))


def member_ids_of(line: Row) -> tuple[str, ...]:
    """Return the members that a line names, in its order."""
    listed = (line["attributes"] or {}).get("member_ids")
    if listed:
        return tuple(json.loads(listed))
    return (line["member_id"],) if line["member_id"] else ()


def _cause(line: Row, *member_ids: str) -> Cause:
    return Cause(float(line["logged_at"]), None, member_ids, SOURCE)


# --- the rounds of a rebalance -------------------------------------------------------------------------------------


def _preparing(replay: Replay, line: Row) -> None:
    old = line["generation"]
    replay.is_modern = False
    machine, group = replay.machine, replay.machine.present
    if group is not None and group.generation > old and (replay.life, old + 1) in replay.timeline.generations:
        _late_or_new_life(replay, line)
        group = machine.present
    if group is None:
        group = machine.create()
        replay.born_at = float(line["logged_at"])
    trigger = (line["attributes"] or {}).get("trigger")
    named = member_ids_of(line)
    row = replay.timeline.generation(replay.life, old + 1)
    already = (group.state is GroupState.PREPARING and group.generation == old) or group.generation > old
    if not already:
        _begin_join(replay, line, trigger, named)
    member_id = _culprit(replay, trigger, named)
    client_reason = line["client_reason"] or replay.leave_reasons.get(member_id or "")
    if trigger == "member_left" and member_id in replay.pending_leavers:
        trigger = "pending_member_left"
    if trigger is not None:
        trigger = refined(trigger, client_reason)
    if trigger == "sync_timeout":
        _ended(replay, named, float(line["logged_at"]), trigger)
    row.facts.learn(
        SOURCE,
        preparing_at=float(line["logged_at"]),
        trigger=trigger,
        trigger_member_id=member_id,
        reason=line["reason"],
        client_reason=client_reason,
    )


def _late_or_new_life(replay: Replay, line: Row) -> None:
    """A generation that was counted already is prepared again: a failover lost it, unless the line is just late."""
    row = replay.timeline.generation(replay.life, line["generation"] + 1)
    if row.facts.authority("preparing_at") >= AUTHORITY[SOURCE]:
        replay.begin_life(float(line["logged_at"]), SOURCE)
        bring_to(replay.machine, GroupState.STABLE, line["generation"], _cause(line), None)
        replay.machine.drain()


def _culprit(replay: Replay, trigger: str | None, named: tuple[str, ...]) -> str | None:
    """Return the member behind a rebalance: the first named that was a member.

    For the removal of an instance by an administrator the Java coordinator names nobody; the leave line before does.
    """
    if not named and trigger == "member_left":
        return replay.last_leaver
    known = [member_id for member_id in named if (replay.life, member_id) in replay.timeline.sessions]
    return next(iter(known or named), None)


_EVENT_OF_TRIGGER = {
    "member_left": Event.MEMBERS_LEFT,
    "poll_timeout": Event.MEMBERS_LEFT,
    "session_expired": Event.SESSION_EXPIRED,
    "sync_timeout": Event.SYNC_TIMED_OUT,
}
"""Triggers whose line names who goes; those that come send a request of their own."""


def _begin_join(replay: Replay, line: Row, trigger: str | None, named: tuple[str, ...]) -> None:
    """The line is the first to show this join phase: let happen what it names, or just begin it."""
    machine, group = replay.machine, replay.machine.group
    if group.generation != line["generation"] or _is_stable_by_line(replay):
        state = GroupState.STABLE if line["generation"] else GroupState.EMPTY
        bring_to(machine, state, line["generation"], Cause(float(line["logged_at"]), None, (), SOURCE, True), None)
    present = tuple(member_id for member_id in named if member_id in group.members)
    event = _EVENT_OF_TRIGGER.get(trigger or "")
    if event is not None and present and group.is_known and replay.hears_at(line["logged_at"]):
        machine.apply(event, _cause(line, *present))
    else:
        machine.apply(Event.REBALANCE_OBSERVED, _cause(line))


def _is_stable_by_line(replay: Replay) -> bool:
    """Whether a line told of the leader's assignment, which the machine has not seen."""
    group = replay.machine.group
    row = replay.timeline.generation(replay.life, group.generation)
    is_unseen = group.state is GroupState.COMPLETING and (replay.life, group.generation) not in replay.stored
    return is_unseen and row.facts.get("assigned_at") is not None


def _stabilized(replay: Replay, line: Row) -> None:
    generation, machine = line["generation"], replay.machine
    group = machine.present
    if group is not None and group.state is GroupState.PREPARING and group.generation == generation - 1:
        if group.is_known and group.awaiting_join:
            end_join(replay.machine, float(line["logged_at"]), SOURCE)
        if machine.group.state is GroupState.PREPARING:
            bring_to(machine, GroupState.COMPLETING, generation, _cause(line), None)
            replay.forget_parked()
    elif group is None or group.generation < generation:
        bring_to(machine, GroupState.COMPLETING, generation, _cause(line), None)
        replay.forget_parked()
    replay.timeline.generation(replay.life, generation).facts.learn(
        SOURCE, completing_at=float(line["logged_at"]), member_count=line["member_count"]
    )


def _assignment_received(replay: Replay, line: Row) -> None:
    generation, group = line["generation"], replay.machine.present
    row = replay.timeline.generation(replay.life_of(generation), generation)
    row.facts.learn(
        SOURCE, assigned_at=float(line["logged_at"]), leader=line["member_id"], member_count=line["member_count"]
    )
    if group is None or group.generation != generation or group.state is not GroupState.COMPLETING:
        return
    if not replay.hears_at(line["logged_at"]):
        replay.machine.apply(Event.ASSIGNMENT_STORED, _cause(line))


def _emptied(replay: Replay, line: Row) -> None:
    generation, machine = line["generation"], replay.machine
    group = machine.present
    row = replay.timeline.generation(replay.life_of(generation), generation)
    row.facts.learn(SOURCE, emptied_at=float(line["logged_at"]))
    if group is not None and group.generation >= generation:
        return
    bring_to(machine, GroupState.EMPTY, generation, _cause(line), ())
    replay.forget_parked()


# --- members -------------------------------------------------------------------------------------------------------


def _failed(replay: Replay, line: Row) -> None:
    _departed(replay, line, "session_expired")
    group, member_id = replay.machine.present, line["member_id"]
    # Without a request log the members in between two records are not known: the line is a fact, and no more.
    if group is not None and member_id in group.members and replay.hears_at(line["logged_at"]):
        replay.machine.apply(Event.SESSION_EXPIRED, _cause(line, member_id))


def _left(replay: Replay, line: Row) -> None:
    if line["member_id"]:
        replay.last_leaver = line["member_id"]
        if line["client_reason"]:
            replay.leave_reasons[line["member_id"]] = line["client_reason"]
    _departed(replay, line, "poll_timeout" if line["client_reason"] == POLL_TIMEOUT else "left")


def _pending_left(replay: Replay, line: Row) -> None:
    """The Java coordinator rebalances for a pending id that leaves, too, and names it as if it were a member."""
    if line["member_id"]:
        replay.pending_leavers.add(line["member_id"])


def _departed(replay: Replay, line: Row, end_cause: str) -> None:
    """A member went. In the Java coordinator its line comes before the rebalance that follows from it."""
    member_id = line["member_id"]
    session = replay.timeline.sessions.get((replay.life, member_id))
    if session is None and replay.life > 1 and not replay.has_lived:
        session = replay.timeline.sessions.get((replay.life - 1, member_id))
    if session is None:
        session = replay.timeline.session(replay.life, member_id)
        session.is_member = True
    session.facts.learn(SOURCE, ended_at=float(line["logged_at"]), end_cause=end_cause)


def _pending_expired(replay: Replay, line: Row) -> None:
    group = replay.machine.present
    if group is not None and line["member_id"] in group.pending_joins:
        replay.machine.apply(Event.PENDING_MEMBER_EXPIRED, _cause(line, line["member_id"]))


def _not_rejoined(replay: Replay, line: Row) -> None:
    group = replay.machine.present
    _ended(replay, member_ids_of(line), float(line["logged_at"]), "rebalance_timeout")
    for member_id in member_ids_of(line):
        if group is not None and group.state is GroupState.PREPARING and member_id in group.members:
            replay.machine.remove(member_id, _cause(line), "rebalance_timeout")


def _ended(replay: Replay, member_ids: tuple[str, ...], at: float, end_cause: str) -> None:
    for member_id in member_ids:
        session = replay.timeline.sessions.get((replay.life, member_id))
        if session is not None or end_cause != "sync_timeout":
            session = session or replay.timeline.session(replay.life, member_id)
            session.is_member = True
            session.facts.learn(SOURCE, ended_at=at, end_cause=end_cause)


def _joined(replay: Replay, line: Row) -> None:
    """Without a request log a line is the only sign of a member until the next record."""
    if replay.hears_at(line["logged_at"]) or not line["member_id"]:
        return
    session = replay.timeline.session(replay.life, line["member_id"])
    session.is_member = True
    session.facts.learn(SOURCE, joined_at=float(line["logged_at"]), group_instance_id=line["group_instance_id"])


# --- the group as a whole ------------------------------------------------------------------------------------------


def _deleted(replay: Replay, line: Row) -> None:
    at = float(line["logged_at"])
    if not replay.is_deletion_known(at, SOURCE) and replay.machine.present is not None:
        delete(replay, _cause(line))


_HANDLERS: dict[str, Callable[[Replay, Row], None]] = {
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
