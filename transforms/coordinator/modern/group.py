"""What the groups of all modern protocols are by their records, whatever their members are given.

Each protocol's `Group` adds what is its own. Source: ModernGroup, StreamsGroup, GroupMetadataManager.replay (4.2).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from copy import copy as shallow_copy
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from msgspec import Struct, field

from transforms.coordinator.kafka.java_collections import TIMELINE_MIN_SLOTS, slots_for, timeline_order
from transforms.coordinator.kafka.states import ModernState
from transforms.coordinator.modern.records import GroupEpoch, Record, TargetEpoch, Types

LEFT: Final = -1
"""Epoch of a member that left, and of targets that were deleted."""

LEFT_FOR_A_WHILE: Final = -2
"""Epoch of a static member that is to come back."""


class AnyMember(Protocol):
    """A member as far as its group asks for it."""

    @property
    def member_id(self) -> str:
        """Its id."""


Member = TypeVar("Member", bound=AnyMember)
Target = TypeVar("Target")


class ModernGroup(Struct, Generic[Member, Target], array_like=True):
    """A group.

    Attributes:
        TYPES: numbers of the record types of its protocol.
        epoch: the group's epoch.
        metadata_hash: hash of the topics that it needs.
        assignment_epoch: epoch of the targets; -1 = they were deleted.
        members: by id, in the order in which they came.
        slots: slots of the map in which Kafka keeps them, which decide its order.
        targets: what each member is to have.
    """

    TYPES: ClassVar[Types]

    epoch: int = 0
    metadata_hash: int = 0
    assignment_epoch: int = 0
    members: dict[str, Member] = field(default_factory=dict)
    slots: int = TIMELINE_MIN_SLOTS
    targets: dict[str, Target] = field(default_factory=dict)

    @property
    def state(self) -> ModernState:
        """The group's state; each protocol has its own rule."""
        raise NotImplementedError

    def needed_topics(self) -> Collection[str]:
        """Return the names of the topics that the group depends on; each protocol finds them in its own way."""
        raise NotImplementedError

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether offsets of a topic may not be deleted, as somebody subscribes to it."""
        return topic in self.needed_topics()

    def in_order(self) -> list[str]:
        """Return the member ids in the order in which Kafka goes through them."""
        return timeline_order(self.members, self.slots)

    def put(self, member: Member) -> None:
        """Add a member or replace what is known of it."""
        self.slots = slots_for(len(self.members), self.slots)
        self.members[member.member_id] = member

    def remove(self, member_id: str) -> None:
        """Forget a member."""
        self.members.pop(member_id, None)

    def take(self, record: Record[Struct], at: float) -> None:
        """Take a record with a value.

        Args:
            record: a record of a type of this protocol.
            at: when it was written, in epoch ms.
        """
        value = record.value
        if isinstance(value, GroupEpoch):
            self.epoch, self.metadata_hash = value.epoch, value.metadata_hash
        elif isinstance(value, TargetEpoch):
            self.assignment_epoch = value.assignment_epoch

    def forget(self, record: Record[Struct]) -> None:
        """Take a tombstone of anything but the group itself."""
        if record.type_id == self.TYPES.target_epoch:
            self.assignment_epoch = LEFT
        elif record.type_id == self.TYPES.target:
            self.targets.pop(record.name, None)
        elif record.type_id == self.TYPES.member:
            self.remove(record.name)


AnyGroup = TypeVar("AnyGroup", bound=ModernGroup[Any, Any])


def copied(group: AnyGroup) -> AnyGroup:
    """Return a copy of a group that may be changed; what a group holds is never changed in place."""
    copy = shallow_copy(group)
    for name in group.__struct_fields__:
        value = getattr(group, name)
        if isinstance(value, dict):
            setattr(copy, name, dict(value))
    return copy


def apply(group: AnyGroup | None, record: Record[Struct], new: Callable[[], AnyGroup], at: float) -> AnyGroup | None:
    """Take a record to a group.

    Args:
        group: the group before, which is used up; None = there is none.
        record: a record of a type of its protocol.
        new: makes a group of that protocol.
        at: when the record was written, in epoch ms.

    Returns:
        The group after it; None if the record deleted it, or is a tombstone for a group that is not there.
    """
    if record.value is not None:
        group = new() if group is None else group
        group.take(record, at)
        return group
    if group is None or record.type_id == group.TYPES.epoch:
        return None
    group.forget(record)
    return group
