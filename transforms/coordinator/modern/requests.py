"""Requests that any coordinator may be sent, as the machines of modern groups take them, and what they answer.

Fields go by Kafka's own names in JSON. The heartbeat of each protocol stands in its own folder.
"""

from __future__ import annotations

from msgspec import Struct

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.partitions import Partitions


class Caller(Struct, frozen=True, gc=False):
    """Who sends a request, in which version."""

    api_version: int = 1
    client_id: str = ""
    client_host: str = ""


class Protocol(Struct, frozen=True, gc=False):
    """An assignor of a joiner and its subscription."""

    name: str
    metadata: bytes


class JoinRequest(Struct, frozen=True, gc=False, rename="camel"):
    """JoinGroup."""

    member_id: str
    group_instance_id: str | None = None
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = -1
    protocol_type: str = ""
    protocols: tuple[Protocol, ...] = ()


class SyncRequest(Struct, frozen=True, gc=False, rename="camel"):
    """SyncGroup, as far as it matters."""

    member_id: str
    generation_id: int
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None


class ClassicHeartbeatRequest(Struct, frozen=True, gc=False, rename="camel"):
    """Heartbeat of a member of the classic protocol."""

    member_id: str
    generation_id: int
    group_instance_id: str | None = None


class LeavingMember(Struct, frozen=True, gc=False, rename="camel"):
    """One member of a LeaveGroup; an administrator names it by its instance alone (member id "")."""

    member_id: str
    group_instance_id: str | None = None


class LeaveRequest(Struct, frozen=True, gc=False, rename="camel"):
    """LeaveGroup."""

    members: tuple[LeavingMember, ...] = ()


class CommitRequest(Struct, frozen=True, gc=False, rename="camel"):
    """OffsetCommit or TxnOffsetCommit, without its offsets."""

    member_id: str = ""
    generation_id_or_member_epoch: int = -1
    group_instance_id: str | None = None
    is_transactional: bool = False


class FetchRequest(Struct, frozen=True, gc=False, rename="camel"):
    """One group of an OffsetFetch."""

    member_id: str | None = None
    member_epoch: int = -1


ClassicRequest = JoinRequest | SyncRequest | ClassicHeartbeatRequest | LeaveRequest
OffsetRequest = CommitRequest | FetchRequest


class Answer(Struct, frozen=True, gc=False):
    """What a request is answered.

    Attributes:
        error: the error; of a LeaveGroup the one above those of its members.
        member_id: of a heartbeat or join.
        epoch: member epoch, or generation of a join.
        assignment: what the member may use; None = what it was told before.
        protocol: of a join.
        leaver_errors: of a LeaveGroup, member by member.
    """

    error: Error = Error.NONE
    member_id: str | None = None
    epoch: int | None = None
    assignment: Partitions | None = None
    protocol: str | None = None
    leaver_errors: tuple[Error, ...] = ()
