"""Subscriptions and assignments of protocol type `consumer`, as clients of every make wrote them.

Brokers store these bytes as they come and never check them, and clients are known to leave fields out or to write
them short. So nothing here fails: each field that was read whole is kept, the rest is not known (None).

Members write the same, generation after generation, so what was read is kept, and is not to be changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from schemas.records.consumer_protocol import ASSIGNMENT, LAST_VERSION, SUBSCRIPTION
from schemas.records.fields import StructOf
from transforms.errors import DecodeError
from transforms.wire.primitives import read_int16
from transforms.wire.walk import walk_while_readable

_KEPT = 1024

TopicPartitions = list[dict[str, Any]]
"""`{"topic": str, "partitions": [int]}` as often as the bytes hold them; a topic may come twice."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a member asks for; None = not in these bytes, or not readable."""

    topics: list[str] | None = None
    user_data: bytes | None = None
    owned: TopicPartitions | None = None
    generation: int | None = None
    rack_id: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a member got; None = not in these bytes, or not readable."""

    assigned: TopicPartitions | None = None
    user_data: bytes | None = None
    problem: str | None = None


@lru_cache(maxsize=_KEPT)
def read_subscription(raw: bytes) -> Subscription:
    """Decode a ConsumerProtocolSubscription."""
    values, problem = _read(SUBSCRIPTION, raw)
    return Subscription(
        topics=values.get("topics"),
        user_data=values.get("userData"),
        owned=values.get("ownedPartitions"),
        generation=values.get("generationId"),
        rack_id=values.get("rackId"),
        problem=problem,
    )


@lru_cache(maxsize=_KEPT)
def read_assignment(raw: bytes) -> Assignment:
    """Decode a ConsumerProtocolAssignment; no bytes at all mean that the leader gave the member nothing."""
    if not raw:
        return Assignment(assigned=[])
    values, problem = _read(ASSIGNMENT, raw)
    return Assignment(values.get("assignedPartitions"), values.get("userData"), problem)


def _read(layout: StructOf, raw: bytes) -> tuple[dict[str, Any], str | None]:
    try:
        version, size = read_int16(raw, 0)
    except DecodeError as error:
        return {}, str(error)
    if version < 0:
        return {}, f"version {version}"
    values, error_or_none = walk_while_readable(layout, raw, size, min(version, LAST_VERSION))
    return values, None if error_or_none is None else str(error_or_none)
