"""The requests that the oracle's driver put to consumer groups, by the names under which it printed them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.oracle_modern.consumer_situations import FOO, REBALANCE_MS, SESSION_MS, decoded, subscription
from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.requests import HeartbeatRequest, Request
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.requests import (
    ClassicHeartbeatRequest,
    CommitRequest,
    FetchRequest,
    JoinRequest,
    LeaveRequest,
    SyncRequest,
)

Probe = Callable[[Member | None, Member | None], tuple[Request, int]]
"""Makes a request, and its version, out of the members m1 and c1 as they are."""

EpochOf = Callable[[Member | None, Member | None], int]
"""Makes an epoch out of the same."""

_SOMEWHERE = 2
"""The epoch that stands for that of a member which is not there."""


def _epoch(member: Member | None) -> int:
    return _SOMEWHERE if member is None else member.epoch


def _previous(member: Member | None) -> int:
    return _SOMEWHERE - 1 if member is None else member.standing.previous_epoch


def _assigned(member: Member | None) -> Partitions:
    return {} if member is None else member.standing.assigned


def _listed(partitions: Partitions) -> list[dict[str, Any]]:
    return [{"topicId": topic, "partitions": list(numbers)} for topic, numbers in partitions.items()]


def _heartbeat(member_id: str, epoch: int, version: int = 1, **fields: Any) -> tuple[Request, int]:
    return decoded(HeartbeatRequest, memberId=member_id, memberEpoch=epoch, **fields), version


def _joins(member_id: str, version: int = 1, **fields: Any) -> Probe:
    said = {"rebalanceTimeoutMs": REBALANCE_MS, "subscribedTopicNames": ["foo"], "topicPartitions": [], **fields}
    return lambda m1, c1: _heartbeat(member_id, 0, version, **said)


def _says(**fields: Any) -> Probe:
    return lambda m1, c1: _heartbeat("m1", _epoch(m1), **fields)


def _sends(epoch: int, member_id: str = "m1", **fields: Any) -> Probe:
    return lambda m1, c1: _heartbeat(member_id, epoch, **fields)


def _commits(version: int, member_id: str, epoch: EpochOf, **fields: Any) -> Probe:
    return lambda m1, c1: (
        decoded(CommitRequest, memberId=member_id, generationIdOrMemberEpoch=epoch(m1, c1), **fields),
        version,
    )


def _of_m1(more: int = 0) -> EpochOf:
    return lambda m1, c1: _epoch(m1) + more


def _of_c1(more: int = 0) -> EpochOf:
    return lambda m1, c1: (_CLASSIC_GENERATION if c1 is None else c1.epoch) + more


def _fixed(epoch: int) -> EpochOf:
    return lambda m1, c1: epoch


_CLASSIC_GENERATION = 1


def _fetches(member_id: str | None, epoch: EpochOf) -> Probe:
    return lambda m1, c1: (decoded(FetchRequest, memberId=member_id, memberEpoch=epoch(m1, c1)), 9)


def _classic_join(
    version: int,
    member_id: str,
    topics: tuple[str, ...] = ("foo",),
    protocol: str = "range",
    protocol_type: str = "consumer",
    instance: str | None = None,
    owned: tuple[int, ...] = (),
) -> Probe:
    request = decoded(
        JoinRequest,
        memberId=member_id,
        groupInstanceId=instance,
        sessionTimeoutMs=SESSION_MS,
        rebalanceTimeoutMs=REBALANCE_MS,
        protocolType=protocol_type,
        protocols=[{"name": protocol, "metadata": subscription(*topics, owned=owned)}],
    )
    return lambda m1, c1: (request, version)


def _rejoin(*topics: str) -> Probe:
    """c1 says that it has what it has."""
    return lambda m1, c1: _classic_join(9, "c1", topics, owned=_assigned(c1).get(FOO, ()))(m1, c1)


def _syncs(member_id: str, generation: EpochOf, name: str = "range") -> Probe:
    return lambda m1, c1: (
        decoded(
            SyncRequest,
            memberId=member_id,
            generationId=generation(m1, c1),
            protocolType="consumer",
            protocolName=name,
        ),
        5,
    )


def _beats(member_id: str, generation: EpochOf) -> Probe:
    return lambda m1, c1: (
        decoded(ClassicHeartbeatRequest, memberId=member_id, generationId=generation(m1, c1)),
        4,
    )


def _leaves(*members: tuple[str, str | None]) -> Probe:
    named = [{"memberId": member_id, "groupInstanceId": instance} for member_id, instance in members]
    return lambda m1, c1: (decoded(LeaveRequest, members=named), 5)


def _again(owned: Callable[[Member | None], list[dict[str, Any]] | None]) -> Probe:
    """m1 with the epoch before its own."""
    return lambda m1, c1: _heartbeat("m1", _previous(m1), topicPartitions=owned(m1))


_EVERYTHING = [{"topicId": FOO, "partitions": [0, 1, 2, 3, 4, 5]}]
_FULL = {"rebalanceTimeoutMs": REBALANCE_MS, "subscribedTopicNames": ["foo"]}

PROBES: dict[str, Probe] = {
    "CGHeartbeat epoch 0, new dynamic member": _joins("n1"),
    "CGHeartbeat epoch 0, new member, subscribes []": _joins("n1", subscribedTopicNames=[]),
    "CGHeartbeat epoch 0, new member, unknown topic": _joins("n1", subscribedTopicNames=["nope"]),
    "CGHeartbeat epoch 0, new member, regex f.*": _joins("n1", subscribedTopicNames=None, subscribedTopicRegex="f.*"),
    "CGHeartbeat epoch 0, new member, bad regex [": _joins("n1", subscribedTopicNames=None, subscribedTopicRegex="["),
    "CGHeartbeat epoch 0, known member m1, same subscription (rejoin after fence)": _joins("m1"),
    "CGHeartbeat epoch 0, known member m1, topicPartitions not empty": _joins("m1", topicPartitions=_EVERYTHING),
    "CGHeartbeat v0 epoch 0, empty member id": _joins("", version=0),
    "CGHeartbeat v1 epoch 0, empty member id": _joins(""),
    "CGHeartbeat epoch 0, unknown assignor": _joins("n1", serverAssignor="bogus"),
    "CGHeartbeat epoch 0, no subscription fields": _joins("n1", subscribedTopicNames=None),
    "CGHeartbeat m1 current epoch, all null": _says(),
    "CGHeartbeat m1 current epoch, owned = assigned": lambda m1, c1: _heartbeat(
        "m1", _epoch(m1), topicPartitions=_listed(_assigned(m1))
    ),
    "CGHeartbeat m1 current epoch, full request": lambda m1, c1: _heartbeat(
        "m1", _epoch(m1), topicPartitions=_listed(_assigned(m1)), **_FULL
    ),
    "CGHeartbeat m1 current epoch, new subscription [foo,bar]": _says(subscribedTopicNames=["foo", "bar"]),
    "CGHeartbeat m1 current epoch, new subscription [bar]": _says(subscribedTopicNames=["bar"]),
    "CGHeartbeat m1 current epoch, only serverAssignor range": _says(serverAssignor="range"),
    "CGHeartbeat m1 current epoch, only rack/rebalance timeout changed": _says(
        rackId="r2", rebalanceTimeoutMs=REBALANCE_MS + 1
    ),
    "CGHeartbeat m1 epoch current+1": lambda m1, c1: _heartbeat("m1", _epoch(m1) + 1),
    "CGHeartbeat m1 previous epoch, owned = []": _again(lambda m1: []),
    "CGHeartbeat m1 previous epoch, owned = assigned": _again(lambda m1: _listed(_assigned(m1))),
    "CGHeartbeat m1 previous epoch, owned null": _again(lambda m1: None),
    "CGHeartbeat m1 previous epoch, owned not assigned (foo 0..5)": _again(lambda m1: _EVERYTHING),
    "CGHeartbeat m1 epoch 1 (older than previous where previous>1)": _sends(1, topicPartitions=[]),
    "CGHeartbeat unknown member, epoch 5": _sends(5, "zz"),
    "CGHeartbeat epoch -1, m1": _sends(-1),
    "CGHeartbeat epoch -1, unknown member": _sends(-1, "zz"),
    "CGHeartbeat epoch -2, m1, instance i1": _sends(-2, instanceId="i1"),
    "CGHeartbeat epoch -2, no instance": _sends(-2),
    "CGHeartbeat epoch -3": _sends(-3),
    "CGHeartbeat epoch -1, m1, instance i1": _sends(-1, instanceId="i1"),
    "CGHeartbeat epoch -1, other id, instance i1": _sends(-1, "zz", instanceId="i1"),
    "CGHeartbeat epoch 0, new instance i9": _joins("n1", instanceId="i9"),
    "CGHeartbeat epoch 0, instance i1, new member id (restart)": _joins("n1", instanceId="i1"),
    "CGHeartbeat epoch 0, instance i1, new id, other subscription [bar]": _joins(
        "n1", instanceId="i1", subscribedTopicNames=["bar"]
    ),
    "CGHeartbeat epoch 0, instance i1, same member id m1": _joins("m1", instanceId="i1"),
    "CGHeartbeat current epoch, m1, instance i1": _says(instanceId="i1"),
    "CGHeartbeat current epoch, other id zz, instance i1": lambda m1, c1: _heartbeat("zz", _epoch(m1), instanceId="i1"),
    "CGHeartbeat current epoch, m1, unknown instance i9": _says(instanceId="i9"),
    "CGHeartbeat current epoch, m1 without its instance id": _says(),
    "CGHeartbeat epoch 0 of classic member c1 (client upgraded, same id)": _joins("c1"),
    "CGHeartbeat current epoch of classic member c1": lambda m1, c1: _heartbeat("c1", _epoch(c1)),
    "OffsetCommit v9 m1 current epoch": _commits(9, "m1", _of_m1()),
    "OffsetCommit v9 m1 epoch-1": _commits(9, "m1", _of_m1(-1)),
    "OffsetCommit v8 m1 current epoch": _commits(8, "m1", _of_m1()),
    "OffsetCommit v8 m1 epoch-1": _commits(8, "m1", _of_m1(-1)),
    "OffsetCommit v9 m1 epoch+1": _commits(9, "m1", _of_m1(1)),
    "OffsetCommit v9 m1 epoch -1": _commits(9, "m1", _fixed(-1)),
    "OffsetCommit v9 member '' epoch -1 (simple/admin)": _commits(9, "", _fixed(-1)),
    "OffsetCommit v9 unknown member epoch 1": _commits(9, "zz", _fixed(1)),
    "OffsetCommit v8 unknown member epoch 1": _commits(8, "zz", _fixed(1)),
    "OffsetCommit v9 m1 current epoch, instance i1": _commits(9, "m1", _of_m1(), groupInstanceId="i1"),
    "OffsetCommit v9 c1 generation = epoch": _commits(9, "c1", _of_c1()),
    "OffsetCommit v8 c1 generation = epoch": _commits(8, "c1", _of_c1()),
    "OffsetCommit v9 c1 generation-1": _commits(9, "c1", _of_c1(-1)),
    "TxnOffsetCommit m1 current epoch": _commits(3, "m1", _of_m1(), isTransactional=True),
    "TxnOffsetCommit m1 epoch-1": _commits(3, "m1", _of_m1(-1), isTransactional=True),
    "TxnOffsetCommit '' epoch -1": _commits(3, "", _fixed(-1), isTransactional=True),
    "TxnOffsetCommit unknown member epoch 1": _commits(3, "zz", _fixed(1), isTransactional=True),
    "TxnOffsetCommit c1 generation-1": _commits(3, "c1", _of_c1(-1), isTransactional=True),
    "OffsetFetch m1 current epoch": _fetches("m1", _of_m1()),
    "OffsetFetch m1 epoch-1": _fetches("m1", _of_m1(-1)),
    "OffsetFetch unknown member epoch 1": _fetches("zz", _fixed(1)),
    "OffsetFetch null member epoch -1": _fetches(None, _fixed(-1)),
    "JoinGroup v4+ unknown id": _classic_join(9, ""),
    "JoinGroup v3 unknown id": _classic_join(3, ""),
    "JoinGroup v9 unknown id, protocolType connect": _classic_join(9, "", protocol_type="connect"),
    "JoinGroup v3 unknown id, only protocol 'other'": _classic_join(3, "", protocol="other"),
    "JoinGroup v9 new id n1 (second step)": _classic_join(9, "n1"),
    "JoinGroup v9 id m1 (consumer member turns classic)": _classic_join(9, "m1"),
    "JoinGroup v9 known classic c1, same subscription": _rejoin("foo"),
    "JoinGroup v9 known classic c1, new subscription [foo,bar]": _rejoin("bar", "foo"),
    "JoinGroup v9 unknown id, instance i1 (static consumer member turns classic)": _classic_join(9, "", instance="i1"),
    "JoinGroup v9 unknown id, new instance i9": _classic_join(9, "", instance="i9"),
    "JoinGroup v9 id zz, instance i1 (fenced)": _classic_join(9, "zz", instance="i1"),
    "SyncGroup c1 generation = epoch": _syncs("c1", _of_c1()),
    "SyncGroup c1 generation-1": _syncs("c1", _of_c1(-1)),
    "SyncGroup c1 other protocol name": _syncs("c1", _of_c1(), "other"),
    "SyncGroup m1 (consumer member)": _syncs("m1", _of_m1()),
    "SyncGroup unknown": _syncs("zz", _fixed(1)),
    "Heartbeat c1 generation = epoch": _beats("c1", _of_c1()),
    "Heartbeat c1 generation-1": _beats("c1", _of_c1(-1)),
    "Heartbeat m1 (consumer member)": _beats("m1", _of_m1()),
    "Heartbeat unknown": _beats("zz", _fixed(1)),
    "LeaveGroup c1": _leaves(("c1", None)),
    "LeaveGroup m1 (consumer member)": _leaves(("m1", None)),
    "LeaveGroup unknown": _leaves(("zz", None)),
    "LeaveGroup '' + instance i1 (admin removal)": _leaves(("", "i1")),
    "LeaveGroup zz + instance i1": _leaves(("zz", "i1")),
    "LeaveGroup all classic members + m1": lambda m1, c1: _leaves(
        *(() if c1 is None else (("c1", None), ("c2", None))), ("m1", None)
    )(m1, c1),
}


def request(name: str, group: Group | None) -> tuple[Request, int]:
    """Return a request as it is sent in a situation, and its version."""
    members = {} if group is None else group.members
    return PROBES[name](members.get("m1"), members.get("c1"))
