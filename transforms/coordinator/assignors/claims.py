"""Who may keep what: the first step of both sticky assignors, in which members' memories meet.

Source: AbstractStickyAssignor.allSubscriptionsEqual and prepopulateCurrentAssignments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from transforms.coordinator.assignors.memory import Memory
from transforms.coordinator.assignors.subscriptions import (
    NO_GENERATION,
    MemberSubscription,
    Subscriptions,
    TopicPartition,
    members_in_hash_order,
)


@dataclass(slots=True)
class Claims:
    """Memories of a group, set against each other.

    Attributes:
        members: member ids in the order of the leader's HashMap.
        memories: what each member says.
        owned: what each member may count as its own, of topics that still exist.
        disputed: partitions that two members of one generation claim; neither keeps them.
        max_generation: highest generation that a member names.
        are_equal: all members have the same subscription, as Kafka tests it.
    """

    members: list[str]
    memories: dict[str, Memory]
    owned: dict[str, list[TopicPartition]] = field(default_factory=dict)
    disputed: set[TopicPartition] = field(default_factory=set)
    max_generation: int = NO_GENERATION
    are_equal: bool = True


def settle_claims(
    subscriptions: Subscriptions, counts: Mapping[str, int], memory: Callable[[MemberSubscription], Memory]
) -> Claims:
    """Let every member claim what it remembers; of two claims to a partition the newer generation wins."""
    members = members_in_hash_order(subscriptions)
    claims = Claims(members, {member_id: memory(subscriptions[member_id]) for member_id in members})
    claims.are_equal = _are_equal(subscriptions, members)
    owner: dict[TopicPartition, str] = {}
    for member_id in members:
        generation = _or_default(claims.memories[member_id].generation)
        claims.max_generation = max(claims.max_generation, generation)
        claims.owned[member_id] = []
        for partition in claims.memories[member_id].partitions:
            if partition[0] in counts:
                _claim(claims, subscriptions, owner, partition, member_id, generation)
    return claims


def _claim(
    claims: Claims,
    subscriptions: Subscriptions,
    owner: dict[TopicPartition, str],
    partition: TopicPartition,
    member_id: str,
    generation: int,
) -> None:
    other = owner.get(partition)
    if other is None:
        claims.owned[member_id].append(partition)
        owner[partition] = member_id
        return
    # Kafka compares the one's memory with the other's subscription, which name different generations in a sticky group.
    other_generation = _or_default(subscriptions[other].generation)
    if generation < other_generation:
        return
    if generation == other_generation:
        claims.disputed.add(partition)
    else:
        claims.owned[member_id].append(partition)
    if partition in claims.owned[other]:
        claims.owned[other].remove(partition)
    owner[partition] = member_id


def previous_owners(claims: Claims) -> dict[TopicPartition, str]:
    """Return who had a partition in the newest generation below the highest one; of equals the first in hash order."""
    previous: dict[TopicPartition, tuple[int, str]] = {}
    for member_id in claims.members:
        memory = claims.memories[member_id]
        generation = _or_default(memory.generation)
        if generation >= claims.max_generation:
            continue
        for partition in memory.partitions:
            if partition not in previous or generation > previous[partition][0]:
                previous[partition] = generation, member_id
    return {partition: member_id for partition, (_, member_id) in previous.items()}


def _are_equal(subscriptions: Subscriptions, members: list[str]) -> bool:
    """Compare each subscription with the first one that is not empty: empty ones before it count as equal to it."""
    first: set[str] = set()
    for member_id in members:
        topics = subscriptions[member_id].topics
        if not first:
            first = set(topics)
        elif len(topics) != len(first) or not first.issuperset(topics):
            return False
    return True


def _or_default(generation: int | None) -> int:
    return NO_GENERATION if generation is None else generation
