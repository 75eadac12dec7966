"""The range assignor of the broker: a run of each topic for each subscriber, without a memory.

Source: RangeAssignor of the group coordinator (3.9 to 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence

from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec, MemberSpec
from transforms.coordinator.assignors.subscriptions import java_text_order


def assign_ranges(group: GroupSpec) -> Assigned:
    """Give each member a run of each topic; the first subscribers get one more where it does not come out even."""
    members = sorted(group.members, key=_by_instance_then_id)
    subscriptions = [_topics(group, members, member) for member in members]
    subscribers: dict[str, int] = {}
    for topics in subscriptions:
        for topic in topics:
            subscribers[topic] = subscribers.get(topic, 0) + 1
    next_start = dict.fromkeys(subscribers, 0)
    extras = {topic: group.partition_counts[topic] % count for topic, count in subscribers.items()}
    assigned: Assigned = {}
    for member, topics in zip(members, subscriptions, strict=True):
        mine = assigned.setdefault(member.member_id, {})
        for topic in topics:
            size = group.partition_counts[topic] // subscribers[topic]
            if extras[topic] > 0:
                size, extras[topic] = size + 1, extras[topic] - 1
            start = next_start[topic]
            next_start[topic] = end = min(start + size, group.partition_counts[topic])
            if start < end:
                mine[topic] = list(range(start, end))
    return assigned


def _topics(group: GroupSpec, members: Sequence[MemberSpec], member: MemberSpec) -> Sequence[str]:
    """What a member is taken to subscribe to: in a homogeneous group, the same as the first."""
    return members[0].topics if group.is_homogeneous else member.topics


def _by_instance_then_id(member: MemberSpec) -> tuple[bool, bytes]:
    """Static members by their instance id, before the dynamic ones by their member id."""
    is_dynamic = member.instance_id is None
    return is_dynamic, java_text_order(member.member_id if member.instance_id is None else member.instance_id)
