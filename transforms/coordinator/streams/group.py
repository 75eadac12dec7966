"""A streams group as its records make it: a plain value, and what follows from it.

Source: StreamsGroup, GroupMetadataManager.replay (4.2), KIP-1071.
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from transforms.coordinator.kafka.java_collections import TIMELINE_MIN_SLOTS, slots_for, timeline_order
from transforms.coordinator.kafka.states import ModernState, TaskState
from transforms.coordinator.modern.records import TargetEpoch
from transforms.coordinator.streams.reconcile import Standing, is_reconciled
from transforms.coordinator.streams.records import (
    CURRENT,
    EPOCH,
    MEMBER,
    TARGET,
    TARGET_EPOCH,
    TOPOLOGY,
    CurrentAssignment,
    GroupMetadata,
    KeyValue,
    MemberMetadata,
    MemberTarget,
    StreamsRecord,
    Topology,
)
from transforms.coordinator.streams.tasks import Tasks, held_of, tasks_of

LEFT = -1


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


class Group(Struct, array_like=True):
    """A streams group.

    Attributes:
        epoch: the group's epoch.
        metadata_hash: hash of the topics that its topology needs.
        validated_epoch: epoch of the topology that could be run; -1 = it cannot; None = the record does not say (4.1).
        configs: settings of the group that targets were computed for last.
        assignment_epoch: epoch of the targets.
        members: by id, in the order in which they came.
        slots: slots of the map in which Kafka keeps them, which decide its order.
        targets: what each member is to have.
        topology: what is run; None = nobody has said.
    """

    epoch: int = 0
    metadata_hash: int = 0
    validated_epoch: int | None = 0
    configs: tuple[KeyValue, ...] = ()
    assignment_epoch: int = 0
    members: dict[str, Member] = field(default_factory=dict)
    slots: int = TIMELINE_MIN_SLOTS
    targets: dict[str, Tasks] = field(default_factory=dict)
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
        """Whether the topology can be run; where no record says, it can if anybody is to run anything."""
        if self.topology is None:
            return False
        if self.validated_epoch is None:
            return not self.targets or any(self.targets.values())
        return self.topology.epoch == self.validated_epoch

    def in_order(self) -> list[str]:
        """Return the member ids in the order in which Kafka goes through them."""
        return timeline_order(self.members, self.slots)

    def put(self, member: Member) -> None:
        """Add a member or replace what is known of it."""
        self.slots = slots_for(len(self.members), self.slots)
        self.members[member.member_id] = member

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether offsets of a topic may not be deleted, as it is read."""
        parts = self.topology.subtopologies if self.topology is not None and self.members else ()
        return any(topic in part.sources for part in parts)


def apply(group: Group | None, record: StreamsRecord) -> Group | None:
    """Take a record to a group.

    Args:
        group: the group before, which is used up; None = there is none.
        record: a record of the types 17 and 19 to 23.

    Returns:
        The group after it; None if the record deleted it, or is a tombstone for a group that is not there.
    """
    if record.value is None:
        return group and _delete(group, record)
    group = Group() if group is None else group
    value, name = record.value, record.name
    if isinstance(value, GroupMetadata):
        group.epoch, group.metadata_hash = value.epoch, value.metadata_hash
        is_said = value.last_assignment_configs is not None
        group.validated_epoch = value.validated_topology_epoch if is_said else None
        group.configs = value.last_assignment_configs or ()
    elif isinstance(value, TargetEpoch):
        group.assignment_epoch = value.assignment_epoch
    elif isinstance(value, MemberTarget):
        group.targets[name] = tasks_of(value.active_tasks, value.standby_tasks, value.warmup_tasks)
    elif isinstance(value, MemberMetadata):
        group.put(replace(group.members.get(name) or Member(name), metadata=value))
    elif isinstance(value, CurrentAssignment):
        group.put(replace(group.members.get(name) or Member(name), standing=_standing(value)))
    elif isinstance(value, Topology):
        group.topology = value
    return group


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


def _delete(group: Group, record: StreamsRecord) -> Group | None:
    name = record.name
    if record.type_id == EPOCH:
        return None
    if record.type_id == TARGET_EPOCH:
        group.assignment_epoch = LEFT
    elif record.type_id == TARGET:
        group.targets.pop(name, None)
    elif record.type_id == MEMBER:
        group.members.pop(name, None)
    elif record.type_id == CURRENT and name in group.members:
        group.put(replace(group.members[name], standing=Standing(LEFT, LEFT)))
    elif record.type_id == TOPOLOGY:
        group.topology = None
    return group
