"""The bytes of the consumer protocol that clients send each other through the coordinator."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from itertools import groupby

from schemas.records.consumer_protocol import ASSIGNMENT, SUBSCRIPTION
from tests.support.record_writer import body_bytes
from transforms.coordinator.assignors.classify import ASSIGNORS
from transforms.coordinator.assignors.memory import STICKY_USER_DATA
from transforms.coordinator.assignors.subscriptions import TopicPartition, of_wire
from transforms.wire import consumer_protocol

VERSION = 3


def subscription(
    topics: Iterable[str], owned: Iterable[TopicPartition], generation: int, user_data: bytes | None = None
) -> bytes:
    """Write what a member asks for, what it holds, and what its assignor adds."""
    body = {"topics": list(topics), "userData": user_data, "ownedPartitions": _by_topic(owned)}
    body |= {"generationId": generation, "rackId": None}
    return struct.pack(">h", VERSION) + body_bytes(SUBSCRIPTION, body, VERSION, flexible=False)


def cooperative_user_data(library: str, assigned_in: int, assigned: Iterable[TopicPartition]) -> bytes | None:
    """Write what the cooperative assignor of Java, or of librdkafka, remembers of its last assignment."""
    if library == "apache-kafka-java":
        return struct.pack(">i", assigned_in)
    if assigned_in < 0:
        return None
    previous = [{"topic": entry["topic"], "partitions": entry["partitions"]} for entry in _by_topic(assigned)]
    body = {"previous_assignment": previous, "generation": assigned_in}
    return body_bytes(STICKY_USER_DATA, body, 1, flexible=False)


def shared_out(strategy: str, told: Mapping[str, bytes], counts: Mapping[str, int]) -> dict[str, bytes]:
    """Share out the partitions of topics as the group's leader does; by member id."""
    asked = {member_id: of_wire(consumer_protocol.read_subscription(raw), None) for member_id, raw in told.items()}
    return {member_id: _assignment(given) for member_id, given in ASSIGNORS[strategy][0](asked, counts).items()}


def partitions(raw: bytes) -> tuple[TopicPartition, ...]:
    """Read what a member was given."""
    found = consumer_protocol.read_assignment(raw).assigned or []
    return tuple((entry["topic"], number) for entry in found for number in entry["partitions"])


def _assignment(given: Iterable[TopicPartition]) -> bytes:
    body = {"assignedPartitions": _by_topic(given), "userData": None}
    return struct.pack(">h", VERSION) + body_bytes(ASSIGNMENT, body, VERSION, flexible=False)


def _by_topic(places: Iterable[TopicPartition]) -> list[dict[str, object]]:
    return [
        {"topic": topic, "partitions": [number for _, number in of_topic]}
        for topic, of_topic in groupby(sorted(places), key=lambda place: place[0])
    ]
