"""RangeAssignor and RoundRobinAssignor: results of the sorted members and topics alone, without a memory."""

from __future__ import annotations

from collections.abc import Mapping

from transforms.coordinator.assignors.subscriptions import (
    Assignment,
    Subscriptions,
    all_partitions,
    known_counts,
    members_in_order,
)


def assign_range(subscriptions: Subscriptions, partition_counts: Mapping[str, int]) -> Assignment:
    """Give each member a run of each of its topics; the first members get one more where it does not come out even.

    Members with equal subscriptions so get the same partition numbers of topics with equal counts (co-partitioning).
    The partitions of a member are in the order of topic and number; Kafka's list follows a HashMap of topics.

    Source: RangeAssignor; its releases agree with each other wherever racks play no part (KIP-881, 3.5).
    """
    assignment: Assignment = {member_id: [] for member_id in subscriptions}
    ordered = members_in_order(subscriptions)
    topics = {member_id: set(subscriptions[member_id].topics) for member_id in ordered}
    for topic, count in known_counts(subscriptions, partition_counts).items():
        subscribers = [member_id for member_id in ordered if topic in topics[member_id]]
        each, extra = divmod(count, len(subscribers))
        start = 0
        for index, member_id in enumerate(subscribers):
            end = start + each + (index < extra)
            assignment[member_id].extend((topic, partition) for partition in range(start, end))
            start = end
    return assignment


def assign_roundrobin(subscriptions: Subscriptions, partition_counts: Mapping[str, int]) -> Assignment:
    """Deal all partitions out in turn, past members that do not subscribe to the topic.

    Source: RoundRobinAssignor.
    """
    assignment: Assignment = {member_id: [] for member_id in subscriptions}
    ordered = members_in_order(subscriptions)
    topics = [set(subscriptions[member_id].topics) for member_id in ordered]
    counts = known_counts(subscriptions, partition_counts)
    turn = 0
    for topic, partition in all_partitions(counts, counts):
        while topic not in topics[turn]:
            turn = (turn + 1) % len(ordered)
        assignment[ordered[turn]].append((topic, partition))
        turn = (turn + 1) % len(ordered)
    return assignment
