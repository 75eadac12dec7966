"""Sticky assignment where subscriptions differ: keep what is valid, hand out the rest, then move until it is balanced.

Source: AbstractStickyAssignor.GeneralAssignmentBuilder, without racks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from transforms.coordinator.assignors.claims import Claims, previous_owners
from transforms.coordinator.assignors.loads import Loads
from transforms.coordinator.assignors.movements import Movements
from transforms.coordinator.assignors.subscriptions import (
    Assignment,
    NoAssignment,
    NotPredicted,
    Subscriptions,
    TopicPartition,
    all_partitions,
)

_MOVES_PER_PARTITION = 20
"""Where the balancing goes round in circles Kafka's leader hangs; here it ends after so many moves a partition."""


class General:
    """One run of the algorithm."""

    def __init__(self, subscriptions: Subscriptions, claims: Claims, counts: Mapping[str, int]) -> None:
        self._counts = counts
        self._topics = {
            member_id: {topic for topic in subscriptions[member_id].topics if topic in counts}
            for member_id in claims.members
        }
        self._consumers: dict[str, list[str]] = {topic: [] for topic in counts}
        for member_id in claims.members:
            for topic in self._topics[member_id]:
                self._consumers[topic].append(member_id)
        self._previous = previous_owners(claims)
        self._is_revoking = False
        self._holdings: Assignment = {member_id: self._kept(claims, member_id) for member_id in claims.members}
        self._owner = {partition: member_id for member_id, mine in self._holdings.items() for partition in mine}
        self._loads = Loads(self._holdings)
        self._movements = Movements()
        self._balanced: bool | None = None
        self._moves_left = _MOVES_PER_PARTITION * sum(counts.values())

    def run(self) -> Assignment:
        """Assign.

        Raises:
            NoAssignment: Kafka's assignor throws.
        NotPredicted: a member owns a partition that is gone, which leads Kafka to assign others twice, or the
            balancing does not come to an end.
        """
        by_fewest_consumers = sorted(self._consumers, key=lambda topic: (len(self._consumers[topic]), topic))
        partitions = all_partitions(by_fewest_consumers, self._counts)
        unassigned = [partition for partition in partitions if partition not in self._owner]
        is_initializing = self._loads.largest() == 0
        for partition in unassigned:
            self._hand_out(partition)
        fixed = self._set_fixed_aside()
        before = {member_id: list(mine) for member_id, mine in self._holdings.items()}
        if not self._is_revoking:
            self._move(self._movable(unassigned))
        has_moved = self._move(self._movable(partitions))
        if not is_initializing and has_moved and _imbalance(self._holdings) >= _imbalance(before):
            self._holdings = before
        return {**self._holdings, **fixed}

    def _kept(self, claims: Claims, member_id: str) -> list[TopicPartition]:
        """What a member still subscribes to of what it owned; giving up the rest is what makes it a revocation."""
        owned = claims.owned[member_id]
        if any(partition >= self._counts[topic] for topic, partition in owned):
            raise NotPredicted("a member owns a partition that does not exist")
        kept = [partition for partition in owned if partition[0] in self._topics[member_id]]
        self._is_revoking |= len(kept) < len(owned)
        return kept

    def _hand_out(self, partition: TopicPartition) -> None:
        member_id = self._least_loaded(partition[0])
        self._loads.remove(member_id)
        self._holdings[member_id].append(partition)
        self._loads.add(member_id)
        self._owner[partition] = member_id

    def _least_loaded(self, topic: str) -> str:
        return next(member_id for member_id in self._loads if topic in self._topics[member_id])

    def _set_fixed_aside(self) -> Assignment:
        """Take out the members that hold all they can, none of which anyone else can take."""
        fixed = [member_id for member_id in self._holdings if not self._can_take_part(member_id)]
        for member_id in fixed:
            self._loads.remove(member_id)
        return {member_id: self._holdings.pop(member_id) for member_id in fixed}

    def _can_take_part(self, member_id: str) -> bool:
        mine = self._holdings[member_id]
        return len(mine) < self._most(member_id) or bool(self._movable(mine))

    def _most(self, member_id: str) -> int:
        return sum(self._counts[topic] for topic in self._topics[member_id])

    def _movable(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        return [partition for partition in partitions if len(self._consumers[partition[0]]) >= 2]

    def _is_balanced(self) -> bool:
        """Tell whether it is, working it out anew only after a move."""
        if self._balanced is None:
            self._balanced = self._find_balance()
        return self._balanced

    def _find_balance(self) -> bool:
        """Tell whether no member could take a partition from one that holds two or more than it does.

        As in Kafka, a member with as many as it can get counts as one that has them all, even if one of them came
        home to it from a topic that it no longer subscribes to.
        """
        if self._loads.smallest() >= self._loads.largest() - 1:
            return True
        largest_of_topic: dict[str, int] = {}
        for mine in self._holdings.values():
            for topic in {topic for topic, _ in mine}:
                largest_of_topic[topic] = max(largest_of_topic.get(topic, 0), len(mine))
        return not any(
            largest_of_topic.get(topic, 0) > len(mine) + 1
            for member_id, mine in self._holdings.items()
            if len(mine) != self._most(member_id)
            for topic in self._topics[member_id]
        )

    def _move(self, partitions: list[TopicPartition]) -> bool:
        """Go over the partitions again and again until none moves any more; tell whether one did."""
        has_moved = False
        is_moving = True
        while is_moving:
            is_moving = False
            for partition in partitions:
                if self._is_balanced():
                    break
                is_moving |= self._improve(partition)
            has_moved |= is_moving
        return has_moved

    def _improve(self, partition: TopicPartition) -> bool:
        """Move a partition where that evens out two members: home to its previous owner, else to the least loaded."""
        size = len(self._holdings[self._owner[partition]])
        previous = self._previous.get(partition)
        if previous is not None:
            if previous not in self._holdings:
                raise NoAssignment("the previous owner of a partition takes no part in the balancing")
            if size > len(self._holdings[previous]) + 1:
                self._reassign(partition, previous)
                return True
        if any(size > len(self._holdings[other]) + 1 for other in self._consumers[partition[0]]):
            self._reassign(partition, self._least_loaded(partition[0]))
            return True
        return False

    def _reassign(self, wanted: TopicPartition, new: str) -> None:
        if not self._moves_left:
            raise NotPredicted("the balancing goes round in circles")
        self._moves_left -= 1
        partition = self._movements.partition_to_move(wanted, self._owner[wanted], new)
        old = self._owner[partition]
        self._loads.remove(old)
        self._loads.remove(new)
        self._movements.record(partition, old, new)
        self._holdings[old].remove(partition)
        self._holdings[new].append(partition)
        self._owner[partition] = new
        self._balanced = None
        self._loads.add(new)
        self._loads.add(old)


def _imbalance(holdings: Assignment) -> int:
    """Sum the differences in size over all pairs of members (getBalanceScore)."""
    sizes = sorted(len(mine) for mine in holdings.values())
    return sum(size * (2 * index + 1 - len(sizes)) for index, size in enumerate(sizes))
