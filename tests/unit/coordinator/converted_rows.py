"""Rows of a group id that is a classic group at one time and a consumer group at another, as tests write them down."""

from __future__ import annotations

from typing import Any

from tests.unit.coordinator.evidence_rows import Row, line, request

PROTOCOLS = [{"name": "range", "metadata": "AAAAAAABAAF0/////w=="}]
NEW = {"clientId": "m", "clientHost": "/h", "subscribedTopicNames": ["t"], "rebalanceTimeoutMs": 5_000}
"""What a member of the consumer protocol says of itself."""

CLASSIC = {
    "clientId": "a",
    "clientHost": "/h",
    "subscribedTopicNames": ["t"],
    "rebalanceTimeoutMs": 60_000,
    "classicMemberMetadata": {"sessionTimeoutMs": 10_000, "supportedProtocols": PROTOCOLS},
}
"""What a member of the classic protocol does, as a consumer group keeps it."""

NOTHING: Row = {"topicPartitions": []}


def standing(epoch: int, before: int) -> Row:
    """A member that has nothing, at an epoch."""
    return {"memberEpoch": epoch, "previousMemberEpoch": before, "state": 0, "assignedPartitions": []}


def broker(version: str, **settings: str) -> list[Row]:
    """Lines of a broker that converts groups in both directions: its version, and its settings."""
    said = {"group.consumer.migration.policy": "bidirectional", **settings}
    return [
        line(100, "broker_version", group_id=None, attributes={"version": version}),
        line(101, "broker_settings", group_id=None, attributes=said),
    ]


def comes(at: float, error: int, **fields: Any) -> Row:
    """The heartbeat by which a member of the consumer protocol joins."""
    said = {"generation": 0, "rebalance_timeout_ms": 5_000, "subscribed_topics": ["t"], "owned": []}
    return {**request(at, "ConsumerGroupHeartbeat", "m", error, **{**said, **fields}), "api_version": 1}
