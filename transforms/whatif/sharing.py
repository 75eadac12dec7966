"""What simulated clients send each other through the coordinator: subscriptions, and assignments by Kafka's assignors.

The coordinator looks at none of these bytes but to see whether they changed, so they need not be Kafka's own. Only
what an assignor reads out of user data is laid out as Kafka does.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import groupby

import msgspec

from transforms.coordinator.assignors.classify import ASSIGNORS
from transforms.coordinator.assignors.subscriptions import MemberSubscription, NoAssignment, TopicPartition

COOPERATIVE = "cooperative-sticky"
STICKY = "sticky"


class Offer(msgspec.Struct, frozen=True, array_like=True):
    """A member's subscription.

    Attributes:
        topics: what it subscribes to.
        group_instance_id: of a static member.
        owned: what it holds (cooperative-sticky) or had (sticky).
        generation: in which it got that.
        edition: one more whenever the subscription changed, in a way that is not followed up here.
    """

    topics: tuple[str, ...]
    group_instance_id: str | None
    owned: tuple[tuple[str, int], ...] = ()
    generation: int | None = None
    edition: int = 0


def offer_bytes(offer: Offer) -> bytes:
    """Return a subscription as a member sends it."""
    return msgspec.msgpack.encode(offer)


def assignments(offers: Mapping[str, bytes], strategy: str, counts: Mapping[str, int]) -> dict[str, bytes] | None:
    """Share out partitions as the group's leader does.

    Args:
        offers: what each member sent, in the order of the JoinGroup answer.
        strategy: the elected protocol.
        counts: partitions by topic.

    Returns:
        By member id, what `read_assignment` reads; None where nothing is known of such an assignor.
    """
    if strategy not in ASSIGNORS:
        return None
    subscriptions = {
        member_id: _subscription(msgspec.msgpack.decode(raw, type=Offer), strategy) for member_id, raw in offers.items()
    }
    try:
        given = ASSIGNORS[strategy][0](subscriptions, counts)
    except NoAssignment:
        return None
    return {member_id: msgspec.msgpack.encode(partitions) for member_id, partitions in given.items()}


def read_assignment(raw: bytes) -> tuple[TopicPartition, ...]:
    """Return the partitions that a member was given."""
    return msgspec.msgpack.decode(raw, type=tuple[tuple[str, int], ...]) if raw else ()


def _subscription(offer: Offer, strategy: str) -> MemberSubscription:
    if strategy == COOPERATIVE:
        return MemberSubscription(offer.topics, offer.group_instance_id, offer.owned, offer.generation)
    had = strategy == STICKY and offer.generation is not None
    user_data = _user_data(offer.owned, offer.generation or 0) if had else None
    return MemberSubscription(offer.topics, offer.group_instance_id, user_data=user_data)


def _user_data(owned: tuple[TopicPartition, ...], generation: int) -> bytes:
    """Write `memory.STICKY_USER_DATA`, version 1."""
    topics = [
        (topic, [partition for _, partition in places])
        for topic, places in groupby(sorted(owned), lambda each: each[0])
    ]
    parts = [struct.pack(">i", len(topics))]
    for topic, partitions in topics:
        name = topic.encode()
        parts.append(struct.pack(f">h{len(name)}si{len(partitions)}i", len(name), name, len(partitions), *partitions))
    return b"".join([*parts, struct.pack(">i", generation)])
