"""Decoded keys and values as rows of the silver tables.

Times are epoch milliseconds. Where Kafka writes a sentinel for "none" (-1, an empty protocol type, the zero uuid)
the row has None; what the column means by None is said in `schemas.columns`.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from schemas.records.consumer_protocol import PROTOCOL_TYPE
from schemas.records.fields import RecordType
from transforms.wire.consumer_protocol import Assignment, Subscription, read_assignment, read_subscription

Row = dict[str, Any]

LAST_MOMENT_MS = 253_402_300_799_999
"""End of the year 9999, the last moment that a TIMESTAMP can hold everywhere."""


def moment(milliseconds: int | None) -> int | None:
    """Return a time, or None for "none" (-1) and for what is no moment at all."""
    if milliseconds is None or not 0 <= milliseconds <= LAST_MOMENT_MS:
        return None
    return milliseconds


def offset_commit(_: RecordType, key: Row, value: Row | None, version: int | None) -> Row:
    """Row of `silver.offset_commits`, without what comes from the batch (producer, transaction)."""
    body = value or {}
    leader_epoch = body.get("leaderEpoch", -1)
    return {
        "group_id": key["group"],
        "topic": key["topic"],
        "partition": key["partition"],
        "committed_offset": body.get("offset"),
        "leader_epoch": None if leader_epoch == -1 else leader_epoch,
        "metadata": body.get("metadata"),
        "committed_at": moment(body.get("commitTimestamp")),
        "expires_at": moment(body.get("expireTimestamp")),
        "topic_id": body.get("topicId"),
        "is_tombstone": value is None,
        "value_version": version,
    }


def group_metadata(_: RecordType, key: Row, value: Row | None, version: int | None) -> Row:
    """Row of `silver.group_metadata`."""
    body = value or {}
    protocol_type = body.get("protocolType") or None
    return {
        "group_id": key["group"],
        "is_tombstone": value is None,
        "generation": body.get("generation"),
        "protocol_type": protocol_type,
        "protocol": body.get("protocol"),
        "leader_member_id": body.get("leader"),
        "state_changed_at": moment(body.get("currentStateTimestamp")),
        "value_version": version,
        "members": None if value is None else [_member(each, protocol_type) for each in value["members"]],
    }


def _member(member: Row, protocol_type: str | None) -> Row:
    """One member; what other protocol types put into the two byte fields stays bytes."""
    is_consumer = protocol_type == PROTOCOL_TYPE
    subscription = read_subscription(member["subscription"]) if is_consumer else Subscription()
    assignment = read_assignment(member["assignment"]) if is_consumer else Assignment()
    rebalance_timeout = member.get("rebalanceTimeout", -1)
    session_timeout = member["sessionTimeout"]
    return {
        "member_id": member["memberId"],
        "group_instance_id": member.get("groupInstanceId"),
        "client_id": member["clientId"],
        "client_host": member["clientHost"],
        "session_timeout_ms": session_timeout,
        # As the coordinator does when it loads a group: version 0 has no rebalance timeout.
        "rebalance_timeout_ms": session_timeout if rebalance_timeout == -1 else rebalance_timeout,
        "topics": subscription.topics,
        "owned": subscription.owned,
        "assigned": assignment.assigned,
        "user_data": subscription.user_data,
        "subscription": member["subscription"],
        "assignment": member["assignment"],
    }


def modern_group_record(record_type: RecordType, key: Row, value: Row | None, version: int | None) -> Row:
    """Row of `silver.modern_group_records`."""
    return {
        "group_id": key["groupId"],
        "record_type": record_type.type_id,
        "record_name": record_type.name,
        "member_id": key.get("memberId"),
        "regular_expression": key.get("regularExpression"),
        "is_tombstone": value is None,
        "value_version": version,
        "body": None if value is None else to_json(value),
    }


def to_json(value: Row) -> str:
    """Print decoded fields as Kafka's tools do: its field names, its order, bytes in base64, no spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_bytes_to_text)


def _bytes_to_text(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(f"no JSON for {type(value).__name__}")
