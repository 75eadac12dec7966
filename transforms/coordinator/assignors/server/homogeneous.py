"""The uniform assignor where all members have one subscription: balance first, then as few moves as can be.

Source: UniformHomogeneousAssignmentBuilder (4.2); up to 4.0 the first members took the partitions that are over.
"""

from __future__ import annotations

from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec, MemberSpec

TopicPartition = tuple[str, int]


def assign_homogeneous(group: GroupSpec, *, passes_extra_on: bool = True) -> Assigned:
    """Share all partitions out evenly.

    Args:
        group: the group.
        passes_extra_on: a member that has room leaves the partition that is over to one that holds it (4.1).
    """
    return _Run(group, passes_extra_on).run() if group.topic_order else {}


class _Run:
    """One run: what is unassigned, what each member keeps, and how many may still have one more than the rest."""

    def __init__(self, group: GroupSpec, passes_extra_on: bool) -> None:
        self._group = group
        self._passes_extra_on = passes_extra_on
        self._topics = set(group.topic_order)
        owned = group.has_owner()
        counts = group.partition_counts
        everything = [(topic, number) for topic in group.topic_order for number in range(counts[topic])]
        self._unassigned = [partition for partition in everything if partition not in owned]
        self._quota, self._extras = divmod(len(everything), len(group.members))

    def run(self) -> Assigned:
        """Let each member keep what its quota allows, then fill up those with room."""
        assigned: Assigned = {}
        rooms: list[tuple[str, int]] = []
        for index, member in enumerate(self._group.members):
            has_extra = self._extras > 0
            kept, room = self._keep(member, self._quota + has_extra)
            if self._passes_extra_on and room and has_extra and len(self._group.members) - index > self._extras:
                room, has_extra = room - 1, False
            self._extras -= has_extra
            assigned[member.member_id] = kept
            rooms.append((member.member_id, room))
        unassigned = iter(self._unassigned)
        for member_id, room in rooms:
            for _ in range(room):
                topic, partition = next(unassigned, ("", -1))
                if topic:
                    assigned[member_id].setdefault(topic, []).append(partition)
        return assigned

    def _keep(self, member: MemberSpec, quota: int) -> tuple[dict[str, list[int]], int]:
        """Return what a member keeps of its target, and the room it has left; the rest becomes unassigned."""
        kept: dict[str, list[int]] = {}
        for topic, partitions in member.target.items():
            if topic not in self._topics:
                continue
            mine = list(partitions[:quota])
            if mine:
                kept[topic] = mine
            self._unassigned += [(topic, partition) for partition in partitions[quota:]]
            quota -= len(mine)
        return kept, quota
