"""Which members are where replicas of partitions are: what the uniform assignor of 3.7 goes by before all else.

Source: AbstractUniformAssignmentBuilder.RackInfo, useRackAwareAssignment (3.7).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from transforms.coordinator.assignors.server.specs import GroupSpec
from transforms.coordinator.kafka.java_collections import grown_capacity, table_order, uuid_halves
from transforms.coordinator.kafka.java_hashing import string_hash

TopicPartition = tuple[str, int]


class Racks:
    """Racks of a group.

    Args:
        group: the group.
        topics: ids of the topics whose partitions are looked at.

    Attributes:
        decide: some members and replicas share racks, and not all partitions have replicas in all racks. Else nobody
            looks at racks.
    """

    def __init__(self, group: GroupSpec, topics: Collection[str]) -> None:
        self._rack_of = {member.member_id: member.rack_id for member in group.members if member.rack_id}
        self._racks_of = {
            (topic, number): frozenset(racks)
            for topic in topics
            for number, racks in enumerate(group.racks.get(topic, ()) or [()] * group.partition_counts[topic])
        }
        everywhere: frozenset[str] = frozenset().union(*self._racks_of.values())
        is_shared = not everywhere.isdisjoint(self._rack_of.values())
        self.decide = is_shared and any(racks != everywhere for racks in self._racks_of.values())

    def are_shared(self, member_id: str, partition: TopicPartition) -> bool:
        """Tell whether a member is where a replica of a partition is."""
        return self._rack_of.get(member_id) in self._racks_of.get(partition, ())

    def with_neighbours(self, partitions: Iterable[TopicPartition]) -> list[tuple[TopicPartition, list[str]]]:
        """Return those partitions beside which there are members, with these: who has fewest comes first."""
        by_rack: dict[str, list[str]] = {}
        for member_id, rack in self._rack_of.items():
            by_rack.setdefault(rack, []).append(member_id)
        found = [(partition, self._neighbours(by_rack, partition)) for partition in partitions]
        return sorted(
            ((partition, members) for partition, members in found if members),
            key=lambda each: (len(each[1]), uuid_halves(each[0][0]), each[0][1]),
        )

    def _neighbours(self, by_rack: Mapping[str, list[str]], partition: TopicPartition) -> list[str]:
        racks = self._racks_of.get(partition, frozenset())
        in_order = table_order(racks, string_hash, grown_capacity(len(racks)))
        return [member_id for rack in in_order for member_id in by_rack.get(rack, ())]
