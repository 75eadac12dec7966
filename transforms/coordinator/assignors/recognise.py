"""Which assignor a generation's leader used, by what it sent."""

from __future__ import annotations

from functools import lru_cache

from transforms.coordinator.assignors.classify import classify, shown_counts
from transforms.coordinator.assignors.subscriptions import MemberSubscription, of_wire
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
    sent = {member_id: member.assigned for member_id, member in members.items() if member.assigned is not None}
    known = {key: member for key, member in members.items() if member.subscription is not None}
    if len(sent) < len(members) or len(known) < len(members) or sum(map(len, sent.values())) > MOST_PARTITIONS:
        return None
    subscriptions = {
        key: _subscription(member.subscription or b"", member.group_instance_id) for key, member in known.items()
    }
    return classify(subscriptions, shown_counts(subscriptions, sent), sent, value_of(row.protocol))


@lru_cache(maxsize=4096)
def _subscription(raw: bytes, group_instance_id: str | None) -> MemberSubscription:
    return of_wire(read_subscription(raw), group_instance_id)
