"""The order in which evidence is taken, with the little of it that was put off."""

from __future__ import annotations

import heapq
from typing import Any

from transforms.coordinator.evidence import Item, Kind
from transforms.coordinator.holds import HOLD_MS, MOST_HOLDS


class Waiting:
    """Evidence in its order, and beside it the little that was put off."""

    def __init__(self, items: list[Item]) -> None:
        self._items = items
        self._position = 0
        self._held: list[tuple[tuple[Any, ...], int, Item]] = []
        self._count = 0

    def pop(self) -> Item | None:
        """Take the next piece of evidence; None when there is no more."""
        is_over = self._position >= len(self._items)
        if self._held and (is_over or self._held[0][0] < self._items[self._position].rank):
            return heapq.heappop(self._held)[2]
        if is_over:
            return None
        item = self._items[self._position]
        for place, (_, _, held) in enumerate(self._held):
            if _is_of_one_connection(item, held):
                # A broker answers one request of a connection before it reads the next: this one cannot wait longer.
                del self._held[place]
                heapq.heapify(self._held)
                held.at, held.holds = item.at, MOST_HOLDS
                return held
        self._position += 1
        return item

    def put_off(self, item: Item) -> None:
        """Put a piece of evidence off for a moment."""
        item.at += HOLD_MS
        item.holds += 1
        self._count += 1
        heapq.heappush(self._held, (item.rank, self._count, item))


def _is_of_one_connection(item: Item, held: Item) -> bool:
    """Whether both are requests of one connection."""
    if item.kind is not Kind.REQUEST or held.kind is not Kind.REQUEST or item.exchange is None or held.exchange is None:
        return False
    row, earlier = item.exchange.row, held.exchange.row
    return row["connection"] is not None and (row["broker"], row["connection"]) == (
        earlier["broker"],
        earlier["connection"],
    )
