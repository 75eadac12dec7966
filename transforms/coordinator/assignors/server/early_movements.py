"""Which partitions were moved from whom to whom while members were balanced, so that none goes to and fro.

Source: PartitionMovements of UniformHeterogeneousAssignmentBuilder (3.8, 3.9).
"""

from __future__ import annotations

from transforms.coordinator.assignors.subscriptions import NoAssignment
from transforms.coordinator.kafka.java_collections import grown_capacity, table_order, uuid_hash

TopicPartition = tuple[str, int]
Pair = tuple[str, str]
"""Who had a partition at first, and who has it now."""

_MASK = 0xFFFFFFFF


def early_partition_hash(key: TopicPartition) -> int:
    """Return the hash of a TopicIdPartition up to 3.9 (Objects.hash)."""
    return (31 * (31 + uuid_hash(key[0])) + key[1]) & _MASK


class _Moved:
    """The partitions of a topic that went from one member to another, in a set that never shrinks."""

    def __init__(self) -> None:
        self.partitions: dict[TopicPartition, None] = {}
        self._most = 0

    def add(self, partition: TopicPartition) -> None:
        """Add one."""
        self.partitions[partition] = None
        self._most = max(self._most, len(self.partitions))

    def first(self) -> TopicPartition:
        """Return the first one in the order of the set."""
        return table_order(self.partitions, early_partition_hash, grown_capacity(self._most))[0]


class Movements:
    """The movements of one run."""

    def __init__(self) -> None:
        self._by_partition: dict[TopicPartition, Pair] = {}
        self._by_topic: dict[str, dict[Pair, _Moved]] = {}

    def instead_of(self, partition: TopicPartition, owner: str, taker: str) -> TopicPartition:
        """Return the partition to move in place of one: of its topic, one that went from the taker to the owner."""
        of_topic = self._by_topic.get(partition[0])
        if not of_topic:
            return partition
        pair = self._by_partition.get(partition)
        if pair is not None:
            if pair[1] != owner:
                raise NoAssignment("it is not where it was moved to")
            owner = pair[0]
        back = of_topic.get((taker, owner))
        return partition if back is None else back.first()

    def move(self, partition: TopicPartition, giver: str, taker: str) -> None:
        """Take note of a move.

        Raises:
            NoAssignment: the giver had it by a move itself.
        """
        pair = self._by_partition.pop(partition, None)
        if pair is None:
            self._add(partition, (giver, taker))
            return
        of_topic = self._by_topic[partition[0]]
        del of_topic[pair].partitions[partition]
        if not of_topic[pair].partitions:
            del of_topic[pair]
        if pair[1] == giver:
            raise NoAssignment("it would move twice")
        if pair[0] != taker:
            self._add(partition, (pair[0], taker))

    def _add(self, partition: TopicPartition, pair: Pair) -> None:
        self._by_partition[partition] = pair
        self._by_topic.setdefault(partition[0], {}).setdefault(pair, _Moved()).add(partition)
