"""The record types of consumer groups, as a machine reads and writes them (KIP-848)."""

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

EPOCH: Final = 3
TOPIC_METADATA: Final = 4
MEMBER: Final = 5
TARGET_EPOCH: Final = 6
TARGET: Final = 7
CURRENT: Final = 8
REGEX: Final = 16
TYPES: Final = Types(EPOCH, MEMBER, TARGET_EPOCH, TARGET, CURRENT)


class ClassicProtocol(Struct, frozen=True, gc=False, array_like=False):
    """An assignor of a member of the classic protocol, and what it subscribes to by it."""

    name: str
    metadata: bytes


class ClassicMember(Struct, frozen=True, gc=False, rename="camel"):
    """What marks a member of a consumer group that speaks the classic protocol."""

    session_timeout_ms: int = 0
    supported_protocols: tuple[ClassicProtocol, ...] = ()


class MemberMetadata(Struct, frozen=True, gc=False, rename="camel"):
    """Type 5: who a member is and what it asks for."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: tuple[str, ...] = ()
    subscribed_topic_regex: str | None = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    classic_member_metadata: ClassicMember | None = None


class CurrentAssignment(Struct, frozen=True, gc=False, rename="camel"):
    """Type 8: where a member stands."""

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: list[TopicPartitions] = []
    partitions_pending_revocation: list[TopicPartitions] = []


class ResolvedRegex(Struct, frozen=True, gc=False):
    """Type 16: the topics that a regular expression was found to match.

    Attributes:
        version: of the cluster's metadata that it was held against.
        timestamp: when, in epoch ms.
    """

    topics: tuple[str, ...] = ()
    version: int = 0
    timestamp: int = 0


ConsumerRecord = Record[Struct]

_DECODERS = decoder(
    {
        EPOCH: GroupEpoch,
        MEMBER: MemberMetadata,
        TARGET_EPOCH: TargetEpoch,
        TARGET: MemberTarget,
        CURRENT: CurrentAssignment,
        REGEX: ResolvedRegex,
    }
)


class _Nothing(Struct):
    """The value of a type of which only the being there counts (4)."""


def read(type_id: int, name: str, body: str | bytes | None) -> ConsumerRecord:
    """Read a record out of the JSON of its fields; None = a tombstone."""
    if body is None:
        return Record(type_id, name)
    reader = _DECODERS.get(type_id)
    return Record(type_id, name, _Nothing() if reader is None else reader.decode(body))
