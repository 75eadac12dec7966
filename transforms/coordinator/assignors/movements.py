"""Which partitions the general sticky algorithm has moved so far, so that it swaps none of a topic back and forth.

Source: AbstractStickyAssignor.PartitionMovements.
"""

from __future__ import annotations

from transforms.coordinator.assignors.subscriptions import TopicPartition
from transforms.coordinator.kafka.java_hashing import string_hash

_MASK = 0xFFFFFFFF
Move = tuple[str, str]
"""From a member, to a member."""


class HashedPartitions:
    """A `java.util.HashSet` of partitions, of which only the first in iteration order is asked for."""

    def __init__(self) -> None:
        self._items: dict[TopicPartition, int] = {}
        self._table = 16

    def __bool__(self) -> bool:
        return bool(self._items)

    def add(self, partition: TopicPartition) -> None:
        """Add one; the table grows and, as in Java, never shrinks."""
        topic, number = partition
        value = (31 * (31 + number) + string_hash(topic)) & _MASK  # TopicPartition.hashCode
        self._items[partition] = value ^ (value >> 16)
        while len(self._items) > self._table * 3 // 4:
            self._table *= 2

    def remove(self, partition: TopicPartition) -> None:
        """Take one out."""
        del self._items[partition]

    def first(self) -> TopicPartition:
        """Return the one in the lowest bucket, there the oldest."""
        return min(self._items, key=lambda partition: self._items[partition] & (self._table - 1))


class Movements:
    """Moves by partition, and the partitions by topic and move."""

    def __init__(self) -> None:
        self._moves: dict[TopicPartition, Move] = {}
        self._by_topic: dict[str, dict[Move, HashedPartitions]] = {}

    def record(self, partition: TopicPartition, old: str, new: str) -> None:
        """Note a move; a partition that moves on counts as moved from where it was first, one that comes home not."""
        if partition not in self._moves:
            self._add(partition, (old, new))
            return
        source, _ = self._remove(partition)
        if source != new:
            self._add(partition, (source, new))

    def partition_to_move(self, partition: TopicPartition, old: str, new: str) -> TopicPartition:
        """Return the partition of the topic that moves from `old` to `new`: rather one that went the other way."""
        by_move = self._by_topic.get(partition[0])
        if by_move is None:
            return partition
        source = self._moves[partition][0] if partition in self._moves else old
        reverse = by_move.get((new, source))
        return reverse.first() if reverse else partition

    def _add(self, partition: TopicPartition, move: Move) -> None:
        self._moves[partition] = move
        self._by_topic.setdefault(partition[0], {}).setdefault(move, HashedPartitions()).add(partition)

    def _remove(self, partition: TopicPartition) -> Move:
        move = self._moves.pop(partition)
        by_move = self._by_topic[partition[0]]
        by_move[move].remove(partition)
        if not by_move[move]:
            del by_move[move]
        if not by_move:
            del self._by_topic[partition[0]]
        return move
