"""Which assignor a generation's leader used, by what it sent."""

from __future__ import annotations

from functools import lru_cache

from transforms.coordinator.assignors.classify import classify, shown_counts
from transforms.coordinator.assignors.subscriptions import MemberSubscription, TopicPartition, of_wire
from transforms.coordinator.timeline.facts import GenerationFacts, value_of
from transforms.wire.consumer_protocol import read_subscription

MOST_PARTITIONS = 5_000
"""Assignments beyond this many partitions are not worked out anew: sticky assignors take long over large groups."""


def assignor_of(row: GenerationFacts) -> str | None:
    """Return the assignor whose result a generation's assignment equals, or "custom".

    None where subscriptions or assignments are not known, where the group does not speak the consumer protocol, and
    where there are too many partitions.
    """
    members = row.first_members
    if value_of(row.protocol_type) != "consumer" or not members:
        return None
    shares, partition_count = [], 0
    for member_id, member in members.items():
        if member.assigned is None or member.subscription is None:
            return None
        partition_count += len(member.assigned)
        shares.append((member_id, member.group_instance_id, member.subscription, member.assigned))
    elected = value_of(row.protocol)
    return None if partition_count > MOST_PARTITIONS else _assignor(tuple(shares), elected)


Share = tuple[str, str | None, bytes, tuple[TopicPartition, ...]]
"""A member: its id, its instance, what it subscribed with, what it got."""


@lru_cache(maxsize=256)  # a group that shares out over and over does it mostly alike
def _assignor(shares: tuple[Share, ...], elected: str | None) -> str:
    sent = {member_id: assigned for member_id, _, _, assigned in shares}
    subscriptions = {member_id: _subscription(raw, instance_id) for member_id, instance_id, raw, _ in shares}
    return classify(subscriptions, shown_counts(subscriptions, sent), sent, elected)


@lru_cache(maxsize=4096)
def _subscription(raw: bytes, group_instance_id: str | None) -> MemberSubscription:
    return of_wire(read_subscription(raw), group_instance_id)
