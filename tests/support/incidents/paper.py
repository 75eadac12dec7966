"""What Kafka writes of a group, as bytes and text, read back by the product's own readers into silver rows."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cache, lru_cache
from typing import Any

from msgspec import json
from msgspec.structs import asdict

from schemas.catalog import BY_NAME
from schemas.records.classic_groups import GROUP_METADATA
from tests.support.record_writer import key_bytes, value_bytes
from transforms.coordinator.classic.machine.events import Answered
from transforms.coordinator.classic.machine.group import Group
from transforms.coordinator.kafka.java_hashing import offsets_partition
from transforms.coordinator.kafka.requests import Request
from transforms.loglines.parse import parse_entry
from transforms.loglines.requests.apis import APIS
from transforms.wire.records import decode

Row = dict[str, Any]

CLUSTER = "demo"
PARTITION_COUNT = 50
MANAGER = "org.apache.kafka.coordinator.group.GroupMetadataManager"
RUNTIME = "org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime"
CLASSIC_GROUP = "org.apache.kafka.coordinator.group.classic.ClassicGroup"
CONSUMER_COORDINATOR = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_KEYS = {api.name: key for key, api in APIS.items()}
_PRINTED = {
    "JoinGroup": "JOIN_GROUP",
    "SyncGroup": "SYNC_GROUP",
    "Heartbeat": "HEARTBEAT",
    "LeaveGroup": "LEAVE_GROUP",
    "OffsetCommit": "OFFSET_COMMIT",
    "TxnOffsetCommit": "TXN_OFFSET_COMMIT",
}
"""APIs as the request log prints their names."""


@dataclass
class Sent:
    """A request on its way: who sent it, over which connection, and when the broker took it up."""

    request: Request
    client_id: str
    software: tuple[str, str]
    connection: str
    correlation_id: int
    handled_at: float
    offsets: dict[tuple[str, int], int] = field(default_factory=dict)


class Paper:
    """The evidence of one group.

    Attributes:
        records: rows of `silver.group_metadata`.
        events: rows of `silver.coordinator_events`.
        requests: rows of `silver.group_requests`.
        client_events: rows of `silver.client_events`.
    """

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.partition = offsets_partition(group_id, PARTITION_COUNT)
        self.records: list[Row] = []
        self.events: list[Row] = []
        self.requests: list[Row] = []
        self.client_events: list[Row] = []
        self._line_numbers: dict[str, int] = {}

    def line(self, at: float, broker: str, message: str, logger: str = MANAGER) -> None:
        """Write an INFO line of a broker's group coordinator."""
        prefix = f"[GroupCoordinator id={broker} topic=__consumer_offsets partition={self.partition}]"
        if logger == RUNTIME:
            prefix = f"[GroupCoordinator id={broker}]"
        self._read(f"[{stamp(at)}] INFO {prefix} {message} ({logger})", at, f"{broker}/server.log", broker)

    def client_line(self, at: float, file: str, level: str, client_id: str, instance: str | None, said: str) -> None:
        """Write a line of a Java consumer."""
        of_instance = "" if instance is None else f"instanceId={instance}, "
        prefix = f"[Consumer {of_instance}clientId={client_id}, groupId={self.group_id}]"
        self._read(f"[{stamp(at)}] {level} {prefix} {said} ({CONSUMER_COORDINATOR})", at, file, None)

    def request(self, sent: Sent, answered: Answered, leads: list[tuple[str, str | None, bytes]], broker: str) -> None:
        """Write the line of a request that has been answered; `leads` are the members that a leader is told."""
        asked, api = sent.request, sent.request.api
        body, answer = _BODIES[api](self.group_id, sent, answered, leads)
        took = round(answered.at - sent.handled_at, 3)
        logged = {
            "isForwarded": False,
            "requestHeader": {
                "requestApiKey": _KEYS[api],
                "requestApiVersion": asked.api_version,
                "correlationId": sent.correlation_id,
                "clientId": sent.client_id,
                "requestApiKeyName": _PRINTED[api],
            },
            "request": body,
            "response": answer,
            "connection": sent.connection,
            "totalTimeMs": took,
            "requestQueueTimeMs": 0.0,
            "remoteTimeMs": took if took > 1 else 0.0,
            "clientInformation": {"softwareName": sent.software[0], "softwareVersion": sent.software[1]},
        }
        text = f"[{stamp(answered.at)}] DEBUG Completed request:{json.encode(logged).decode()} (kafka.request.logger)"
        self._read(text, answered.at, f"{broker}/kafka-request.log", broker)

    def record(self, at: float, group: Group, since: float, is_marker: bool = False) -> None:
        """Write a GroupMetadata record of the group as it is; a marker is that of a new group."""
        members = [
            {
                "memberId": member.member_id,
                "groupInstanceId": member.group_instance_id,
                "clientId": member.client_id,
                "clientHost": member.client_host,
                "rebalanceTimeout": member.rebalance_timeout_ms,
                "sessionTimeout": member.session_timeout_ms,
                "subscription": member.metadata(group.protocol) or b"",
                "assignment": member.assignment,
            }
            for member in group.in_map_order()
        ]
        value = {
            "protocolType": "" if is_marker else "consumer",
            "generation": group.generation,
            "protocol": group.protocol if members else None,
            "leader": group.leader if members else None,
            "currentStateTimestamp": int(since),
            "members": members,
        }
        self._take(at, key_bytes(GROUP_METADATA, {"group": self.group_id}), value_bytes(GROUP_METADATA, value, 3))

    def _take(self, at: float, key: bytes, value: bytes) -> None:
        found = decode(key, value)
        place = {
            "cluster": CLUSTER,
            "topic_partition_of_record": self.partition,
            "record_offset": len(self.records),
            "recorded_at": int(at),
        }
        self.records.append(_complete(found.table, {**found.row, **place}))

    def _read(self, text: str, at: float, file: str, broker: str | None) -> None:
        number = self._line_numbers[file] = self._line_numbers.get(file, 0) + 1
        place: Row = {"cluster": CLUSTER, "source_file": file, "line_number": number}
        facts = parse_entry(text, int(at))
        if not facts:
            raise ValueError(f"nothing was read: {text}")
        for fact in facts:
            row = asdict(fact)
            if fact.table == "rejected" or row.get("event") == "unrecognised":
                raise ValueError(f"not understood: {text}")
            row |= place if fact.table == "client_events" else {**place, "broker": broker}
            _LISTS[fact.table](self).append(_complete(fact.table, row))


_LISTS = {
    "coordinator_events": lambda paper: paper.events,
    "group_requests": lambda paper: paper.requests,
    "client_events": lambda paper: paper.client_events,
}


@cache
def _columns(table: str) -> dict[str, None]:
    return dict.fromkeys(BY_NAME[table].columns)


def _complete(table: str, row: Row) -> Row:
    return _columns(table) | row


def stamp(at: float) -> str:
    """Return a moment as log4j prints it."""
    second, ms = divmod(int(at), 1000)
    return f"{_second(second)},{ms:03d}"


@lru_cache
def _second(at: int) -> str:
    return (_EPOCH + timedelta(seconds=at)).strftime("%Y-%m-%d %H:%M:%S")


def _base64(raw: bytes | None) -> str:
    return base64.b64encode(raw or b"").decode("ascii")


def _identity(group_id: str, asked: Request) -> Row:
    return {"groupId": group_id, "memberId": asked.member_id, "groupInstanceId": asked.group_instance_id}


def _join(group_id: str, sent: Sent, answered: Answered, leads: list[tuple[str, str | None, bytes]]) -> tuple[Row, Row]:
    asked = sent.request
    body = {
        **_identity(group_id, asked),
        "sessionTimeoutMs": asked.session_timeout_ms,
        "rebalanceTimeoutMs": asked.rebalance_timeout_ms,
        "protocolType": asked.protocol_type,
        "protocols": [{"name": name, "metadata": _base64(metadata)} for name, metadata in asked.protocols],
        "reason": asked.reason,
    }
    is_in = not answered.error
    gives = is_in or answered.error == 79  # MEMBER_ID_REQUIRED
    return body, {
        "errorCode": answered.error,
        "generationId": answered.generation if is_in else -1,
        "protocolName": answered.protocol if is_in else None,
        "leader": answered.leader if is_in else "",
        "memberId": (asked.member_id or asked.given_member_id or "") if gives else asked.member_id,
        "members": [
            {"memberId": member_id, "groupInstanceId": instance, "metadata": _base64(metadata)}
            for member_id, instance, metadata in leads
        ],
    }


def _sync(group_id: str, sent: Sent, answered: Answered, _: object) -> tuple[Row, Row]:
    asked = sent.request
    given = [{"memberId": each, "assignment": _base64(raw)} for each, raw in asked.assignments.items()]
    body = {
        **_identity(group_id, asked),
        "generationId": asked.generation,
        "protocolType": asked.protocol_type,
        "protocolName": asked.protocol,
        "assignments": given,
    }
    return body, {"errorCode": answered.error, "assignment": _base64(answered.assignment)}


def _heartbeat(group_id: str, sent: Sent, answered: Answered, _: object) -> tuple[Row, Row]:
    return {**_identity(group_id, sent.request), "generationId": sent.request.generation}, {"errorCode": answered.error}


def _commit(group_id: str, sent: Sent, answered: Answered, _: object) -> tuple[Row, Row]:
    asked = {**_identity(group_id, sent.request), "generationIdOrMemberEpoch": sent.request.generation}
    if sent.request.api == "TxnOffsetCommit":
        asked = {**_identity(group_id, sent.request), "generationId": sent.request.generation}
    topics: dict[str, dict[int, int]] = {}
    for (topic, partition), offset in sent.offsets.items():
        topics.setdefault(topic, {})[partition] = offset
    asked["topics"] = [
        {
            "name": topic,
            "partitions": [{"partitionIndex": at, "committedOffset": offset} for at, offset in of_topic.items()],
        }
        for topic, of_topic in topics.items()
    ]
    told = [
        {"name": topic, "partitions": [{"partitionIndex": at, "errorCode": answered.error} for at in of_topic]}
        for topic, of_topic in topics.items()
    ]
    return asked, {"topics": told}


def _leave(group_id: str, sent: Sent, answered: Answered, _: object) -> tuple[Row, Row]:
    leaving = [
        {"memberId": each.member_id, "groupInstanceId": each.group_instance_id, "reason": each.reason}
        for each in sent.request.leavers
    ]
    answers = [{"memberId": each["memberId"], "errorCode": answered.error} for each in leaving]
    return {"groupId": group_id, "members": leaving}, {"errorCode": 0, "members": answers}


_BODIES = {
    "JoinGroup": _join,
    "SyncGroup": _sync,
    "Heartbeat": _heartbeat,
    "OffsetCommit": _commit,
    "TxnOffsetCommit": _commit,
    "LeaveGroup": _leave,
}
