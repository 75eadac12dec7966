"""Evidence that was seen and not taken yet: what is younger than the look-ahead, and the little that was put off."""

from __future__ import annotations

import heapq
from math import inf

from msgspec import Struct, field

from transforms.coordinator.evidence.items import REQUEST, Item, Rank
from transforms.coordinator.evidence.tolerances import NO_MORE_HOLDS

_COMPACT_AT = 4_096


class Waiting(Struct, array_like=True):
    """Evidence in its order, and beside it what was put off.

    Attributes:
        items: evidence in its order, to which more is added at the end; those before `position` were taken.
        held: what was put off, as a heap by its rank.
        count: how often something was put off, so that equal ranks keep their order.
        front: the newest that was seen.
    """

    items: list[Item] = field(default_factory=list)
    position: int = 0
    held: list[tuple[Rank, int, Item]] = field(default_factory=list)
    count: int = 0
    front: float = -inf

    def next_beside_held(self, before: float) -> Item | None:
        """Give out the next piece that stands before a moment, where some were put off: their turn may have come."""
        item = self.items[self.position] if self.position < len(self.items) else None
        first = self.held[0]
        if item is None or first[0] < item.rank:
            return heapq.heappop(self.held)[2] if first[0][0] < before else None
        if item.at >= before:
            return None
        for place, (_, _, held) in enumerate(self.held):
            if _is_of_one_connection(item, held):
                # A broker answers one request of a connection before it reads the next: this one cannot wait longer.
                del self.held[place]
                heapq.heapify(self.held)
                held.at, held.holds = item.at, NO_MORE_HOLDS
                return held
        self.position += 1
        return item

    def forget_taken(self) -> None:
        """Let go of what was taken, if it is much."""
        if self.position >= _COMPACT_AT:
            self.compact()

    def compact(self) -> None:
        """Let go of what was taken."""
        del self.items[: self.position]
        self.position = 0

    def put_off(self, item: Item, wait_ms: float) -> None:
        """Put a piece of evidence off for a moment, so many ms."""
        item.at += wait_ms
        item.holds += 1
        self.count += 1
        heapq.heappush(self.held, (item.rank, self.count, item))


def _is_of_one_connection(item: Item, held: Item) -> bool:
    """Whether both are requests of one connection."""
    if item.kind is not REQUEST or held.kind is not REQUEST:
        return False
    row, earlier = item.request, held.request
    if row is None or earlier is None or row.connection is None:
        return False
    return (row.broker, row.connection) == (earlier.broker, earlier.connection)
