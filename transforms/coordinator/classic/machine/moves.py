"""The only file that sets a group's state: along the table, or to where the evidence shows the group.

A replayed group moves in three ways. An event takes it along the table (`enter`). Evidence shows it somewhere else
than the machine has it: then it is brought there along the shortest legal path, the steps that have to be put in
marked as inferred; a record is right, whatever the machine thinks (`bring_to`). Another coordinator loads it, and
knows what the topic holds and nothing else (`take_over`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from transforms.coordinator.classic.machine.desk import Desk
from transforms.coordinator.classic.machine.events import Cause, Event, Gone, Moved
from transforms.coordinator.classic.machine.group import Group, Member
from transforms.coordinator.classic.machine.transitions import ENTER, ONWARD
from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.kafka.states import COMPLETING, EMPTY, PREPARING, STABLE, GroupState


def create(desk: Desk) -> Group:
    """Bring the group into being, Empty and without a generation; what was there before is forgotten."""
    desk.present = Group(desk.group_id, desk.settings.map_kind)
    return desk.present


def enter(desk: Desk, state: GroupState, event: Event, cause: Cause) -> None:
    """Let the group enter a state, with all that Kafka does on every way into it."""
    group = desk.group
    before, position = group.state, len(desk.outbox)
    group.previous_state, group.state = before, state
    ENTER[state](desk, cause)
    desk.outbox.insert(position, Moved(cause.at, before, state, event, group.generation, cause))


# --- where the evidence shows it -----------------------------------------------------------------------------------


def bring_to(
    desk: Desk, state: GroupState, generation: int, cause: Cause, members: Iterable[Member] | None = None
) -> None:
    """Set the group to a state and generation; say every step but the last as inferred.

    Args:
        desk: the group's desk; a group that is absent comes into being.
        state: where the group is by the evidence.
        generation: its generation there.
        cause: what shows it.
        members: its members; None = not known.
    """
    group = desk.present or create(desk)
    is_within = group.is_known and (group.state, group.generation) == (STABLE, generation)
    for step in path(group.state, group.generation, state, generation):
        is_last = step.after is state and step.generation == generation
        step_cause = Cause(cause.at, None, (), cause.source, is_inferred=not is_last)
        desk.outbox.append(Moved(cause.at, step.before, step.after, step.event, step.generation, step_cause))
    group.previous_state, group.state, group.generation = group.state, state, generation
    group.timers.clear()
    group.pending_syncs.clear()
    if state is EMPTY:
        group.protocol = group.leader = None
        members = ()
    group.is_known = members is not None
    if members is not None:
        members = list(members)
        if is_within:
            _replace_instances(desk, group, members, cause)
        _set_members(desk, group, members, cause)


def assume(desk: Desk, state: GroupState, generation: int, cause: Cause) -> None:
    """Set the group to a state and generation that it was in before anything was known of it: nothing is said."""
    position = len(desk.outbox)
    bring_to(desk, state, generation, cause)
    del desk.outbox[position:]


def take_over(desk: Desk, state: GroupState, generation: int, cause: Cause, members: Iterable[Member] | None) -> None:
    """Set the group to what a new coordinator read of it, which knows nothing else; arguments as for `bring_to`.

    Ids that are pending, joins and syncs that are parked, protocols that were not elected: all that is lost.
    """
    old = desk.present or create(desk)
    group = create(desk)
    desk.outbox.append(Moved(cause.at, old.state, state, Event.GROUP_LOADED, generation, cause))
    group.previous_state, group.state, group.generation = state, state, generation
    loaded = {member.member_id: member for member in members or ()}
    group.is_known = members is not None
    for member_id in old.members:
        if group.is_known and member_id not in loaded:
            desk.outbox.append(Gone(cause.at, member_id, "unknown", cause.source))
    for member in loaded.values():
        group.add(member)
        desk.reset_session(member, cause.at)
        if member.member_id not in old.members:
            # The record that was loaded shows that it is a member, not since when.
            desk.say_joined(member, Cause(cause.at, source=Source.OFFSETS))


class Step(NamedTuple):
    """One step of a path; `generation` is the one after."""

    before: GroupState
    after: GroupState
    event: Event
    generation: int


def path(state: GroupState, generation: int, target: GroupState, target_generation: int) -> Sequence[Step]:
    """Return the steps from one state to another.

    A jump over generations walks the last one only: those between are for `missing_before` to count.
    """
    steps: list[Step] = []
    if (state, generation) == (target, target_generation):
        return steps
    if not (generation == target_generation and _is_later(target, state)):
        # The generation counts when the join phase ends: what is sought lies behind the next one.
        before_join = target_generation if target is PREPARING else target_generation - 1
        if state is not PREPARING:
            steps.append(Step(state, PREPARING, Event.REBALANCE_OBSERVED, before_join))
        state = PREPARING
    while state is not target:
        if state is PREPARING and target is EMPTY:
            steps.append(Step(state, target, Event.JOIN_COMPLETED_EMPTY, target_generation))
            break
        after, event = ONWARD[state]
        steps.append(Step(state, after, event, target_generation))
        state = after
    return steps


def _is_later(target: GroupState, state: GroupState) -> bool:
    """Whether a state follows another within one generation."""
    order = (COMPLETING, STABLE, PREPARING)
    if state is EMPTY:
        return target is PREPARING
    return state in order and target in order and order.index(target) > order.index(state)


def _replace_instances(desk: Desk, group: Group, members: list[Member], cause: Cause) -> None:
    """Give static members their new ids: within a generation nothing else lets an instance have another one."""
    for member in members:
        old = group.members.get(group.static_members.get(member.group_instance_id or "", ""))
        if old is not None and old.member_id != member.member_id and member.member_id not in group.members:
            group.remove(old.member_id)
            group.add(member)
            desk.say_replaced(old, member, cause)


def _set_members(desk: Desk, group: Group, members: list[Member], cause: Cause) -> None:
    """Take over a member list: who is missing is gone, who is new came; neither is known more closely."""
    kept = {member.member_id for member in members}
    for member_id in [member_id for member_id in group.members if member_id not in kept]:
        group.remove(member_id)
        desk.outbox.append(Gone(cause.at, member_id, "unknown", cause.source))
    for member in members:
        known = group.members.get(member.member_id)
        if known is not None:
            assignment = member.assignment or known.assignment
            group.put(replace(known, parked_join=None, parked_sync=None, is_new=False, assignment=assignment))
        else:
            group.add(member)
            desk.say_joined(member, cause)
        desk.reset_session(member, cause.at)
