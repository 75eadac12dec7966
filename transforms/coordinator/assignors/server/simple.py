"""The assignor of share groups: each partition to as many members as it takes that all have about equally much to do.

Source: SimpleAssignor, SimpleHomogeneousAssignmentBuilder and SimpleHeterogeneousAssignmentBuilder (4.1, 4.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil

from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec
from transforms.coordinator.kafka.java_collections import (
    computed_order,
    grown_capacity,
    sized_capacity,
    table_order,
    uuid_hash,
)

TopicPartition = tuple[str, int]

_MASK = 0xFFFFFFFF


def assign_simple(group: GroupSpec) -> Assigned:
    """Share the partitions out, and let members keep what they have as far as that is even.

    A topic of which a member loses all partitions stays in its assignment without any, as it does in Kafka.
    """
    held = [
        {(topic, partition): None for topic, partitions in member.target.items() for partition in partitions}
        for member in group.members
    ]
    everybody = range(len(group.members))
    if group.is_homogeneous:
        topics = group.members[0].topics
        if not topics:
            return {}
        mine = [[key for key in keys if key[0] in topics] for keys in held]
        run = _Run(mine, everybody, partitions_to_share(group, topics), partition_hash)
        return _assigned(group, run.run())
    if not any(member.topics for member in group.members):
        return {}
    return _assigned(group, _by_topic(group, held))


def _by_topic(group: GroupSpec, held: Sequence[Iterable[TopicPartition]]) -> list[list[TopicPartition]]:
    """Share out topic by topic; what somebody has of a topic to which nobody subscribes stays as it is."""
    subscribers: dict[str, list[int]] = {}
    for index, member in enumerate(group.members):
        for topic in member.topics:
            subscribers.setdefault(topic, []).append(index)
    kept = [[key for key in keys if key[0] not in subscribers] for keys in held]
    for topic, members in subscribers.items():
        mine = [[key for key in keys if key[0] == topic] for keys in held]
        shared = _Run(mine, members, partitions_to_share(group, [topic]), _number).run()
        for keys, more in zip(kept, shared, strict=True):
            keys += more
    return kept


def partitions_to_share(group: GroupSpec, topics: Iterable[str]) -> list[TopicPartition]:
    """Return the partitions of topics that may be assigned, in order."""
    return [
        (topic, number)
        for topic in topics
        for number in range(group.partition_counts[topic])
        if group.assignable is None or number in group.assignable.get(topic, ())
    ]


def _assigned(group: GroupSpec, held: Sequence[Iterable[TopicPartition]]) -> Assigned:
    assigned: Assigned = {}
    for member, keys in zip(group.members, held, strict=True):
        stay = [topic for topic in member.target if not group.is_homogeneous or topic in group.members[0].topics]
        mine = assigned.setdefault(member.member_id, {topic: [] for topic in stay})
        for topic, number in sorted(keys):
            mine.setdefault(topic, []).append(number)
    return assigned


def partition_hash(key: TopicPartition) -> int:
    """Return the hash of a TopicIdPartition."""
    return (31 * uuid_hash(key[0]) + key[1]) & _MASK


def _number(key: TopicPartition) -> int:
    return key[1]


class _Run:
    """One run over some partitions; members go by their index.

    Args:
        held: what each member has of them.
        subscribers: members that may be given any.
        targets: the partitions to be shared out; members may have others, too.
        hash_of: hash by which Kafka's sets of partitions are in order.
    """

    def __init__(
        self,
        held: Sequence[Sequence[TopicPartition]],
        subscribers: Sequence[int],
        targets: Sequence[TopicPartition],
        hash_of: Callable[[TopicPartition], int],
    ) -> None:
        self._held = [dict.fromkeys(keys) for keys in held]
        self._targets, self._hash_of = targets, hash_of
        self._holders: dict[TopicPartition, dict[int, None]] = {}
        for index, keys in enumerate(held):
            for key in keys:
                self._holders.setdefault(key, {})[index] = None
        self._sharing = -(-len(subscribers) // len(targets)) if targets else 0
        share = self._sharing * len(targets) / len(subscribers)
        self._quotas = [0] * len(held)
        for place, index in enumerate(subscribers):
            self._quotas[index] = ceil(share * (place + 1)) - ceil(share * place)

    def run(self) -> list[list[TopicPartition]]:
        """Take from members that have too much and from partitions that are shared too widely; then fill up."""
        most = {key: len(holders) for key, holders in self._holders.items()}  # a set in Java never shrinks
        for index, keys in enumerate(self._held):
            surplus = max(len(keys) - self._quotas[index], 0)
            for key in table_order(keys, self._hash_of, grown_capacity(len(keys)))[:surplus]:
                self._take(key, index)
        for key, holders in self._holders.items():
            surplus = max(len(holders) - self._sharing, 0)
            for index in table_order(holders, int, grown_capacity(most[key]))[:surplus]:
                self._take(key, index)
        self._fill()
        return [list(keys) for keys in self._held]

    def _take(self, key: TopicPartition, index: int) -> None:
        del self._held[index][key]
        del self._holders[key][index]

    def _fill(self) -> None:
        """Go once through the partitions and round and round through the members that have room."""
        capacity = sized_capacity(len(self._targets))
        for key in self._targets:
            self._holders.setdefault(key, {})
        ring = _Ring([index for index, keys in enumerate(self._held) if len(keys) < self._quotas[index]])
        for key in computed_order(self._holders, self._hash_of, capacity):
            holders = self._holders[key]
            while len(holders) < self._sharing and (index := ring.next()) is not None:
                if index not in holders:
                    self._held[index][key] = holders[index] = None
                    ring.took(is_full=len(self._held[index]) >= self._quotas[index])


class _Ring:
    """Members that have room, gone through in rounds; a round in which nobody took anything is the last."""

    def __init__(self, members: list[int]) -> None:
        self._members = members
        self._next = 0
        self._has_taken = False

    def next(self) -> int | None:
        """Return the next member; None if there is none any more."""
        if self._next >= len(self._members):
            if not self._has_taken or not self._members:
                return None
            self._next, self._has_taken = 0, False
        self._next += 1
        return self._members[self._next - 1]

    def took(self, is_full: bool) -> None:
        """Note that the member just returned took a partition; one that is full leaves the ring."""
        self._has_taken = True
        if is_full:
            self._next -= 1
            del self._members[self._next]
