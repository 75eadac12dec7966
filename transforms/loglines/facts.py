"""What an entry of a log can tell: for each silver table, a struct of the columns that a line itself can fill.

Where a fact stands (cluster, broker or host, file, line) is added by whoever read the file. Times are epoch
milliseconds; None means that the line does not say.
"""

from __future__ import annotations

from typing import ClassVar, TypedDict

from msgspec import Struct, field

from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, REJECTED


class CoordinatorEvent(Struct):
    """A row of `silver.coordinator_events`."""

    table: ClassVar[str] = COORDINATOR_EVENTS.name

    event: str
    seq: int = 0
    logged_at: int | None = None
    group_id: str | None = None
    generation: int | None = None
    member_id: str | None = None
    group_instance_id: str | None = None
    state: str | None = None
    reason: str | None = None
    client_reason: str | None = None
    member_count: int | None = None
    topic_partition_of_group: int | None = None
    dialect: str | None = None
    attributes: dict[str, str] = field(default_factory=dict)


class ClientEvent(Struct):
    """A row of `silver.client_events`."""

    table: ClassVar[str] = CLIENT_EVENTS.name

    event: str
    logged_at: int | None = None
    client_id: str | None = None
    group_id: str | None = None
    group_instance_id: str | None = None
    generation: int | None = None
    member_id: str | None = None
    client_state: str | None = None
    partitions: list[str] | None = None
    reason: str | None = None
    api: str | None = None
    error: str | None = None
    client_software: str | None = None


class Protocol(TypedDict):
    """A protocol that a JoinGroup offers, its subscription in bytes."""

    name: str | None
    metadata: bytes | None


class AnsweredMember(TypedDict):
    """A member as the leader is told of it."""

    member_id: str | None
    group_instance_id: str | None
    metadata: bytes | None


class Assignment(TypedDict):
    """What a leader assigns to a member."""

    member_id: str | None
    assignment: bytes | None


class LeavingMember(TypedDict):
    """A member of a LeaveGroup with its own answer."""

    member_id: str | None
    group_instance_id: str | None
    reason: str | None
    error_code: int | None


class HeldPartitions(TypedDict):
    """Partitions of a topic that a member reports, or is told to have."""

    topic_id: str | None
    partitions: list[int] | None


class HeldTasks(TypedDict):
    """Tasks of a subtopology that a member reports, or is told to have."""

    subtopology_id: str | None
    partitions: list[int] | None


class SentOffset(TypedDict):
    """A partition of a commit that was refused."""

    topic: str
    partition: int
    offset: int


class GroupRequest(Struct):
    """A row of `silver.group_requests`; what its table requires comes first."""

    table: ClassVar[str] = GROUP_REQUESTS.name

    answered_at: int
    api: str
    group_id: str
    error_code: int
    error: str
    seq: int = 0
    received_at: float | None = None
    handled_at: float | None = None
    api_version: int | None = None
    member_id: str | None = None
    answered_member_id: str | None = None
    group_instance_id: str | None = None
    generation: int | None = None
    answered_generation: int | None = None
    client_id: str | None = None
    client_host: str | None = None
    client_software: str | None = None
    connection: str | None = None
    correlation_id: int | None = None
    parked_ms: float | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    protocols: list[Protocol] | None = None
    reason: str | None = None
    answered_protocol: str | None = None
    answered_leader: str | None = None
    answered_members: list[AnsweredMember] | None = None
    assignments: list[Assignment] | None = None
    answered_assignment: bytes | None = None
    leaving_members: list[LeavingMember] | None = None
    partition_errors: dict[int, int] | None = None
    rack_id: str | None = None
    subscribed_topics: list[str] | None = None
    subscribed_regex: str | None = None
    server_assignor: str | None = None
    owned: list[HeldPartitions] | None = None
    told: list[HeldPartitions] | None = None
    topology: str | None = None
    owned_active: list[HeldTasks] | None = None
    owned_standby: list[HeldTasks] | None = None
    owned_warmup: list[HeldTasks] | None = None
    told_active: list[HeldTasks] | None = None
    told_standby: list[HeldTasks] | None = None
    told_warmup: list[HeldTasks] | None = None
    heartbeat_interval_ms: int | None = None
    sent_offsets: list[SentOffset] | None = None


class Rejected(Struct):
    """A row of `silver.rejected`."""

    table: ClassVar[str] = REJECTED.name

    reason_code: str
    detail: str
    raw: bytes


Fact = CoordinatorEvent | ClientEvent | GroupRequest | Rejected
"""All that an entry can tell."""
