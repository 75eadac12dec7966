"""How Kafka 3.7 led a member of a consumer group on: by the epoch of the target that it was led to last.

A member that was told to give something up may have it back if a newer target says so, and shows what it gave up by
owning just what it is to keep. Source: CurrentAssignmentBuilder, ConsumerGroupMember.MemberState (3.7).
"""

from __future__ import annotations

from transforms.coordinator.consumer.reconcile import Goal, Standing
from transforms.coordinator.consumer.records import state_of
from transforms.coordinator.kafka.states import MemberState
from transforms.coordinator.modern.partitions import Partitions, common, minus, plus


def reconcile_by_target(standing: Standing, goal: Goal) -> Standing:
    """Return where a member stands after a heartbeat."""
    if standing.target_epoch != goal.epoch:
        holds = plus(standing.assigned, standing.revoking)
        kept = common(holds, goal.target)
        revoking = minus(holds, kept)
        if not revoking:
            return _on(standing, goal, kept)
        state = MemberState.UNREVOKED_PARTITIONS
        return Standing(standing.epoch, standing.previous_epoch, state, kept, revoking, goal.epoch)
    if standing.state is MemberState.UNREVOKED_PARTITIONS:
        return _on(standing, goal, standing.assigned) if _owns_just(goal.owned, standing.assigned) else standing
    if standing.state is MemberState.UNRELEASED_PARTITIONS:
        after = _on(standing, goal, standing.assigned)
        return standing if after.assigned == standing.assigned else after
    return standing


def _owns_just(owned: Partitions | None, assigned: Partitions) -> bool:
    return owned is not None and owned.keys() == assigned.keys() and not minus(owned, assigned)


def _on(standing: Standing, goal: Goal, kept: Partitions) -> Standing:
    """Lead a member to the target's epoch, with what can be had of it."""
    wanted = minus(goal.target, kept)
    free = {
        topic: tuple(number for number in numbers if not goal.is_held(topic, number))
        for topic, numbers in wanted.items()
    }
    state = state_of({}, minus(wanted, free))
    return Standing(goal.epoch, standing.epoch, state, plus(kept, free), {}, goal.epoch)
