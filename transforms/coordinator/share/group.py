"""A share group as its records make it: a plain value, and what follows from it.

Source: ShareGroup, GroupMetadataManager.replay (4.2), KIP-932.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from transforms.coordinator.kafka.java_collections import TIMELINE_MIN_SLOTS, slots_for, timeline_order
from transforms.coordinator.kafka.states import ModernState
from transforms.coordinator.modern.partitions import Partitions, of_numbers
from transforms.coordinator.modern.records import GroupEpoch, MemberTarget, TargetEpoch, partitions_as_listed
from transforms.coordinator.share.records import (
    CURRENT,
    EPOCH,
    MEMBER,
    STATE_PARTITIONS,
    TARGET,
    TARGET_EPOCH,
    CurrentAssignment,
    MemberMetadata,
    ShareRecord,
    StatePartitions,
    StateTopic,
)

LEFT = -1


class Standing(Struct, frozen=True, gc=False, array_like=True):
    """Where a member stands: it may use all that is assigned to it, and gives nothing back."""

    epoch: int = 0
    previous_epoch: int = -1
    assigned: Partitions = {}


class Member(Struct, frozen=True, gc=False, array_like=True):
    """One member."""

    member_id: str
    metadata: MemberMetadata = MemberMetadata()
    standing: Standing = Standing()

    @property
    def epoch(self) -> int:
        """Its epoch."""
        return self.standing.epoch

    @property
    def topics(self) -> tuple[str, ...]:
        """The names of the topics that it subscribes to."""
        return self.metadata.subscribed_topic_names


class ShareState(Struct, frozen=True, gc=False, array_like=True):
    """The partitions of the group's topics by what has become of their share state, by topic id.

    Attributes:
        names: of the topics.
        since: when that was written, in epoch ms: initialising is tried again after a while.
    """

    initializing: Partitions = {}
    initialized: Partitions = {}
    deleting: tuple[str, ...] = ()
    names: dict[str, str] = {}
    since: float = 0.0


class Group(Struct, array_like=True):
    """A share group; fields as of a consumer group.

    Attributes:
        share_state: what has become of the share state; None = nothing was ever asked for.
    """

    epoch: int = 0
    metadata_hash: int = 0
    assignment_epoch: int = 0
    members: dict[str, Member] = field(default_factory=dict)
    slots: int = TIMELINE_MIN_SLOTS
    targets: dict[str, Partitions] = field(default_factory=dict)
    share_state: ShareState | None = None

    @property
    def state(self) -> ModernState:
        """The group's state: who is behind its target does not count, as nobody waits for anybody."""
        return ModernState.STABLE if self.members else ModernState.EMPTY

    def in_order(self) -> list[str]:
        """Return the member ids in the order in which Kafka goes through them."""
        return timeline_order(self.members, self.slots)

    def subscribed(self) -> Counter[str]:
        """Return how many members subscribe to each topic."""
        return subscriptions(self.members.values())

    def awaits_targets(self) -> bool:
        """Whether partitions are ready that nobody is to have, or somebody is to have that are not (4.1)."""
        if not self.members or self.share_state is None:
            return False
        wanted: dict[str, set[int]] = {}
        for target in self.targets.values():
            for topic, numbers in target.items():
                wanted.setdefault(topic, set()).update(numbers)
        subscribed, state = self.subscribed(), self.share_state
        return any(
            wanted.get(topic) != set(numbers)
            for topic, numbers in state.initialized.items()
            if state.names.get(topic) in subscribed
        )

    def put(self, member: Member) -> None:
        """Add a member or replace what is known of it."""
        self.slots = slots_for(len(self.members), self.slots)
        self.members[member.member_id] = member


def subscriptions(members: Iterable[Member]) -> Counter[str]:
    """Return how many members subscribe to each topic."""
    return Counter(name for member in members for name in set(member.topics))


def apply(group: Group | None, record: ShareRecord, at: float = 0.0) -> Group | None:
    """Take a record to a group.

    Args:
        group: the group before, which is used up; None = there is none.
        record: a record of the types 10 to 15.
        at: when it was written, in epoch ms.

    Returns:
        The group after it; None if the record deleted it, or is a tombstone for a group that is not there.
    """
    if record.value is None:
        return group and _delete(group, record)
    group = Group() if group is None else group
    value, name = record.value, record.name
    if isinstance(value, GroupEpoch):
        group.epoch, group.metadata_hash = value.epoch, value.metadata_hash
    elif isinstance(value, TargetEpoch):
        group.assignment_epoch = value.assignment_epoch
    elif isinstance(value, MemberTarget):
        group.targets[name] = partitions_as_listed(value.topic_partitions)
    elif isinstance(value, MemberMetadata):
        group.put(replace(group.members.get(name) or Member(name), metadata=value))
    elif isinstance(value, CurrentAssignment):
        standing = Standing(
            value.member_epoch, value.previous_member_epoch, partitions_as_listed(value.assigned_partitions)
        )
        group.put(replace(group.members.get(name) or Member(name), standing=standing))
    elif isinstance(value, StatePartitions):
        group.share_state = _share_state(value, at)
    return group


def _share_state(value: StatePartitions, at: float) -> ShareState:
    known = [*value.initializing_topics, *value.initialized_topics]
    return ShareState(
        _partitions(value.initializing_topics),
        _partitions(value.initialized_topics),
        tuple(topic.topic_id for topic in value.deleting_topics),
        {topic.topic_id: topic.topic_name for topic in known},
        at,
    )


def _partitions(topics: Iterable[StateTopic]) -> Partitions:
    return of_numbers({topic.topic_id: topic.partitions for topic in topics})


def _delete(group: Group, record: ShareRecord) -> Group | None:
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
    elif record.type_id == STATE_PARTITIONS:
        group.share_state = None
    return group
