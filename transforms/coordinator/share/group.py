"""A share group as its records make it: a plain value, and what follows from it.

Source: ShareGroup, GroupMetadataManager.replay (4.2), KIP-932.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from transforms.coordinator.kafka.states import ModernState
from transforms.coordinator.modern.group import LEFT, ModernGroup
from transforms.coordinator.modern.partitions import Partitions, of_numbers
from transforms.coordinator.modern.records import MemberTarget, partitions_as_listed
from transforms.coordinator.share.records import (
    CURRENT,
    STATE_PARTITIONS,
    TYPES,
    CurrentAssignment,
    MemberMetadata,
    ShareRecord,
    StatePartitions,
    StateTopic,
)


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


class Group(ModernGroup[Member, Partitions], array_like=True):
    """A share group.

    Attributes:
        share_state: what has become of the share state; None = nothing was ever asked for.
    """

    TYPES: ClassVar = TYPES

    share_state: ShareState | None = None

    @property
    def state(self) -> ModernState:
        """The group's state: who is behind its target does not count, as nobody waits for anybody."""
        return ModernState.STABLE if self.members else ModernState.EMPTY

    def needed_topics(self) -> Collection[str]:
        """Return the names of the topics that somebody subscribes to."""
        return subscriptions(self.members.values())

    def awaits_targets(self) -> bool:
        """Whether partitions are ready that nobody is to have, or somebody is to have that are not (4.1)."""
        if not self.members or self.share_state is None:
            return False
        wanted: dict[str, set[int]] = {}
        for target in self.targets.values():
            for topic, numbers in target.items():
                wanted.setdefault(topic, set()).update(numbers)
        subscribed, state = self.needed_topics(), self.share_state
        return any(
            wanted.get(topic) != set(numbers)
            for topic, numbers in state.initialized.items()
            if state.names.get(topic) in subscribed
        )

    def take(self, record: ShareRecord, at: float) -> None:
        """Take a record of the types 10 to 15 with a value."""
        value, name = record.value, record.name
        if isinstance(value, MemberTarget):
            self.targets[name] = partitions_as_listed(value.topic_partitions)
        elif isinstance(value, MemberMetadata):
            self.put(replace(self.members.get(name) or Member(name), metadata=value))
        elif isinstance(value, CurrentAssignment):
            assigned = partitions_as_listed(value.assigned_partitions)
            standing = Standing(value.member_epoch, value.previous_member_epoch, assigned)
            self.put(replace(self.members.get(name) or Member(name), standing=standing))
        elif isinstance(value, StatePartitions):
            self.share_state = _share_state(value, at)
        else:
            super().take(record, at)

    def forget(self, record: ShareRecord) -> None:
        """Take a tombstone of anything but the group itself."""
        if record.type_id == CURRENT and record.name in self.members:
            self.put(replace(self.members[record.name], standing=Standing(LEFT, LEFT)))
        elif record.type_id == STATE_PARTITIONS:
            self.share_state = None
        else:
            super().forget(record)


def subscriptions(members: Iterable[Member]) -> Counter[str]:
    """Return how many members subscribe to each topic."""
    return Counter(name for member in members for name in set(member.topics))


def _share_state(value: StatePartitions, at: float) -> ShareState:
    known = [*value.initializing_topics, *value.initialized_topics, *value.deleting_topics]
    return ShareState(
        _partitions(value.initializing_topics),
        _partitions(value.initialized_topics),
        tuple(topic.topic_id for topic in value.deleting_topics),
        {topic.topic_id: topic.topic_name for topic in known},
        at,
    )


def _partitions(topics: Iterable[StateTopic]) -> Partitions:
    return of_numbers({topic.topic_id: topic.partitions for topic in topics})
