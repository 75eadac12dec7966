"""Sticky assignment where all members subscribe to the same topics: everyone keeps what fits, the rest goes round.

With P partitions and M members, P mod M members get one more than P // M, the others exactly that.
Source: AbstractStickyAssignor.ConstrainedAssignmentBuilder, without racks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from transforms.coordinator.assignors.claims import Claims
from transforms.coordinator.assignors.subscriptions import (
    Assignment,
    NoAssignment,
    TopicPartition,
    all_partitions,
    java_text_order,
)


class Constrained:
    """One run of the algorithm.

    Clients before 3.7.1 differ: a member keeps what it named first rather than the lowest partition numbers, and a
    partition that it gave up and got again in the same run still counts as changing hands.

    Attributes:
        assignment: the result, after `run`.
        transferring: of it, what another member may still hold and must give up first.
    """

    def __init__(self, claims: Claims, counts: Mapping[str, int], is_before_3_7_1: bool) -> None:
        self.assignment: Assignment = {member_id: [] for member_id in claims.members}
        self.transferring: dict[TopicPartition, str] = {}
        self._claims = claims
        self._counts = counts
        self._is_before_3_7_1 = is_before_3_7_1
        self._quota, self._larger_shares = divmod(sum(counts.values()), len(claims.members))
        self._larger_given = 0
        self._revoked: dict[TopicPartition, str] = {}
        self._below: list[str] = []
        self._at_quota: deque[str] = deque()

    def run(self) -> Constrained:
        """Assign.

        Raises:
            NoAssignment: Kafka's assignor throws, which remembered partitions that are gone can bring it to.
        """
        for member_id in self._claims.members:
            self._keep(member_id, self._keepable(member_id))
        self._below.sort(key=java_text_order)
        self._at_quota = deque(sorted(self._at_quota, key=java_text_order))
        self._deal(self._unassigned())
        short = any(len(self.assignment[member_id]) != self._quota for member_id in self._below)
        if self._below and (short or self._larger_given != self._larger_shares):
            raise NoAssignment("members are left below their quota")
        return self

    def _keepable(self, member_id: str) -> list[TopicPartition]:
        """What a member may keep, since 3.7.1 the lowest partition numbers first whatever their topic."""
        mine = [partition for partition in self._claims.owned[member_id] if partition not in self._claims.disputed]
        return mine if self._is_before_3_7_1 else sorted(mine, key=lambda partition: (partition[1], partition[0]))

    def _keep(self, member_id: str, mine: list[TopicPartition]) -> None:
        if len(mine) < self._quota:
            self.assignment[member_id] += mine
            self._below.append(member_id)
            return
        size = self._quota
        is_larger_left = self._larger_given < self._larger_shares
        if is_larger_left and len(mine) > self._quota:
            size += 1
            self._larger_given += 1
            if self._larger_given == self._larger_shares:
                self._at_quota.clear()
        elif is_larger_left:
            self._at_quota.append(member_id)
        self.assignment[member_id] += mine[:size]
        self._revoked.update(dict.fromkeys(mine[size:], member_id))

    def _unassigned(self) -> list[TopicPartition]:
        """All partitions that nobody kept, by topic and number.

        Kafka walks both sorted lists in step, so that a kept partition which no longer exists hides those behind it.
        """
        kept = iter(sorted(partition for mine in self.assignment.values() for partition in mine))
        next_kept = next(kept, None)
        unassigned = []
        for partition in all_partitions(sorted(self._counts), self._counts):
            if partition == next_kept:
                next_kept = next(kept, None)
            else:
                unassigned.append(partition)
        return unassigned

    def _deal(self, unassigned: list[TopicPartition]) -> None:
        """Go round the members below their quota, then give one more to those at it."""
        turn = 0
        for partition in unassigned:
            if self._below:
                turn = turn if turn < len(self._below) else 0
                member_id = self._below[turn]
                turn += 1
            elif self._at_quota:
                member_id = self._at_quota.popleft()
            else:
                raise NoAssignment("partitions are left after all quotas are filled")
            size = self._give(partition, member_id)
            if size == self._quota:
                turn -= 1
                del self._below[turn]
                self._at_quota.append(member_id)
            elif size == self._quota + 1:
                self._larger_given += 1

    def _give(self, partition: TopicPartition, member_id: str) -> int:
        self.assignment[member_id].append(partition)
        revoked_from = self._revoked.get(partition)
        is_coming_home = revoked_from == member_id and not self._is_before_3_7_1
        if (revoked_from is not None and not is_coming_home) or partition in self._claims.disputed:
            self.transferring[partition] = member_id
        return len(self.assignment[member_id])
