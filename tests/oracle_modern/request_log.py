"""What was asked in a history, as the broker's request log would have it, read by the product as lines of that log."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from operator import attrgetter
from typing import Any

from msgspec.structs import asdict

from schemas.catalog import BY_NAME
from schemas.kafka_errors import ERROR_CODES
from tests.oracle_modern.histories import Step
from tests.unit.coordinator.evidence_rows import GROUP, Row
from transforms.loglines.entries.entries import entries
from transforms.loglines.parse import parse_entry

_API_KEYS = {
    "CONSUMER_GROUP_HEARTBEAT": 68,
    "SHARE_GROUP_HEARTBEAT": 76,
    "STREAMS_GROUP_HEARTBEAT": 88,
    "OFFSET_COMMIT": 8,
    "JOIN_GROUP": 11,
    "HEARTBEAT": 12,
    "LEAVE_GROUP": 13,
    "SYNC_GROUP": 14,
}
_PARKED = "PARKED"
_QUEUED_MS = 0.1
_SENT_MS = 0.4
_MODERN_CLIENT = "client"
"""The oracle's driver sent all heartbeats of the newer protocols by this client."""


@dataclass
class Exchange:
    """A request and its answer.

    Attributes:
        op: the request, as the oracle has it.
        at: when it came (epoch ms).
        answered_at: when it was answered.
        error: by Kafka's name; an exception is no error of the protocol.
        response: as the request log has it; None where the oracle printed none.
    """

    op: Step
    at: float
    answered_at: float
    error: str
    response: Step | None

    @property
    def code(self) -> int:
        """Number of the error; of a commit and a LeaveGroup, that of its parts."""
        name = self.error.rpartition("/")[2]
        return ERROR_CODES.get(name, ERROR_CODES["UNKNOWN_SERVER_ERROR"])


def exchanges(steps: Iterable[Step]) -> list[Exchange]:
    """Return what was asked and answered; a request that waits for others is answered by a step of its own."""
    found: list[Exchange] = []
    waiting: dict[tuple[str, str], Exchange] = {}
    for step in steps:
        op = step["op"]
        if op["kind"] == "request":
            found.append(Exchange(op, step["t"], step["t"], step["error"], step.get("response")))
            waiting[op["clientId"], op["api"]] = found[-1]
        elif op["kind"] == "answer" and (op["client"], op["api"]) in waiting:
            asked = waiting.pop((op["client"], op["api"]))
            asked.answered_at, asked.error, asked.response = step["t"], step["error"], step.get("response")
    return [each for each in found if each.error != _PARKED]


def rows_of(asked: Iterable[Exchange]) -> list[Row]:
    """Return the rows of `silver.group_requests` that come of what was asked."""
    numbers: Counter[str] = Counter()
    lines = []
    for each in asked:
        numbers[_client(each)] += 1
        lines.append((each.answered_at, _line(each, numbers[_client(each)])))
    return list(_parsed(line for _, line in sorted(lines, key=lambda dated: dated[0])))


def _parsed(lines: Iterable[str]) -> Iterator[Row]:
    columns = BY_NAME["group_requests"].columns
    for entry in entries(lines):
        for fact in sorted(parse_entry(entry.text, entry.logged_at), key=attrgetter("table")):
            assert fact.table == "group_requests", entry.text
            place = {
                "cluster": "c",
                "broker": "1",
                "source_file": "kafka-request.log",
                "line_number": entry.line_number,
            }
            row = asdict(fact) | place
            yield {column: row.get(column) for column in columns}


def _client(asked: Exchange) -> str:
    client: str = _MODERN_CLIENT if asked.op["api"].endswith("GROUP_HEARTBEAT") else asked.op["clientId"]
    return client


def _line(asked: Exchange, number: int) -> str:
    client, waited = _client(asked), asked.answered_at - asked.at
    told = {
        "isForwarded": False,
        "requestHeader": {
            "requestApiKey": _API_KEYS[asked.op["api"]],
            "requestApiVersion": asked.op["version"],
            "correlationId": number,
            "clientId": client,
            "requestApiKeyName": asked.op["api"],
        },
        "request": _request(asked),
        "response": _response(asked),
        "connection": f"127.0.0.1:9092-127.0.0.1:{40_000 + sum(map(ord, client))}-0-1",
        "totalTimeMs": waited + _QUEUED_MS + _SENT_MS,
        "requestQueueTimeMs": _QUEUED_MS,
        "localTimeMs": 0.2,
        "remoteTimeMs": waited,
        "throttleTimeMs": 0,
        "responseQueueTimeMs": 0.1,
        "sendTimeMs": 0.1,
        "securityProtocol": "PLAINTEXT",
        "principal": "User:ANONYMOUS",
        "listener": "PLAINTEXT",
        "clientInformation": {"softwareName": "unknown", "softwareVersion": "unknown"},
    }
    at = datetime.fromtimestamp(asked.answered_at / 1000, timezone.utc)
    moment = f"{at:%Y-%m-%d %H:%M:%S},{int(asked.answered_at) % 1000:03d}"
    return f"[{moment}] DEBUG Completed request:{json.dumps(told)} (kafka.request.logger)\n"


def _request(asked: Exchange) -> Row:
    request: Row = asked.op["request"] | {"groupId": GROUP}
    if asked.op["api"] == "OFFSET_COMMIT":
        partition = {"partitionIndex": 0, "committedOffset": 1, "committedLeaderEpoch": -1, "committedMetadata": ""}
        request |= {"topics": [{"name": "foo", "partitions": [partition]}]}
    return request


def _response(asked: Exchange) -> Any:
    """Return the answer; a commit is answered partition by partition, and the oracle's driver named none."""
    if asked.op["api"] == "OFFSET_COMMIT":
        partition = {"partitionIndex": 0, "errorCode": asked.code}
        return {"throttleTimeMs": 0, "topics": [{"name": "foo", "partitions": [partition]}]}
    if asked.response is not None:
        return asked.response
    told = {"throttleTimeMs": 0, "errorCode": asked.code}
    of_member = {"errorMessage": None, "memberId": None, "memberEpoch": 0, "heartbeatIntervalMs": 0, "assignment": None}
    return told | of_member if asked.op["api"].endswith("GROUP_HEARTBEAT") else told
