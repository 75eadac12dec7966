"""A streams group as its records make it: a plain value, and what follows from it.

Source: StreamsGroup, GroupMetadataManager.replay (4.2), KIP-1071.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from transforms.coordinator.kafka.states import ModernState, TaskState
from transforms.coordinator.modern.group import LEFT, ModernGroup
from transforms.coordinator.streams.reconcile import Standing, is_reconciled
from transforms.coordinator.streams.records import (
    CURRENT,
    TOPOLOGY,
    TYPES,
    CurrentAssignment,
    GroupMetadata,
    KeyValue,
    MemberMetadata,
    MemberTarget,
    StreamsRecord,
    Topology,
)
from transforms.coordinator.streams.tasks import Tasks, held_of, tasks_of


class Member(Struct, frozen=True, gc=False, array_like=True):
    """One member."""

    member_id: str
    metadata: MemberMetadata = MemberMetadata()
    standing: Standing = Standing()

    @property
    def epoch(self) -> int:
        """Its epoch."""
        return self.standing.epoch

    def has(self, role: str, part: str, number: int) -> bool:
        """Whether it has a task in a role, or was told to give it up and has not shown that it did."""
        return number in getattr(self.standing.assigned, role).get(part, ()) or number in getattr(
            self.standing.revoking, role
        ).get(part, ())


class Group(ModernGroup[Member, Tasks], array_like=True):
    """A streams group.

    Attributes:
        validated_epoch: epoch of the topology that could be run; -1 = it cannot; None = the record does not say (4.1).
        configs: settings of the group that targets were computed for last.
        topology: what is run; None = nobody has said.
    """

    TYPES: ClassVar = TYPES

    validated_epoch: int | None = 0
    configs: tuple[KeyValue, ...] = ()
    topology: Topology | None = None

    @property
    def state(self) -> ModernState:
        """The group's state (StreamsGroup.maybeUpdateGroupState)."""
        if not self.members:
            return ModernState.EMPTY
        if not self._is_ready():
            return ModernState.NOT_READY
        if self.epoch > self.assignment_epoch:
            return ModernState.ASSIGNING
        if all(is_reconciled(member.standing, self.assignment_epoch) for member in self.members.values()):
            return ModernState.STABLE
        return ModernState.RECONCILING

    def _is_ready(self) -> bool:
        """Whether the topology can be run; where no record says, it can if anybody is to run anything.

        So where the record of the topology is missing: a group without any gives nobody a task.
        """
        if self.topology is None:
            return any(self.targets.values())
        if self.validated_epoch is None:
            return not self.targets or any(self.targets.values())
        return self.topology.epoch == self.validated_epoch

    def needed_topics(self) -> Collection[str]:
        """Return the names of the topics that its topology needs."""
        return set() if self.topology is None else self.topology.required_topics()

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether offsets of a topic may not be deleted, as it is read."""
        parts = self.topology.subtopologies if self.topology is not None and self.members else ()
        return any(topic in part.sources for part in parts)

    def take(self, record: StreamsRecord, at: float) -> None:
        """Take a record of the types 17 and 19 to 23 with a value."""
        value, name = record.value, record.name
        if isinstance(value, GroupMetadata):
            self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
            is_said = value.last_assignment_configs is not None
            self.validated_epoch = value.validated_topology_epoch if is_said else None
            self.configs = value.last_assignment_configs or ()
        elif isinstance(value, MemberTarget):
            self.targets[name] = tasks_of(value.active_tasks, value.standby_tasks, value.warmup_tasks)
        elif isinstance(value, MemberMetadata):
            self.put(replace(self.members.get(name) or Member(name), metadata=value))
        elif isinstance(value, CurrentAssignment):
            self.put(replace(self.members.get(name) or Member(name), standing=_standing(value)))
        elif isinstance(value, Topology):
            self.topology = value
        else:
            super().take(record, at)

    def forget(self, record: StreamsRecord) -> None:
        """Take a tombstone of anything but the group itself."""
        if record.type_id == CURRENT and record.name in self.members:
            self.put(replace(self.members[record.name], standing=Standing(LEFT, LEFT)))
        elif record.type_id == TOPOLOGY:
            self.topology = None
        else:
            super().forget(record)


def _standing(value: CurrentAssignment) -> Standing:
    return Standing(
        value.member_epoch,
        value.previous_member_epoch,
        TaskState(value.state),
        held_of(value.active_tasks, value.standby_tasks, value.warmup_tasks, value.member_epoch),
        held_of(
            value.active_tasks_pending_revocation,
            value.standby_tasks_pending_revocation,
            value.warmup_tasks_pending_revocation,
            value.member_epoch,
        ),
    )
