"""The uniform assignor of 3.7 where all members have one subscription: what is free goes round, by topic and number.

Where racks decide, members keep only what has a replica where they are, and what is free goes to members beside it
before it goes round. Source: OptimizedUniformAssignmentBuilder (3.7).
"""

from __future__ import annotations

from collections import deque

from transforms.coordinator.assignors.server.racks import Racks, TopicPartition
from transforms.coordinator.assignors.server.specs import Assigned, GroupSpec, MemberSpec
from transforms.coordinator.kafka.java_collections import grown_capacity, table_order, uuid_halves
from transforms.coordinator.kafka.java_hashing import string_hash


def assign_homogeneous_in_turns(group: GroupSpec) -> Assigned:
    """Let members keep their share of what they have, and deal the rest out one by one."""
    return _Run(group).run() if group.members and group.members[0].topics else {}


class _Run:
    """One run: how many may still have one more than the rest, and what each that has room lacks of its share."""

    def __init__(self, group: GroupSpec) -> None:
        self._group = group
        self._topics = sorted(group.members[0].topics, key=uuid_halves)
        everything = ((topic, number) for topic in self._topics for number in range(group.partition_counts[topic]))
        self._free = dict.fromkeys(everything)
        self._share, self._extras = divmod(len(self._free), len(group.members))
        self._rooms: dict[str, int] = {}
        self._racks = Racks(group, self._topics)
        self._owners: dict[TopicPartition, str] = {}
        self._assigned: Assigned = {member.member_id: {} for member in group.members}

    def run(self) -> Assigned:
        """Keep, then deal out; a member that has its share stands by as long as somebody is to have one more."""
        for member in self._group.members:
            self._keep(member)
        capacity = grown_capacity(len(self._rooms))
        if self._racks.decide:
            self._deal_out_to_neighbours()
        waiting = deque(table_order(self._rooms, string_hash, capacity))
        for topic, number in list(self._free):
            if self._is_left_to_its_owner((topic, number), waiting):
                continue
            tries = 0
            while tries < len(waiting):
                member_id = waiting.popleft()
                is_taken = self._may_have_one(member_id)
                if member_id in self._rooms:
                    waiting.append(member_id)
                if is_taken:
                    self._give(member_id, topic, number)
                    break
                tries += 1
        return self._assigned

    def _keep(self, member: MemberSpec) -> None:
        """Let a member keep its share, and one more where that is left; else it has room, be it only for that one."""
        mine = [
            (topic, number) for topic, numbers in member.target.items() if topic in self._topics for number in numbers
        ]
        if self._racks.decide:
            far = [each for each in mine if not self._racks.are_shared(member.member_id, each)]
            self._owners |= dict.fromkeys(far, member.member_id)
            mine = [each for each in mine if each not in far]
        has_extra = len(mine) > self._share and self._extras > 0
        self._extras -= has_extra
        for topic, number in mine[: self._share + has_extra]:
            self._give(member.member_id, topic, number)
        if len(mine) <= self._share:
            self._rooms[member.member_id] = self._share - len(mine)

    def _deal_out_to_neighbours(self) -> None:
        """Give what is free to members beside it, who has least first."""
        for partition, members in self._racks.with_neighbours(self._free):
            for member_id in sorted(members, key=self._size):
                if member_id in self._rooms and self._may_have_one(member_id):
                    self._give(member_id, *partition)
                    break

    def _size(self, member_id: str) -> int:
        return sum(map(len, self._assigned[member_id].values()))

    def _is_left_to_its_owner(self, partition: TopicPartition, waiting: deque[str]) -> bool:
        """Let the one who had a partition far from it keep it after all, if it has room."""
        owner = self._owners.get(partition)
        if owner is None or owner not in self._rooms:
            return False
        is_taken = self._may_have_one(owner)
        if owner not in self._rooms:
            waiting.remove(owner)
        if is_taken:
            self._give(owner, *partition)
        return is_taken

    def _may_have_one(self, member_id: str) -> bool:
        """Whether a member with room takes one more; who has no use for any afterwards has no room any more."""
        room = self._rooms.get(member_id)
        if room is None or (room == 0 and self._extras == 0):
            return False
        if room > 0:
            self._rooms[member_id] = room - 1
            if room == 1 and self._extras == 0:
                del self._rooms[member_id]
        else:
            self._extras -= 1
            del self._rooms[member_id]
        return True

    def _give(self, member_id: str, topic: str, number: int) -> None:
        self._assigned[member_id].setdefault(topic, []).append(number)
        self._free.pop((topic, number), None)
