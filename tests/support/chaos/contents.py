"""What consumers put into their requests: subscriptions and assignments."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from schemas.records.consumer_protocol import ASSIGNMENT, SUBSCRIPTION
from tests.support.record_writer import body_bytes
from transforms.wire.consumer_protocol import read_assignment

TOPICS = {"orders": 6, "payments": 3}
"""Topics that are there, with their partitions."""

UNKNOWN_TOPIC = "no-such-topic"


def subscription(topics: Sequence[str], user_data: bytes | None = None) -> bytes:
    """Write a ConsumerProtocolSubscription of version 0."""
    return struct.pack(">h", 0) + body_bytes(
        SUBSCRIPTION, {"topics": sorted(topics), "userData": user_data}, 0, flexible=False
    )


def assignment(partitions: Mapping[str, Sequence[int]]) -> bytes:
    """Write a ConsumerProtocolAssignment of version 0."""
    assigned = [{"topic": topic, "partitions": list(numbers)} for topic, numbers in partitions.items()]
    return struct.pack(">h", 0) + body_bytes(
        ASSIGNMENT, {"assignedPartitions": assigned, "userData": None}, 0, flexible=False
    )


def partitions_of(raw: bytes) -> dict[str, list[int]]:
    """Read the partitions of an assignment."""
    found: dict[str, list[int]] = {}
    for each in read_assignment(raw).assigned or []:
        found.setdefault(each["topic"], []).extend(each["partitions"])
    return found


def dealt_out(members: Sequence[str]) -> dict[str, bytes]:
    """Deal the partitions of `orders` out to members, one by one."""
    hands: dict[str, list[int]] = {member: [] for member in members}
    for partition in range(TOPICS["orders"] if members else 0):
        hands[members[partition % len(members)]].append(partition)
    return {member: assignment({"orders": numbers} if numbers else {}) for member, numbers in hands.items()}
