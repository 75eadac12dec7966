"""The uniform assignor where subscriptions differ, up to 3.9: partition by partition, until no move evens out more.

It may fail: a partition that moves twice is taken for a mistake (`NoAssignment`), so that the group keeps its targets.

Source: UniformHeterogeneousAssignmentBuilder (3.8, 3.9), GeneralUniformAssignmentBuilder (3.7), the latter without what
it does where racks of members and replicas meet.
"""

from __future__ import annotations

from collections.abc import Iterable

from transforms.coordinator.assignors.server.early_movements import Movements, TopicPartition, early_partition_hash
from transforms.coordinator.assignors.server.early_ranking import Ranking
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec
from transforms.coordinator.assignors.subscriptions import NoAssignment, NotPredicted
from transforms.coordinator.kafka.java_collections import (
    copied_capacity,
    grown_capacity,
    table_order,
    uuid_map_order,
)

MOST_LOOKS = 300_000
"""So many times it is looked whether a move would even out more; large groups would take long."""


def assign_one_by_one(group: GroupSpec) -> Assigned:
    """Share partitions out among those that subscribe to them (3.8, 3.9).

    Raises:
        NoAssignment: Kafka's own fails.
        NotPredicted: it would take too long.
    """
    run = _Run(group)
    return run.run(run.in_set) if run.in_set else {}


def assign_one_by_one_in_3_7(group: GroupSpec) -> Assigned:
    """Do likewise by a set of another size, and fail where a member subscribes to no topic that there is."""
    run = _Run(group)
    if run.in_set and not all(member.topics for member in group.members):
        raise NoAssignment("a member has no entry")
    copied = table_order(run.in_set, early_partition_hash, copied_capacity(len(run.in_set), 16))
    return run.run(copied) if copied else {}


class _Run:
    """One run: who has what, how many each member has, and in which order members are given more.

    Attributes:
        in_set: all partitions, in the order of the set that is made of them.
    """

    def __init__(self, group: GroupSpec) -> None:
        self._group = group
        self._counts = counts = group.partition_counts
        self._topics = {member.member_id: set(member.topics) for member in group.members}
        self._subscribers: dict[str, list[str]] = {}
        for member in group.members:
            for topic in member.topics:
                self._subscribers.setdefault(topic, []).append(member.member_id)
        in_order = [
            (topic, number) for topic in uuid_map_order([*self._subscribers]) for number in range(counts[topic])
        ]
        self.in_set = table_order(in_order, early_partition_hash, grown_capacity(len(in_order)))
        self._assigned: dict[str, dict[str, dict[int, None]]] = {member.member_id: {} for member in group.members}
        self._owners: dict[TopicPartition, str] = {}
        self._ranking = Ranking({name: sum(counts[topic] for topic in topics) for name, topics in self._topics.items()})
        self._movements = Movements()
        self._free: dict[TopicPartition, None] = {}
        self._looks = 0

    def run(self, partitions: list[TopicPartition]) -> Assigned:
        """Keep what is subscribed to, hand out what is free to whoever has least, then balance.

        Args:
            partitions: all of them, in the order of the set of those that are free.
        """
        self._free = dict.fromkeys(partitions)
        for member in self._group.members:
            for topic, numbers in member.target.items():
                if topic in self._topics[member.member_id]:
                    for number in numbers:
                        self._give((topic, number), member.member_id)
        for partition in self._in_turn(self._free):
            taker = self._ranking.first_of(self._subscribers[partition[0]])
            if taker is None:
                raise NoAssignment("partitions were left over")
            self._give(partition, taker)
        self._balance(partitions)
        return {
            name: {topic: list(numbers) for topic, numbers in topics.items()} for name, topics in self._assigned.items()
        }

    def _in_turn(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Sort by partitions per subscriber, most first; then by subscribers, fewest first; then by number."""
        counts, subscribers = self._counts, self._subscribers
        return sorted(
            partitions,
            key=lambda key: (-(counts[key[0]] / len(subscribers[key[0]])), len(subscribers[key[0]]), key[1]),
        )

    # --- balancing ---------------------------------------------------------------------------------------------------

    def _balance(self, partitions: list[TopicPartition]) -> None:
        self._free = {key: None for key in partitions if len(self._subscribers[key[0]]) >= 2}
        for name, topics in self._assigned.items():
            if self._ranking.is_full(name) and not any(len(self._subscribers[topic]) >= 2 for topic in topics):
                self._ranking.leave_out(name)
        has_moved = bool(self._free)
        while has_moved:
            has_moved = is_moved = False
            for partition in self._in_turn(self._free):
                if is_moved and self._is_balanced():
                    return
                owner, size_of = self._owners[partition], self._ranking.size_of
                others = self._subscribers[partition[0]]
                self._look(len(others))
                is_moved = any(size_of(owner) > size_of(other) + 1 for other in others)
                if is_moved:
                    self._move(partition, owner)
                    has_moved = True

    def _move(self, partition: TopicPartition, owner: str) -> None:
        """Move a partition to whoever has least, or in its place one that had gone the opposite way."""
        taker = next((name for name in self._ranking.in_order() if partition[0] in self._topics[name]), None)
        if taker is None:
            raise NoAssignment("nobody can take it")
        moved = self._movements.instead_of(partition, owner, taker)
        giver = self._owners[moved]
        self._movements.move(moved, giver, taker)
        topic, number = moved
        numbers = self._assigned[giver].get(topic, {})
        numbers.pop(number, None)
        if not numbers:
            self._assigned[giver].pop(topic, None)
        del self._owners[moved]
        self._ranking.take_from(giver)
        self._give(moved, taker)

    def _is_balanced(self) -> bool:
        """Whether the least and the most loaded of those that can have more are one apart, or no move helps any."""
        size_of, in_order = self._ranking.size_of, self._ranking.in_order()
        if not in_order:
            raise NoAssignment("nobody can have more")
        if size_of(in_order[0]) >= size_of(in_order[-1]) - 1:
            return True
        for name in in_order:
            for topic in self._topics[name]:
                mine = self._assigned[name].get(topic, {})
                self._look(self._counts[topic])
                for number in range(self._counts[topic]):
                    if number not in mine and size_of(name) + 1 < size_of(self._owners[topic, number]):
                        return False
        return True

    def _look(self, count: int) -> None:
        self._looks += count
        if self._looks > MOST_LOOKS:
            raise NotPredicted("too large")

    def _give(self, partition: TopicPartition, member_id: str) -> None:
        topic, number = partition
        self._assigned[member_id].setdefault(topic, {})[number] = None
        self._owners[partition] = member_id
        self._ranking.give_to(member_id)
        self._free.pop(partition, None)
