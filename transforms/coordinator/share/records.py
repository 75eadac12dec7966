"""The record types of share groups, as a machine reads and writes them (KIP-932)."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from transforms.coordinator.modern.records import (
    GroupEpoch,
    MemberTarget,
    Record,
    TargetEpoch,
    TopicPartitions,
    Types,
    decoder,
)

MEMBER: Final = 10
EPOCH: Final = 11
TARGET_EPOCH: Final = 12
TARGET: Final = 13
CURRENT: Final = 14
STATE_PARTITIONS: Final = 15
TYPES: Final = Types(EPOCH, MEMBER, TARGET_EPOCH, TARGET, CURRENT)


class MemberMetadata(Struct, frozen=True, gc=False, rename="camel"):
    """Type 10: who a member is and what it asks for."""

    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: tuple[str, ...] = ()


class CurrentAssignment(Struct, frozen=True, gc=False, rename="camel"):
    """Type 14: where a member stands."""

    member_epoch: int
    previous_member_epoch: int
    state: int = 0
    assigned_partitions: list[TopicPartitions] = []


class StateTopic(Struct, frozen=True, gc=False, rename="camel"):
    """A topic, and partitions of it, with the share state of the group."""

    topic_id: str
    topic_name: str = ""
    partitions: list[int] = []


class StatePartitions(Struct, frozen=True, gc=False, rename="camel"):
    """Type 15: the partitions whose share state is being made ready, is ready, or is being deleted."""

    initializing_topics: list[StateTopic] = []
    initialized_topics: list[StateTopic] = []
    deleting_topics: list[StateTopic] = []


ShareRecord = Record[Struct]

_DECODERS = decoder(
    {
        MEMBER: MemberMetadata,
        EPOCH: GroupEpoch,
        TARGET_EPOCH: TargetEpoch,
        TARGET: MemberTarget,
        CURRENT: CurrentAssignment,
        STATE_PARTITIONS: StatePartitions,
    }
)


def read(type_id: int, name: str, body: str | bytes | None) -> ShareRecord:
    """Read a record out of the JSON of its fields; None = a tombstone."""
    return Record(type_id, name, None if body is None else _DECODERS[type_id].decode(body))
