"""What a group's leader is given when it must share out the partitions, and the orders in which it walks through it.

A JoinGroup answer becomes a `java.util.HashMap` of subscriptions in the leader (ConsumerCoordinator.onLeaderElected),
so where an assignor walks through the members unsorted, the hash of their ids decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from transforms.coordinator.kafka.java_hashing import map_order
from transforms.wire import consumer_protocol

TopicPartition = tuple[str, int]
Assignment = dict[str, list[TopicPartition]]
"""Partitions by member id; every member has an entry, one that got nothing an empty one."""

NO_GENERATION = -1
"""AbstractStickyAssignor.DEFAULT_GENERATION."""


class NoAssignment(Exception):
    """Kafka's own assignor throws on this group."""


class NotPredicted(NoAssignment):
    """Kafka's own assignor has a result, but this case of it is not rebuilt here."""


@dataclass(frozen=True, slots=True)
class MemberSubscription:
    """One member as the leader sees it (ConsumerPartitionAssignor.Subscription).

    Attributes:
        topics: what it subscribes to.
        group_instance_id: of a static member.
        owned: partitions it says it holds, since version 1 of the consumer protocol.
        generation: the one in which it got them, since version 2; None = none.
        user_data: what its own assignor added: sticky's previous assignment, cooperative-sticky's generation.
        rack_id: since version 3; no assignor here looks at it, as no record says where replicas are.
    """

    topics: tuple[str, ...] = ()
    group_instance_id: str | None = None
    owned: tuple[TopicPartition, ...] = ()
    generation: int | None = None
    user_data: bytes | None = None
    rack_id: str | None = None


Subscriptions = Mapping[str, MemberSubscription]
"""By member id, in the order of the JoinGroup answer."""


def of_wire(sent: consumer_protocol.Subscription, group_instance_id: str | None) -> MemberSubscription:
    """Build a member's subscription from the decoded bytes of its JoinGroup."""
    owned = ((entry["topic"], partition) for entry in sent.owned or () for partition in entry["partitions"])
    generation = sent.generation if sent.generation is not None and sent.generation >= 0 else None
    return MemberSubscription(
        tuple(sent.topics or ()), group_instance_id, tuple(owned), generation, sent.user_data, sent.rack_id
    )


def known_counts(subscriptions: Subscriptions, partition_counts: Mapping[str, int]) -> dict[str, int]:
    """Return the partition counts of subscribed topics that exist; the leader assigns no others."""
    subscribed = {topic for subscription in subscriptions.values() for topic in subscription.topics}
    return {topic: partition_counts[topic] for topic in sorted(subscribed) if partition_counts.get(topic, 0) > 0}


def java_text_order(text: str) -> bytes:
    """Return a sort key for Java's String.compareTo, which compares UTF-16 units."""
    return text.encode("utf-16-be", "surrogatepass")


def members_in_order(subscriptions: Subscriptions) -> list[str]:
    """Sort members as MemberInfo.compareTo: static ones first by instance id, then dynamic ones by member id."""

    def key(member_id: str) -> tuple[bool, bytes]:
        instance = subscriptions[member_id].group_instance_id
        return instance is None, java_text_order(member_id if instance is None else instance)

    return sorted(subscriptions, key=key)


def members_in_hash_order(subscriptions: Subscriptions) -> list[str]:
    """Return the members as Kafka's unsorted loops meet them: in the order of the leader's HashMap."""
    return map_order(subscriptions, len(subscriptions), "java")


def all_partitions(topics: Iterable[str], counts: Mapping[str, int]) -> list[TopicPartition]:
    """Return every partition of the topics, topic by topic in the order given."""
    return [(topic, partition) for topic in topics for partition in range(counts[topic])]
