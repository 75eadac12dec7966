"""Brings the machine to what the evidence shows, along the shortest legal path.

The steps that have to be put in are marked as inferred. If no path leads there, the group is simply set: a record
is right, whatever the machine thinks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from transforms.coordinator.answers import Error
from transforms.coordinator.effects import member_timer
from transforms.coordinator.events import Cause, Event, Gone, Moved
from transforms.coordinator.evidence import Row
from transforms.coordinator.group import Group, Member, Timer
from transforms.coordinator.machine import Machine
from transforms.coordinator.states import GroupState

EXPIRY_SLACK_MS = 50.0
"""At the end of a join phase, members whose session ends this soon ended by it, and not for not rejoining."""

_STEPS: dict[GroupState, tuple[GroupState, Event]] = {
    GroupState.EMPTY: (GroupState.PREPARING, Event.REBALANCE_OBSERVED),
    GroupState.PREPARING: (GroupState.COMPLETING, Event.JOIN_COMPLETED),
    GroupState.COMPLETING: (GroupState.STABLE, Event.ASSIGNMENT_STORED),
    GroupState.STABLE: (GroupState.PREPARING, Event.REBALANCE_OBSERVED),
}
"""The one way round: from each state the next, and the event that leads there."""


def bring_to(
    machine: Machine, state: GroupState, generation: int, cause: Cause, members: Iterable[Member] | None = None
) -> None:
    """Set the group to a state and generation; say every step but the last as inferred.

    Args:
        machine: the group's machine; a group that is absent comes into being.
        state: where the group is by the evidence.
        generation: its generation there.
        cause: what shows it.
        members: its members; None = not known.
    """
    group = machine.present or machine.create()
    for before, after, event, at_generation in _path(group.state, group.generation, state, generation):
        is_last = after is state and at_generation == generation
        step_cause = Cause(cause.at, None, (), cause.source, is_inferred=not is_last)
        machine.outbox.append(Moved(cause.at, before, after, event, at_generation, step_cause))
    _set(machine, group, state, generation, cause, members)


def take_over(
    machine: Machine, state: GroupState, generation: int, cause: Cause, members: Iterable[Member] | None
) -> None:
    """Set the group to what a new coordinator read of it, which knows nothing else; arguments as for `bring_to`.

    Ids that are pending, joins and syncs that are parked, protocols that were not elected: all that is lost.
    """
    old = machine.present or machine.create()
    group = machine.create()
    machine.outbox.append(Moved(cause.at, old.state, state, Event.GROUP_LOADED, generation, cause))
    group.previous_state, group.state, group.generation = state, state, generation
    loaded = {member.member_id: member for member in members or ()}
    group.is_known = members is not None
    for member_id in old.members:
        if group.is_known and member_id not in loaded:
            machine.outbox.append(Gone(cause.at, member_id, "unknown", cause.source))
    for member in loaded.values():
        group.add(member)
        machine.reset_session(member, cause.at)
        if member.member_id not in old.members:
            # The record that was loaded shows that it is a member, not since when.
            machine.say_joined(member, Cause(cause.at, source="offsets"))


def _path(
    state: GroupState, generation: int, target: GroupState, target_generation: int
) -> list[tuple[GroupState, GroupState, Event, int]]:
    """Return the steps from one state to another: before, after, event, generation after.

    A jump over generations walks the last one only: those between are for `missing_before` to count.
    """
    steps: list[tuple[GroupState, GroupState, Event, int]] = []
    if (state, generation) == (target, target_generation):
        return steps
    if not (generation == target_generation and _later(target, state)):
        # The generation counts when the join phase ends: what is sought lies behind the next one.
        before_join = target_generation if target is GroupState.PREPARING else target_generation - 1
        if state is not GroupState.PREPARING:
            steps.append((state, GroupState.PREPARING, Event.REBALANCE_OBSERVED, before_join))
        state = GroupState.PREPARING
    while state is not target:
        if state is GroupState.PREPARING and target is GroupState.EMPTY:
            steps.append((state, target, Event.JOIN_COMPLETED_EMPTY, target_generation))
            break
        after, event = _STEPS[state]
        steps.append((state, after, event, target_generation))
        state = after
    return steps


def _later(target: GroupState, state: GroupState) -> bool:
    """Whether a state follows another within one generation."""
    order = (GroupState.COMPLETING, GroupState.STABLE, GroupState.PREPARING)
    if state is GroupState.EMPTY:
        return target is GroupState.PREPARING
    return state in order and target in order and order.index(target) > order.index(state)


def _set(
    machine: Machine,
    group: Group,
    state: GroupState,
    generation: int,
    cause: Cause,
    members: Iterable[Member] | None,
) -> None:
    group.previous_state, group.state = group.state, state
    group.generation = generation
    group.timers.clear()
    group.pending_syncs.clear()
    if state is GroupState.EMPTY:
        group.protocol = group.leader = None
        members = ()
    if members is None:
        group.is_known = False
        return
    group.is_known = True
    _set_members(machine, group, list(members), cause)


def _set_members(machine: Machine, group: Group, members: list[Member], cause: Cause) -> None:
    """Take over a member list: who is missing is gone, who is new came; neither is known more closely."""
    kept = {member.member_id for member in members}
    for member_id in [member_id for member_id in group.members if member_id not in kept]:
        group.remove(member_id)
        machine.outbox.append(Gone(cause.at, member_id, "unknown", cause.source))
    for member in members:
        known = group.members.get(member.member_id)
        if known is not None:
            known.parked_join = known.parked_sync = None
            known.assignment = member.assignment or known.assignment
            known.is_new = False
        else:
            group.add(member)
            machine.say_joined(member, cause)
        group.timers[member_timer(member.member_id)] = Timer(cause.at + member.session_timeout_ms)


def members_of(record: Row, is_load: bool = False) -> list[Member]:
    """Build the members that a record holds.

    Args:
        record: row of `silver.group_metadata`.
        is_load: the coordinator itself has only the record, so what it knows is complete.
    """
    protocol = record["protocol"] or ""
    return [
        Member(
            member_id=member["member_id"],
            group_instance_id=member["group_instance_id"],
            client_id=member["client_id"],
            client_host=member["client_host"],
            session_timeout_ms=member["session_timeout_ms"] or 0,
            rebalance_timeout_ms=member["rebalance_timeout_ms"] or 0,
            protocols=((protocol, bytes(member["subscription"] or b"")),),
            assignment=bytes(member["assignment"] or b""),
            is_partial=not is_load,
        )
        for member in record["members"]
    ]


def reloaded(member: Member, protocol: str | None) -> Member:
    """Return a member as it is once its group was stored and loaded: of its protocols, the elected one is left."""
    metadata = member.metadata(protocol)
    kept = () if protocol is None or metadata is None else ((protocol, metadata),)
    return replace(member, protocols=kept, is_new=False, parked_join=None, parked_sync=None)


def end_join(machine: Machine, at: float, source: str) -> None:
    """Something shows that the join phase is over."""
    group = machine.group
    for member in list(group.members.values()):
        timer = group.timers.get(("member", member.member_id))
        is_out = member.parked_join is None and timer is not None and timer.due <= at + EXPIRY_SLACK_MS
        if is_out and group.state is GroupState.PREPARING and len(group.members) > 1:
            machine.remove(member.member_id, Cause(at, source="timer"), "session_expired", Error.UNKNOWN_MEMBER_ID)
    machine.complete_join(Cause(at, source=source))
