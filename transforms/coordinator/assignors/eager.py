"""RangeAssignor and RoundRobinAssignor: results of the sorted members and topics alone, without a memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from transforms.coordinator.assignors.subscriptions import (
    Assignment,
    Subscriptions,
    TopicPartition,
    all_partitions,
    known_counts,
    members_in_order,
)

Wishes = tuple[tuple[str, ...], ...]
"""What each member subscribes to, in the order of the members."""

Counts = tuple[tuple[str, int], ...]
"""Partitions by topic, in the order of the topics."""

Deal = list[list[TopicPartition]]
"""What each member gets, in the order of the members."""


def assign_range(subscriptions: Subscriptions, partition_counts: Mapping[str, int]) -> Assignment:
    """Give each member a run of each of its topics; the first members get one more where it does not come out even.

    Members with equal subscriptions so get the same partition numbers of topics with equal counts (co-partitioning).
    The partitions of a member are in the order of topic and number; Kafka's list follows a HashMap of topics.

    Source: RangeAssignor; its releases agree with each other wherever racks play no part (KIP-881, 3.5).
    """
    return _assign(subscriptions, partition_counts, _deal_in_runs)


def assign_roundrobin(subscriptions: Subscriptions, partition_counts: Mapping[str, int]) -> Assignment:
    """Deal all partitions out in turn, past members that do not subscribe to the topic.

    Source: RoundRobinAssignor.
    """
    return _assign(subscriptions, partition_counts, _deal_in_turn)


def _assign(
    subscriptions: Subscriptions, partition_counts: Mapping[str, int], deal: Callable[[Wishes, Counts], Deal]
) -> Assignment:
    ordered = members_in_order(subscriptions)
    counts = known_counts(subscriptions, partition_counts)
    dealt = deal(tuple([subscriptions[member_id].topics for member_id in ordered]), tuple(counts.items()))
    return {member_id: [*partitions] for member_id, partitions in zip(ordered, dealt, strict=True)}


@lru_cache(maxsize=64)  # whoever comes and goes, a group has the same few sizes
def _deal_in_runs(wishes: Wishes, counts: Counts) -> Deal:
    dealt: Deal = [[] for _ in wishes]
    wanted = [*map(set, wishes)]
    for topic, count in counts:
        shares = [share for share, topics in zip(dealt, wanted, strict=True) if topic in topics]
        each, extra = divmod(count, len(shares))
        start = 0
        for index, share in enumerate(shares):
            end = start + each + (index < extra)
            share.extend((topic, partition) for partition in range(start, end))
            start = end
    return dealt


@lru_cache(maxsize=64)
def _deal_in_turn(wishes: Wishes, counts: Counts) -> Deal:
    dealt: Deal = [[] for _ in wishes]
    wanted = [*map(set, wishes)]
    turn = 0
    for topic, partition in all_partitions([topic for topic, _ in counts], dict(counts)):
        while topic not in wanted[turn]:
            turn = (turn + 1) % len(wanted)
        dealt[turn].append((topic, partition))
        turn = (turn + 1) % len(wanted)
    return dealt
