"""Requests of the request log as the machines of groups of epochs take them."""

from __future__ import annotations

from collections.abc import Callable

from schemas.rows import GroupRequestRow, HeldPartitions
from transforms.coordinator.modern.partitions import Partitions, of_numbers
from transforms.coordinator.modern.records import TopicPartitions
from transforms.coordinator.modern.requests import (
    Caller,
    ClassicHeartbeatRequest,
    ClassicRequest,
    CommitRequest,
    JoinRequest,
    LeaveRequest,
    LeavingMember,
    OffsetRequest,
    Protocol,
    SyncRequest,
)


def caller_of(row: GroupRequestRow) -> Caller:
    """Return who sent a request, in which version."""
    return Caller(row.api_version or 0, row.client_id or "", row.client_host or "")


def request_of(row: GroupRequestRow) -> ClassicRequest | OffsetRequest | None:
    """Return a request that any coordinator may be sent; None for a heartbeat of a newer protocol, and others."""
    make = _MAKERS.get(row.api)
    return None if make is None else make(row)


def partitions_of(held: list[HeldPartitions] | None) -> list[TopicPartitions] | None:
    """Return partitions as a heartbeat lists them; None = it says nothing of them."""
    return None if held is None else [TopicPartitions(each.topic_id or "", each.partitions or []) for each in held]


def told_partitions(row: GroupRequestRow) -> Partitions | None:
    """Return the partitions that the answer to a heartbeat gives the member; None = as before."""
    return None if row.told is None else of_numbers({each.topic_id or "": each.partitions or () for each in row.told})


def _generation(row: GroupRequestRow) -> int:
    return -1 if row.generation is None else row.generation


def _join(row: GroupRequestRow) -> JoinRequest:
    timeout = row.rebalance_timeout_ms
    return JoinRequest(
        row.member_id or "",
        row.group_instance_id,
        row.session_timeout_ms or 0,
        -1 if timeout is None else timeout,
        row.protocol_type or "",
        tuple(Protocol(each.name, each.metadata or b"") for each in row.protocols or ()),
    )


def _sync(row: GroupRequestRow) -> SyncRequest:
    return SyncRequest(row.member_id or "", _generation(row), row.group_instance_id, row.protocol_type, row.protocol)


def _heartbeat(row: GroupRequestRow) -> ClassicHeartbeatRequest:
    return ClassicHeartbeatRequest(row.member_id or "", _generation(row), row.group_instance_id)


def _leave(row: GroupRequestRow) -> LeaveRequest:
    leavers = row.leaving_members or ()
    return LeaveRequest(tuple(LeavingMember(each.member_id or "", each.group_instance_id) for each in leavers))


def _commit(row: GroupRequestRow) -> CommitRequest:
    is_transactional = row.api == "TxnOffsetCommit"
    return CommitRequest(row.member_id or "", _generation(row), row.group_instance_id, is_transactional)


_MAKERS: dict[str, Callable[[GroupRequestRow], ClassicRequest | OffsetRequest]] = {
    "JoinGroup": _join,
    "SyncGroup": _sync,
    "Heartbeat": _heartbeat,
    "LeaveGroup": _leave,
    "OffsetCommit": _commit,
    "TxnOffsetCommit": _commit,
}
