"""The range assignor of the broker as it was at first: runs of what nobody keeps, to members that keep what they had.

Source: RangeAssignor of the group coordinator (3.7, 3.8).
"""

from __future__ import annotations

from collections.abc import Sequence

from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec, MemberSpec


def assign_sticky_ranges(group: GroupSpec) -> Assigned:
    """Give each member its share of each topic: the lowest numbers that it had, then what is free, in order."""
    assigned: Assigned = {member.member_id: {} for member in group.members}
    for topic, subscribers in _subscribers(group).items():
        for member_id, numbers in _share_out(topic, group.partition_counts[topic], subscribers).items():
            if numbers:
                assigned[member_id][topic] = numbers
    return assigned


def _subscribers(group: GroupSpec) -> dict[str, Sequence[MemberSpec]]:
    """Return who subscribes to each topic; in a homogeneous group everybody, to what the first subscribes to."""
    if group.is_homogeneous:
        return dict.fromkeys(group.members[0].topics, group.members) if group.members else {}
    found: dict[str, list[MemberSpec]] = {}
    for member in group.members:
        for topic in member.topics:
            found.setdefault(topic, []).append(member)
    return {**found}


def _share_out(topic: str, count: int, members: Sequence[MemberSpec]) -> dict[str, list[int]]:
    """Share one topic out: who comes first and has more than its share keeps one of those that are over."""
    share, extras = divmod(count, len(members))
    shares: dict[str, list[int]] = {}
    missing: dict[str, int] = {}
    for member in members:
        had = sorted(member.target.get(topic, ()))
        has_extra = len(had) > share and extras > 0
        extras -= has_extra
        shares[member.member_id] = had[: share + has_extra]
        if not has_extra:
            missing[member.member_id] = share - len(had)
    kept = {number for numbers in shares.values() for number in numbers}
    free = [number for number in range(count) if number not in kept]
    for member_id, room in missing.items():
        has_extra = extras > 0
        extras -= has_extra
        size = max(room + has_extra, 0)
        shares[member_id] += free[:size]
        free = free[size:]
    return shares
