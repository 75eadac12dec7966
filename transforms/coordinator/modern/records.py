"""Records of modern groups as a replay takes them: number of the type, whom they are about, and their fields.

Fields go by Kafka's own names in JSON, as the silver table has them. Each protocol declares the values of its types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import Struct

from transforms.coordinator.modern.partitions import Partitions, of_numbers

CLASSIC_GROUP: Final = 2
"""Type of the record of a classic group, which a group of another protocol deletes or writes when it is converted."""

Value = TypeVar("Value", bound=Struct)


class TopicPartitions(Struct, frozen=True, gc=False, rename="camel"):
    """Partitions of one topic."""

    topic_id: str
    partitions: list[int] = []


class Record(Struct, Generic[Value], frozen=True, gc=False):
    """One record of a group.

    Attributes:
        type_id: number of the type (CoordinatorRecordType).
        name: the member that it is about, or the regular expression; "" where it is about the group.
        value: its fields; None = a tombstone.
    """

    type_id: int
    name: str = ""
    value: Value | None = None


class Types(Struct, frozen=True, gc=False):
    """Numbers of the record types that every modern protocol has, each its own.

    Attributes:
        epoch: of the group's epoch; its tombstone deletes the group.
        member: of who a member is.
        target_epoch: of the targets' epoch.
        target: of what a member is to have.
        current: of where a member stands.
    """

    epoch: int
    member: int
    target_epoch: int
    target: int
    current: int

    @property
    def numbers(self) -> tuple[int, ...]:
        """All of them."""
        return (self.epoch, self.member, self.target_epoch, self.target, self.current)


class GroupEpoch(Struct, frozen=True, gc=False, rename="camel"):
    """Types 3 and 11: the group's epoch, and the hash of the topics that it subscribes to."""

    epoch: int
    metadata_hash: int = 0


class TargetEpoch(Struct, frozen=True, gc=False, rename="camel"):
    """Types 6, 12 and 20: the epoch to which all targets belong."""

    assignment_epoch: int


class MemberTarget(Struct, frozen=True, gc=False, rename="camel"):
    """Types 7 and 13: what a member is to have."""

    topic_partitions: list[TopicPartitions] = []


def decoder(values: Mapping[int, type[Struct]]) -> Mapping[int, msgspec.json.Decoder[Struct]]:
    """Return readers of bodies by number of the type."""
    return {type_id: msgspec.json.Decoder(value) for type_id, value in values.items()}


def partitions_of(listed: Iterable[TopicPartitions]) -> Partitions:
    """Return partitions as a record or request lists them."""
    return of_numbers({topic.topic_id: topic.partitions for topic in listed})


def partitions_as_listed(listed: Iterable[TopicPartitions]) -> Partitions:
    """Return the same with the topics that are listed without any partition: share groups tell them from none."""
    return {topic.topic_id: tuple(sorted(topic.partitions)) for topic in listed}


def listed(partitions: Partitions) -> list[TopicPartitions]:
    """Return partitions as a record lists them."""
    return [TopicPartitions(topic, list(numbers)) for topic, numbers in partitions.items()]
