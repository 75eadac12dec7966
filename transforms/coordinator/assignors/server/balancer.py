"""Picks the least and the most loaded of a topic's subscribers, level by level, while partitions are given and taken.

Source: UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer.
"""

from __future__ import annotations

from collections.abc import Iterable


class Balancer:
    """The subscribers of one topic, sorted by what they have in all.

    Two ranges of them are known: those that are least loaded, all on one level, from the left; those that are most
    loaded, from the right. Once each of a range was picked, its level rises or sinks and the range may grow.

    Args:
        loads: partitions of each member, by index; it changes while this is at work.
        subscribers: indices of the members that subscribe to the topic.
    """

    def __init__(self, loads: list[int], subscribers: Iterable[int]) -> None:
        self._loads = loads
        self._sorted = sorted(subscribers, key=lambda index: (loads[index], index))
        least, most = loads[self._sorted[0]], loads[self._sorted[-1]]
        self.imbalance = most - least
        self._least_end, self._least_level, self._next_least = 0, least - 1, 0
        self._most_start = self._most_end = len(self._sorted)
        self._most_level, self._next_most = most + 1, len(self._sorted) - 1

    @property
    def is_balanced(self) -> bool:
        """The two levels differ by one at most."""
        return self._most_level - self._least_level <= 1

    def least_loaded(self) -> int:
        """Pick the next member to be given a partition."""
        members = self._sorted
        if self._next_least >= self._least_end:
            self._least_level += 1
            while self._least_end < len(members) and self._loads[members[self._least_end]] == self._least_level:
                self._least_end += 1
            self._next_least = 0
        picked = members[self._next_least]
        self._next_least += 1
        return picked

    def most_loaded(self) -> int | None:
        """Pick the next member to give up a partition; None if nobody is left that can."""
        members = self._sorted
        if self._next_most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                self._most_level = self._loads[members[self._most_start - 1]]
            else:
                self._most_level -= 1
            while self._most_start > 0 and self._loads[members[self._most_start - 1]] == self._most_level:
                self._most_start -= 1
            self._next_most = self._most_end - 1
        if self._next_most < 0:
            return None
        picked = members[self._next_most]
        self._next_most -= 1
        return picked

    def exclude_most_loaded(self) -> None:
        """Take the member that was picked last out of the range: it has nothing of the topic to give up."""
        members, at, last = self._sorted, self._next_most + 1, self._most_end - 1
        members[at], members[last] = members[last], members[at]
        self._most_end -= 1
