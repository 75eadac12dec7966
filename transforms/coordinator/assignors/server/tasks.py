"""What an assignor of a streams group is given and gives: tasks, by member and role (KIP-1071)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

Task = tuple[str, int]
"""Subtopology and partition."""

TaskNumbers = Mapping[str, Sequence[int]]
"""Partition numbers by subtopology."""


class TaskMember(Struct, frozen=True, gc=False):
    """One member, with the targets that it had so far."""

    member_id: str
    process_id: str
    active: TaskNumbers = {}
    standby: TaskNumbers = {}


class TaskGroup(Struct, frozen=True, gc=False):
    """A streams group.

    Attributes:
        members: in the order of the map that holds them.
        task_counts: tasks of each subtopology.
        stateful: subtopologies that have state, and so standby tasks.
        standby_count: standby tasks of each of their tasks.
    """

    members: Sequence[TaskMember]
    task_counts: Mapping[str, int]
    stateful: frozenset[str] = frozenset()
    standby_count: int = 0


class TasksAssigned(Struct, gc=False):
    """Tasks of one member by role."""

    active: list[Task]
    standby: list[Task]
