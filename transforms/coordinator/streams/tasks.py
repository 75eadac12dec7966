"""Sets of tasks of a streams group by their role: active, standby, warmup."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from transforms.coordinator.modern.partitions import Partitions, common, minus, of_numbers
from transforms.coordinator.streams.records import TaskIds

Epochs = dict[str, dict[int, int]]
"""The epoch at which each active task was given, by subtopology and partition."""


class Tasks(Struct, frozen=True, gc=False, array_like=True):
    """Tasks by role."""

    active: Partitions = {}
    standby: Partitions = {}
    warmup: Partitions = {}

    def __bool__(self) -> bool:
        return bool(self.active or self.standby or self.warmup)

    def common(self, other: Tasks) -> Tasks:
        """Return those that are in both, in the same role."""
        return Tasks(
            common(self.active, other.active), common(self.standby, other.standby), common(self.warmup, other.warmup)
        )

    def minus(self, other: Tasks) -> Tasks:
        """Return those that are in this one only."""
        return Tasks(
            minus(self.active, other.active), minus(self.standby, other.standby), minus(self.warmup, other.warmup)
        )


class Held(Struct, frozen=True, gc=False, array_like=True):
    """Tasks that a member holds, the active ones with the epoch at which each was given (4.2)."""

    active: Epochs = {}
    standby: Partitions = {}
    warmup: Partitions = {}

    @property
    def tasks(self) -> Tasks:
        """The same without epochs."""
        return Tasks(of_numbers(self.active), self.standby, self.warmup)

    def only(self, tasks: Tasks) -> Held:
        """Return those that are among some."""
        active = {
            part: {number: epoch for number, epoch in of.items() if number in tasks.active.get(part, ())}
            for part, of in self.active.items()
        }
        return Held({part: of for part, of in active.items() if of}, tasks.standby, tasks.warmup)


def tasks_of(
    active: Iterable[TaskIds] | None, standby: Iterable[TaskIds] | None, warmup: Iterable[TaskIds] | None
) -> Tasks:
    """Return tasks as a record or request lists them."""
    return Tasks(_partitions(active), _partitions(standby), _partitions(warmup))


def held_of(
    active: Iterable[TaskIds], standby: Iterable[TaskIds], warmup: Iterable[TaskIds], default_epoch: int
) -> Held:
    """Return what a member holds by its record; up to 4.1 that says no epochs."""
    epochs = {
        part.subtopology_id: dict(
            sorted(zip(part.partitions, part.assignment_epochs or [default_epoch] * len(part.partitions), strict=False))
        )
        for part in active
    }
    return Held(epochs, _partitions(standby), _partitions(warmup))


def _partitions(listed: Iterable[TaskIds] | None) -> Partitions:
    return of_numbers({part.subtopology_id: part.partitions for part in listed or ()})


def listed(partitions: Partitions) -> list[TaskIds]:
    """Return tasks as a record lists them."""
    return [TaskIds(part, list(numbers)) for part, numbers in partitions.items()]


def listed_epochs(epochs: Epochs) -> list[TaskIds]:
    """Return active tasks as a record lists them."""
    return [TaskIds(part, list(of), list(of.values())) for part, of in epochs.items()]


def with_epoch(partitions: Partitions, epoch: int, held: Held) -> Epochs:
    """Return active tasks, those that are held already with their own epoch."""
    return {
        part: {number: held.active.get(part, {}).get(number, epoch) for number in numbers}
        for part, numbers in partitions.items()
    }
