"""The assignor of share groups as it was in 4.1: a partition for each member by its hash, the rest in turns.

Source: SimpleAssignor (4.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle

from transforms.coordinator.assignors.server.simple import TopicPartition, partition_hash, partitions_to_share
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec
from transforms.coordinator.assignors.subscriptions import NoAssignment
from transforms.coordinator.kafka.java_collections import computed_order, grown_capacity, table_order
from transforms.coordinator.kafka.java_hashing import string_hash

Given = dict[str, dict[TopicPartition, None]]
"""Partitions by member id."""


def assign_by_hash(group: GroupSpec) -> Assigned:
    """Give each member the partition that its id's hash points to; keep what else it has, and share out the rest."""
    if not group.members or (group.is_homogeneous and not group.members[0].topics):
        return {}
    given = _homogeneous(group) if group.is_homogeneous else _heterogeneous(group)
    assigned: Assigned = {member.member_id: {} for member in group.members}
    for member_id, keys in given.items():
        for topic, number in sorted(keys):
            assigned[member_id].setdefault(topic, []).append(number)
    return assigned


def _homogeneous(group: GroupSpec) -> Given:
    """Members keep what no hash points to, up to their share, and take in turns what is left, up to one more."""
    topics = group.members[0].topics
    targets = partitions_to_share(group, topics)
    share = -(-len(targets) // len(group.members))
    given: Given = {member.member_id: {} for member in group.members}
    hashed = {key for member_id in given for key in _hashed(member_id, targets)}
    for member_id, keys in given.items():
        keys |= dict.fromkeys(_hashed(member_id, targets))
    taken = set(hashed)
    for key, holders in _holders(group).items():
        if key[0] in topics and key not in hashed:
            for member_id in holders:
                if len(given[member_id]) < share:
                    given[member_id][key] = None
                    taken.add(key)
    _go_round(given, [key for key in targets if key not in taken], share)
    return given


def _go_round(given: Given, left: Sequence[TopicPartition], share: int) -> None:
    """Go through the partitions and round and round through the members; one that has more than its share drops out."""
    members = list(given)
    at = 0
    for key in left:
        while True:
            if at >= len(members):
                at = 0
                if not members:
                    raise NoAssignment("all members have more than their share")
            mine = given[members[at]]
            if len(mine) <= share:
                mine[key] = None
                at += 1
                break
            del members[at]


def _heterogeneous(group: GroupSpec) -> Given:
    """Likewise by what each subscribes to; nobody's share is looked at, and what anybody has is not shared out."""
    of_members = _subscriptions(group)
    subscribers: dict[str, dict[str, None]] = {}
    for member_id, keys in of_members.items():
        for topic, _ in keys:
            subscribers.setdefault(topic, {})[member_id] = None
    given: Given = {member.member_id: {} for member in group.members}
    for member_id, keys in of_members.items():
        given[member_id] |= dict.fromkeys(_hashed(member_id, keys))
    taken, holders = {key for keys in given.values() for key in keys}, _holders(group)
    left: dict[str, dict[TopicPartition, None]] = {}
    for key in (key for keys in of_members.values() for key in keys if key not in taken and key not in holders):
        left.setdefault(key[0], {})[key] = None
    for topic, of_topic in left.items():
        for key, member_id in zip(of_topic, cycle(subscribers[topic]), strict=False):
            given[member_id][key] = None
            taken.add(key)
    for key, of_key in holders.items():
        for member_id in of_key if key not in taken else ():
            if member_id in subscribers.get(key[0], ()):
                given[member_id][key] = None
    return given


def _subscriptions(group: GroupSpec) -> dict[str, list[TopicPartition]]:
    """Return what may be given to each member that subscribes to anything, in the order of Kafka's map of them."""
    topics = {member.member_id: member.topics for member in group.members if member.topics}
    in_order = table_order(topics, string_hash, grown_capacity(len(topics)))
    return {member_id: partitions_to_share(group, topics[member_id]) for member_id in in_order}


def _hashed(member_id: str, targets: Sequence[TopicPartition]) -> Iterator[TopicPartition]:
    """Yield the partition that the hash of a member's id points to, if there are any."""
    if targets:
        value = string_hash(member_id)
        yield targets[abs(value - (1 << 32) if value >> 31 else value) % len(targets)]


def _holders(group: GroupSpec) -> Mapping[TopicPartition, Iterable[str]]:
    """Return who has what, in the order of the map that Kafka makes of it."""
    held = [
        ((topic, number), member.member_id)
        for member in group.members
        for topic, numbers in member.target.items()
        for number in numbers
    ]
    holders: dict[TopicPartition, list[str]] = {}
    for key, member_id in held:
        holders.setdefault(key, []).append(member_id)
    return {key: holders[key] for key in computed_order((key for key, _ in held), partition_hash, 16)}
