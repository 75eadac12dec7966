"""The order in which a `java.util.PriorityQueue` gives out what is equal to it: that of its heap, and of no list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class PriorityQueue(Generic[Item]):
    """A queue whose least item comes first; its heap is sifted step by step as Java does it.

    Args:
        priority: of an item; it may change only while the item is not in the queue.
    """

    def __init__(self, priority: Callable[[Item], float]) -> None:
        self._priority = priority
        self._heap: list[Item] = []

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, item: Item) -> None:
        """Put an item in."""
        heap, priority = self._heap, self._priority
        place = len(heap)
        heap.append(item)
        while place > 0:
            parent = (place - 1) // 2
            if priority(item) >= priority(heap[parent]):
                break
            heap[place], place = heap[parent], parent
        heap[place] = item

    def poll(self) -> Item | None:
        """Take out the least item; None if there is none."""
        if not self._heap:
            return None
        least, last = self._heap[0], self._heap.pop()
        if self._heap:
            self._sift_down(last)
        return least

    def _sift_down(self, item: Item) -> None:
        heap, priority = self._heap, self._priority
        place, half = 0, len(heap) // 2
        while place < half:
            child = 2 * place + 1
            if child + 1 < len(heap) and priority(heap[child]) > priority(heap[child + 1]):
                child += 1
            if priority(item) <= priority(heap[child]):
                break
            heap[place], place = heap[child], child
        heap[place] = item
