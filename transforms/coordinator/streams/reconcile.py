"""How a member of a streams group is led from the tasks that it holds to those that it is to have.

As for a consumer group's member, with three roles: an active task waits for whoever has it as active; any task waits
until no member of the same process has it in another role. Source: streams.CurrentAssignmentBuilder (4.2).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from transforms.coordinator.kafka.states import TaskState
from transforms.coordinator.modern.partitions import Partitions, minus, plus
from transforms.coordinator.streams.tasks import Held, Tasks, with_epoch


class Standing(Struct, frozen=True, gc=False, array_like=True):
    """Where a member stands, as its record 22 has it."""

    epoch: int = 0
    previous_epoch: int = 0
    state: TaskState = TaskState.STABLE
    assigned: Held = Held()
    revoking: Held = Held()


class Goal(Struct, frozen=True, gc=False):
    """What a member is led to.

    Attributes:
        epoch: the group's assignment epoch.
        target: what the member is to have by it.
        is_active_anywhere: whether anybody has a task as active.
        is_active_here: whether the member's own process has it as active.
        is_passive_here: whether the member's own process has it as standby or warmup.
        owned: what the member says that it holds; None = it says nothing.
    """

    epoch: int
    target: Tasks
    is_active_anywhere: Callable[[str, int], bool]
    is_active_here: Callable[[str, int], bool]
    is_passive_here: Callable[[str, int], bool]
    owned: Tasks | None = None


def is_reconciled(standing: Standing, epoch: int) -> bool:
    """Whether a member has got to an assignment epoch."""
    return standing.state is TaskState.STABLE and standing.epoch == epoch


def reconcile(standing: Standing, goal: Goal) -> Standing | None:
    """Return where a member stands after a heartbeat; None: it is fenced, for its state is not known."""
    if standing.state is TaskState.STABLE:
        return standing if standing.epoch == goal.epoch else _next(standing, standing.epoch, goal)
    if standing.state is TaskState.UNREVOKED_TASKS:
        stays = _owns_any(goal, standing.revoking.tasks)
        return standing if stays else _next(standing, standing.epoch + 1, goal)
    if standing.state is TaskState.UNRELEASED_TASKS:
        return _next(standing, standing.epoch, goal)
    return _next(standing, goal.epoch, goal) if goal.owned is not None and not goal.owned else None


def _owns_any(goal: Goal, tasks: Tasks) -> bool:
    return goal.owned is None or bool(tasks.common(goal.owned))


def _next(standing: Standing, epoch: int, goal: Goal) -> Standing:
    holds = standing.assigned.tasks
    kept = holds.common(goal.target)
    revoking = holds.minus(kept)
    if revoking and _owns_any(goal, revoking):
        state, given_up = TaskState.UNREVOKED_TASKS, standing.assigned.only(revoking)
        return Standing(epoch, standing.epoch, state, standing.assigned.only(kept), given_up)
    wanted = goal.target.minus(kept)
    active = _free(wanted.active, lambda *task: goal.is_active_anywhere(*task) or goal.is_passive_here(*task))
    standby = _free(wanted.standby, lambda *task: goal.is_active_here(*task) or goal.is_passive_here(*task))
    warmup = _free(wanted.warmup, lambda *task: goal.is_active_here(*task) or goal.is_passive_here(*task))
    is_blocked = bool(wanted.minus(Tasks(active, standby, warmup)))
    state = TaskState.UNRELEASED_TASKS if is_blocked else TaskState.STABLE
    assigned = Held(
        with_epoch(plus(kept.active, active), goal.epoch, standing.assigned),
        plus(kept.standby, standby),
        plus(kept.warmup, warmup),
    )
    return Standing(goal.epoch, standing.epoch, state, assigned)


def _free(wanted: Partitions, is_taken: Callable[[str, int], bool]) -> Partitions:
    taken = {part: tuple(n for n in numbers if is_taken(part, n)) for part, numbers in wanted.items()}
    return minus(wanted, taken)
