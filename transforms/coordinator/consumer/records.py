"""The record types of consumer groups, as a machine reads and writes them (KIP-848)."""

from __future__ import annotations

from typing import Final

from msgspec import Struct, ValidationError
from msgspec.json import Decoder

from transforms.coordinator.kafka.states import MemberState
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.records import (
    GroupEpoch,
    MemberTarget,
    Record,
    TargetEpoch,
    TopicPartitions,
    Types,
    decoder,
    partitions_of,
)
from transforms.coordinator.modern.topics import Topic

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


class PartitionRacks(Struct, frozen=True, gc=False, rename="camel"):
    """The racks of one partition's replicas."""

    partition: int = 0
    racks: tuple[str, ...] = ()


class DescribedTopic(Struct, frozen=True, gc=False, rename="camel"):
    """A topic; the racks are empty where no replica has any."""

    topic_id: str
    topic_name: str = ""
    num_partitions: int = 0
    partition_metadata: tuple[PartitionRacks, ...] = ()


class TopicMetadata(Struct, frozen=True, gc=False, rename="camel"):
    """Type 4: the topics that somebody subscribes to (up to 4.0)."""

    topics: tuple[DescribedTopic, ...] = ()

    def described(self) -> tuple[Topic, ...]:
        """Return the topics as the machine has them."""
        return tuple(_topic(topic) for topic in self.topics)


def _topic(topic: DescribedTopic) -> Topic:
    racks = {each.partition: each.racks for each in topic.partition_metadata}
    of_partitions = tuple(racks.get(number, ()) for number in range(topic.num_partitions)) if racks else ()
    return Topic(topic.topic_name, topic.topic_id, topic.num_partitions, of_partitions)


class CurrentAssignment(Struct, frozen=True, gc=False, rename="camel"):
    """Type 8: where a member stands.

    Attributes:
        target_member_epoch: epoch of the target that it is led to; 3.7 only, which wrote no state.
    """

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: list[TopicPartitions] = []
    partitions_pending_revocation: list[TopicPartitions] = []
    target_member_epoch: int | None = None


class EarlyAssignment(Struct, frozen=True, gc=False, rename="camel"):
    """Type 8 as 3.7 wrote it: the state follows from what is pending."""

    member_epoch: int
    previous_member_epoch: int
    target_member_epoch: int
    assigned_partitions: list[TopicPartitions] = []
    partitions_pending_revocation: list[TopicPartitions] = []
    partitions_pending_assignment: list[TopicPartitions] = []


class ResolvedRegex(Struct, frozen=True, gc=False):
    """Type 16: the topics that a regular expression was found to match.

    Attributes:
        version: of the cluster's metadata that it was held against.
        timestamp: when, in epoch ms.
    """

    topics: tuple[str, ...] = ()
    version: int = 0
    timestamp: int = 0


def state_of(revoking: Partitions, awaited: Partitions) -> MemberState:
    """Return the state of a member of 3.7, by what it was told to give up and what it waits for."""
    if revoking:
        return MemberState.UNREVOKED_PARTITIONS  # REVOKING, as 3.7 calls it
    return MemberState.UNRELEASED_PARTITIONS if awaited else MemberState.STABLE  # ASSIGNING


ConsumerRecord = Record[Struct]

_DECODERS = decoder(
    {
        EPOCH: GroupEpoch,
        TOPIC_METADATA: TopicMetadata,
        MEMBER: MemberMetadata,
        TARGET_EPOCH: TargetEpoch,
        TARGET: MemberTarget,
        CURRENT: CurrentAssignment,
        REGEX: ResolvedRegex,
    }
)


_EARLY = Decoder(EarlyAssignment)


def read(type_id: int, name: str, body: str | bytes | None) -> ConsumerRecord:
    """Read a record out of the JSON of its fields; None = a tombstone."""
    if body is None:
        return Record(type_id, name)
    if type_id == CURRENT:
        return Record(type_id, name, _current(body))
    return Record(type_id, name, _DECODERS[type_id].decode(body))


def _current(body: str | bytes) -> Struct:
    try:
        return _DECODERS[CURRENT].decode(body)
    except ValidationError:
        early = _EARLY.decode(body)
    revoking, awaited = early.partitions_pending_revocation, early.partitions_pending_assignment
    state = state_of(partitions_of(revoking), partitions_of(awaited))
    epochs = early.member_epoch, early.previous_member_epoch
    return CurrentAssignment(*epochs, int(state), early.assigned_partitions, revoking, early.target_member_epoch)
