"""Computes and writes the targets of a streams group (streams.TargetAssignmentBuilder, 4.2)."""

from __future__ import annotations

from transforms.coordinator.assignors.server.sticky_tasks import assign_sticky_tasks
from transforms.coordinator.assignors.server.tasks import Task, TaskGroup, TaskMember, TasksAssigned
from transforms.coordinator.modern.orders import assignor_order
from transforms.coordinator.modern.partitions import Partitions, of_numbers
from transforms.coordinator.modern.records import Record
from transforms.coordinator.streams.group import Member
from transforms.coordinator.streams.records import TARGET, MemberTarget, Topology
from transforms.coordinator.streams.tasks import Tasks, listed
from transforms.coordinator.streams.topology import Configured
from transforms.coordinator.streams.turn import Turn


def update_targets(
    turn: Turn, epoch: int, topology: Topology | None, configured: Configured, updated: Member | None = None
) -> dict[str, Tasks]:
    """Write new targets of all members and return them; where the topology cannot be run, they have none.

    Args:
        turn: the turn.
        epoch: the group's epoch, which becomes that of the targets.
        topology: what is run.
        configured: the same as it is on the topics.
        updated: the member of the request after it; None where no request asks.
    """
    group = turn.group
    members = {**group.members, **({} if updated is None else {updated.member_id: updated})}
    ids = assignor_order(group.in_order(), next(iter(members)) if updated is None else updated.member_id)
    assigned = _assigned(turn, [members[each] for each in ids], topology, configured)
    targets = {each: _tasks(assigned.get(each)) for each in ids}
    for each, target in targets.items():
        if group.targets.get(each) != target:
            value = MemberTarget(listed(target.active), listed(target.standby), listed(target.warmup))
            turn.records.append(Record(TARGET, each, value))
    turn.write_target_epoch(epoch)
    return targets


def _assigned(
    turn: Turn, members: list[Member], topology: Topology | None, configured: Configured
) -> dict[str, TasksAssigned]:
    if not configured.is_ready or configured.task_counts is None:
        return {}
    known = turn.group.targets
    specs = [
        TaskMember(
            each.member_id,
            each.metadata.process_id,
            known.get(each.member_id, Tasks()).active,
            known.get(each.member_id, Tasks()).standby,
        )
        for each in members
    ]
    parts = () if topology is None else topology.subtopologies
    stateful = frozenset(part.subtopology_id for part in parts if part.state_changelog_topics)
    return assign_sticky_tasks(TaskGroup(specs, configured.task_counts, stateful, turn.world.settings.standby_count))


def _tasks(assigned: TasksAssigned | None) -> Tasks:
    return Tasks() if assigned is None else Tasks(_partitions(assigned.active), _partitions(assigned.standby))


def _partitions(tasks: list[Task]) -> Partitions:
    numbers: dict[str, list[int]] = {}
    for part, number in tasks:
        numbers.setdefault(part, []).append(number)
    return of_numbers(numbers)
