"""The uniform assignor where subscriptions differ: keep, hand out what is unassigned, then move what is uneven.

Source: UniformHeterogeneousAssignmentBuilder (4.0 to 4.2).
"""

from __future__ import annotations

from collections.abc import Iterable

from transforms.coordinator.assignors.server.balancer import Balancer
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec
from transforms.coordinator.kafka.java_collections import uuid_halves

_ROUNDS = 16
"""Most times that all topics are gone over to even them out."""

_NOBODY = -1


def assign_heterogeneous(group: GroupSpec) -> Assigned:
    """Share partitions out among those that subscribe to them."""
    return _Run(group).run()


class _Run:
    """One run; members go by their index."""

    def __init__(self, group: GroupSpec) -> None:
        self._group = group
        self._subscribers: dict[str, list[int]] = {}
        for index, member in enumerate(group.members):
            for topic in member.topics:
                self._subscribers.setdefault(topic, []).append(index)
        self._loads = [0] * len(group.members)
        self._owners = {topic: [_NOBODY] * group.partition_counts[topic] for topic in self._subscribers}

    def run(self) -> Assigned:
        """Assign; nothing at all if nobody subscribes to a topic that exists."""
        if not self._subscribers:
            return {}
        for index, member in enumerate(self._group.members):
            for topic, partitions in member.target.items():
                if topic in member.topics:
                    count = self._group.partition_counts[topic]
                    for partition in (number for number in partitions if number < count):
                        self._give(topic, partition, index)
        self._hand_out()
        self._balance()
        assigned: Assigned = {member.member_id: {} for member in self._group.members}
        for topic, owners in self._owners.items():
            for partition, owner in enumerate(owners):
                if owner != _NOBODY:
                    assigned[self._group.members[owner].member_id].setdefault(topic, []).append(partition)
        return assigned

    def _give(self, topic: str, partition: int, to: int) -> None:
        owner = self._owners[topic][partition]
        if owner != _NOBODY:
            self._loads[owner] -= 1
        self._owners[topic][partition] = to
        self._loads[to] += 1

    def _in_order(self, topics: Iterable[str]) -> list[str]:
        """Topics by partitions per subscriber, most first; then by subscribers, fewest first; then by id."""
        counts, subscribers = self._group.partition_counts, self._subscribers
        return sorted(
            topics,
            key=lambda topic: (
                -(counts[topic] / len(subscribers[topic])),
                len(subscribers[topic]),
                uuid_halves(topic),
            ),
        )

    def _hand_out(self) -> None:
        unassigned = {
            topic: [p for p, owner in enumerate(owners) if owner == _NOBODY] for topic, owners in self._owners.items()
        }
        for topic in self._in_order(topic for topic, partitions in unassigned.items() if partitions):
            balancer = Balancer(self._loads, self._subscribers[topic])
            for partition in unassigned[topic]:
                self._give(topic, partition, balancer.least_loaded())

    def _balance(self) -> None:
        """Go over the topics again and again, until a whole round has changed nothing."""
        topics = self._in_order(topic for topic, members in self._subscribers.items() if len(members) >= 2)
        last_changed: str | None = None
        for _ in range(_ROUNDS):
            for topic in topics:
                if topic == last_changed:
                    return
                if self._balance_topic(topic) or last_changed is None:
                    last_changed = topic

    def _balance_topic(self, topic: str) -> bool:
        """Move partitions from the most to the least loaded subscribers, the highest numbers first."""
        balancer = Balancer(self._loads, self._subscribers[topic])
        if balancer.imbalance <= 1:
            return False
        of_owner: dict[int, list[int]] = {}
        for partition, owner in enumerate(self._owners[topic]):
            of_owner.setdefault(owner, []).append(partition)
        has_moved = False
        while not balancer.is_balanced:
            giver = balancer.most_loaded()
            while giver is not None and not of_owner.get(giver):
                balancer.exclude_most_loaded()
                giver = balancer.most_loaded()
            if giver is None:
                break
            partition = of_owner[giver].pop()
            taker = balancer.least_loaded()
            if balancer.is_balanced:
                break
            self._give(topic, partition, taker)
            has_moved = True
        return has_moved
