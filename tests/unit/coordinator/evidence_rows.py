"""Rows of the silver tables for one group, as tests write them down."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from schemas.catalog import BY_NAME
from schemas.rows import CoordinatorEventRow
from transforms.coordinator.consumer.records import REGEX
from transforms.coordinator.replay import replay_group

Row = dict[str, Any]
Rounds = tuple[list[Row], list[Row]]
"""Lines and records."""

GROUP = "orders"


def line(at: int, event: str, broker: str = "1", **fields: Any) -> Row:
    row = dict.fromkeys(BY_NAME["coordinator_events"].columns)
    place = {"source_file": f"server-{broker}.log", "line_number": at, "seq": 0, "broker": broker, "dialect": "java"}
    attributes = fields.pop("attributes", {})
    return {**row, **place, "logged_at": at, "event": event, "group_id": GROUP, "attributes": attributes, **fields}


def typed_line(row: Row) -> CoordinatorEventRow:
    """A line as the replay handles it."""
    return msgspec.convert({name: row[name] for name in CoordinatorEventRow.__struct_fields__}, CoordinatorEventRow)


def member(member_id: str, partitions: list[int]) -> Row:
    return {
        "member_id": member_id, "group_instance_id": None, "client_id": member_id, "client_host": "/10.0.0.1",
        "session_timeout_ms": 10_000, "rebalance_timeout_ms": 60_000, "topics": ["t"], "owned": None,
        "assigned": [{"topic": "t", "partitions": partitions}],
        "user_data": None, "subscription": b"s", "assignment": b"a",
    }  # fmt: skip


def record(at: int, offset: int, generation: int, *members: Row) -> Row:
    row = dict.fromkeys(BY_NAME["group_metadata"].columns)
    return {
        **row, "group_id": GROUP, "topic_partition_of_record": 7, "record_offset": offset, "recorded_at": at,
        "is_tombstone": False, "generation": generation, "protocol_type": "consumer", "protocol": "range",
        "leader_member_id": members[0]["member_id"], "state_changed_at": at - 5, "members": list(members),
    }  # fmt: skip


def modern_records(*moments: tuple[float, list[tuple[int, str, Any]]]) -> list[Row]:
    """Records of a modern group, by the moments at which they were written.

    Each has the number of its type, whom it is about (a member or a regular expression; "" = the group) and its fields;
    None = a tombstone.
    """
    every = [(at, *written) for at, of_moment in moments for written in of_moment]
    return [_modern_record(at, offset, *written) for offset, (at, *written) in enumerate(every)]


def _modern_record(at: float, offset: int, record_type: int, name: str, body: Any) -> Row:
    row = dict.fromkeys(BY_NAME["modern_group_records"].columns)
    about = {"regular_expression" if record_type == REGEX else "member_id": name or None}
    return {
        **row, **about, "group_id": GROUP, "topic_partition_of_record": 7, "record_offset": offset, "recorded_at": at,
        "record_type": record_type, "is_tombstone": body is None, "body": None if body is None else json.dumps(body),
    }  # fmt: skip


def prepare(at: int, old: int, broker: str = "1") -> Row:
    reason = {"reason": "Adding new member x", "attributes": {"trigger": "member_joined"}}
    return line(at, "preparing_rebalance", broker, generation=old, **reason)


def round_of(
    at: int, generation: int, broker: str, *members: Row, stored: int | None = None
) -> tuple[list[Row], list[Row]]:
    lines = [
        prepare(at, generation - 1, broker),
        line(at + 100, "stabilized", broker, generation=generation, member_count=len(members)),
    ]
    if stored is None:
        return lines, []
    lines.append(
        line(at + 110, "assignment_received", broker, generation=generation, member_id=members[0]["member_id"])
    )
    return lines, [record(at + 112, stored, generation, *members)]


def request(
    at: float, api: str, member_id: str = "", error: int = 0, parked_ms: float = 0.0, broker: str = "1", **fields: Any
) -> Row:
    """A request handled at a moment, answered half a millisecond after it stopped waiting."""
    row = dict.fromkeys(BY_NAME["group_requests"].columns)
    place = {"source_file": f"requests-{broker}.log", "line_number": int(at * 1000), "seq": 0, "broker": broker}
    times = {"received_at": at, "handled_at": at, "answered_at": at + parked_ms + 0.5, "parked_ms": parked_ms}
    known = {"group_id": GROUP, "api": api, "api_version": 3, "member_id": member_id, "error_code": error}
    return {**row, **place, **times, **known, "client_id": member_id.partition("-")[0] or None, **fields}


def join(at: float, member_id: str = "", told: int | None = None, given: str | None = None, **fields: Any) -> Row:
    """A JoinGroup of a consumer that offers `range`."""
    offer = {"session_timeout_ms": 10_000, "rebalance_timeout_ms": 60_000, "protocol_type": "consumer"}
    protocols = {"protocols": [{"name": "range", "metadata": b"s"}]}
    answer = {"answered_generation": told, "answered_member_id": given or member_id}
    return request(at, "JoinGroup", member_id, **{**offer, **protocols, **answer, **fields})


def sync(at: float, member_id: str, generation: int, error: int = 0, **fields: Any) -> Row:
    """A SyncGroup; the assignment is sent by whoever leads."""
    return request(at, "SyncGroup", member_id, error, generation=generation, **fields)


def beat(at: float, member_id: str, generation: int, error: int = 0, **fields: Any) -> Row:
    """A Heartbeat."""
    return request(at, "Heartbeat", member_id, error, generation=generation, **fields)


def replayed(lines: list[Row], records: list[Row], requests: list[Row]) -> dict[str, list[Row]]:
    """The gold rows of the group."""
    return replay_group("c", GROUP, records, lines, requests, 50)


def verdicts(tables: dict[str, list[Row]]) -> list[tuple[int, int | None]]:
    """What was answered and what the replay answers, request by request."""
    rows = sorted(tables["replay_audit"], key=lambda row: row["handled_at"])
    return [(row["observed_error"], row["predicted_error"]) for row in rows]


A, B = member("a", [0, 1]), member("b", [2])
