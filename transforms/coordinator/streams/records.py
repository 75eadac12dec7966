"""The record types of streams groups, as a machine reads and writes them (KIP-1071)."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from transforms.coordinator.modern.records import Record, TargetEpoch, Types, decoder

EPOCH: Final = 17
MEMBER: Final = 19
TARGET_EPOCH: Final = 20
TARGET: Final = 21
CURRENT: Final = 22
TOPOLOGY: Final = 23
TYPES: Final = Types(EPOCH, MEMBER, TARGET_EPOCH, TARGET, CURRENT)


class KeyValue(Struct, frozen=True, gc=False, order=True):
    """A name and its value."""

    key: str
    value: str


class Endpoint(Struct, frozen=True, gc=False):
    """Where a member answers queries of its users."""

    host: str
    port: int


class GroupMetadata(Struct, frozen=True, gc=False, rename="camel"):
    """Type 17: the group's epoch and what it was made for."""

    epoch: int
    metadata_hash: int = 0
    validated_topology_epoch: int = -1
    last_assignment_configs: tuple[KeyValue, ...] | None = None


class MemberMetadata(Struct, frozen=True, gc=False, rename="camel"):
    """Type 19: who a member is."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = -1
    process_id: str = ""
    user_endpoint: Endpoint | None = None
    client_tags: tuple[KeyValue, ...] = ()


class TaskIds(Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Tasks of one subtopology; active ones with the epoch at which each was given."""

    subtopology_id: str
    partitions: list[int] = []
    assignment_epochs: list[int] | None = None


class MemberTarget(Struct, frozen=True, gc=False, rename="camel"):
    """Type 21: what a member is to have."""

    active_tasks: list[TaskIds] = []
    standby_tasks: list[TaskIds] = []
    warmup_tasks: list[TaskIds] = []


class CurrentAssignment(Struct, frozen=True, gc=False, rename="camel"):
    """Type 22: where a member stands."""

    member_epoch: int
    previous_member_epoch: int
    state: int
    active_tasks: list[TaskIds] = []
    standby_tasks: list[TaskIds] = []
    warmup_tasks: list[TaskIds] = []
    active_tasks_pending_revocation: list[TaskIds] = []
    standby_tasks_pending_revocation: list[TaskIds] = []
    warmup_tasks_pending_revocation: list[TaskIds] = []


class TopicInfo(Struct, frozen=True, gc=False, rename="camel"):
    """An internal topic; 0 partitions = to be decided."""

    name: str
    partitions: int = 0
    replication_factor: int = 0
    topic_configs: tuple[KeyValue, ...] = ()


class CopartitionGroup(Struct, frozen=True, gc=False, rename="camel"):
    """Source topics, by their places, that must have equally many partitions."""

    source_topics: tuple[int, ...] = ()
    source_topic_regex: tuple[int, ...] = ()
    repartition_source_topics: tuple[int, ...] = ()


class Subtopology(Struct, frozen=True, gc=False, rename="camel"):
    """A part of a topology that is run as a whole."""

    subtopology_id: str
    source_topics: tuple[str, ...] = ()
    source_topic_regex: tuple[str, ...] = ()
    state_changelog_topics: tuple[TopicInfo, ...] = ()
    repartition_sink_topics: tuple[str, ...] = ()
    repartition_source_topics: tuple[TopicInfo, ...] = ()
    copartition_groups: tuple[CopartitionGroup, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of all topics that it reads from."""
        return (*self.source_topics, *(topic.name for topic in self.repartition_source_topics))


class Topology(Struct, frozen=True, gc=False, rename="camel"):
    """Type 23, and part of a joining member's heartbeat."""

    epoch: int = 0
    subtopologies: tuple[Subtopology, ...] = ()

    def required_topics(self) -> set[str]:
        """Return the names of all topics that it needs."""
        changelogs = {topic.name for part in self.subtopologies for topic in part.state_changelog_topics}
        return changelogs | {name for part in self.subtopologies for name in part.sources}

    def is_same(self, other: Topology) -> bool:
        """Whether two are equal, in whatever order their parts stand."""
        mine = {part.subtopology_id: part for part in self.subtopologies}
        return self.epoch == other.epoch and mine == {part.subtopology_id: part for part in other.subtopologies}


StreamsRecord = Record[Struct]

_DECODERS = decoder(
    {
        EPOCH: GroupMetadata,
        MEMBER: MemberMetadata,
        TARGET_EPOCH: TargetEpoch,
        TARGET: MemberTarget,
        CURRENT: CurrentAssignment,
        TOPOLOGY: Topology,
    }
)


def read(type_id: int, name: str, body: str | bytes | None) -> StreamsRecord:
    """Read a record out of the JSON of its fields; None = a tombstone."""
    return Record(type_id, name, None if body is None else _DECODERS[type_id].decode(body))
