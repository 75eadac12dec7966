"""Members in the order of how much they hold: the TreeSet with SubscriptionComparator that Kafka walks through."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping

from transforms.coordinator.assignors.subscriptions import TopicPartition, java_text_order


class Loads:
    """Member ids, ascending by the size of what they hold now, then by id.

    A member must be taken out before its holdings change, and put in again after.
    """

    def __init__(self, holdings: Mapping[str, list[TopicPartition]]) -> None:
        self._holdings = holdings
        self._ids = sorted(holdings, key=java_text_order)
        self._rank = {member_id: rank for rank, member_id in enumerate(self._ids)}
        self._ordered = sorted(self._key(member_id) for member_id in self._ids)

    def __iter__(self) -> Iterator[str]:
        return (self._ids[rank] for _, rank in self._ordered)

    def __len__(self) -> int:
        return len(self._ordered)

    def add(self, member_id: str) -> None:
        """Put a member in by what it holds now."""
        insort(self._ordered, self._key(member_id))

    def remove(self, member_id: str) -> None:
        """Take a member out, which holds what it held when it was put in."""
        del self._ordered[bisect_left(self._ordered, self._key(member_id))]

    def smallest(self) -> int:
        """Return the size of the smallest holding."""
        return self._ordered[0][0]

    def largest(self) -> int:
        """Return the size of the largest holding."""
        return self._ordered[-1][0]

    def _key(self, member_id: str) -> tuple[int, int]:
        return len(self._holdings[member_id]), self._rank[member_id]
