"""Members by how many partitions they have, fewest first, without those that have all that they can have.

Source: AssignmentManager of UniformHeterogeneousAssignmentBuilder (3.8, 3.9).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping

from transforms.coordinator.assignors.subscriptions import java_text_order

Place = tuple[int, bytes, str]


class Ranking:
    """The members of one group; with as many partitions, by id.

    Args:
        most: by member id, how many partitions it can have.
    """

    def __init__(self, most: Mapping[str, int]) -> None:
        self._most = most
        self._sizes = dict.fromkeys(most, 0)
        self._keys = {name: java_text_order(name) for name in most}
        self._places = sorted(self._place(name) for name in most if most[name])

    def size_of(self, name: str) -> int:
        """Return how many partitions a member has."""
        return self._sizes[name]

    def is_full(self, name: str) -> bool:
        """Whether a member has all that it can have."""
        return self._sizes[name] >= self._most[name]

    def in_order(self) -> list[str]:
        """Return the members that can have more, but those that were left out."""
        return [name for _, _, name in self._places]

    def first_of(self, names: Iterable[str]) -> str | None:
        """Return the one of some members that can have more and has least, left out or not."""
        return min((name for name in names if not self.is_full(name)), key=self._place, default=None)

    def give_to(self, name: str) -> None:
        """Count one more."""
        self._change(name, 1)

    def take_from(self, name: str) -> None:
        """Count one less."""
        self._change(name, -1)

    def leave_out(self, name: str) -> None:
        """Leave a member out until what it has changes."""
        place = self._place(name)
        index = bisect_left(self._places, place)
        if index < len(self._places) and self._places[index] == place:
            del self._places[index]

    def _change(self, name: str, by: int) -> None:
        self.leave_out(name)
        self._sizes[name] = max(self._sizes[name] + by, 0)
        if not self.is_full(name):
            insort(self._places, self._place(name))

    def _place(self, name: str) -> Place:
        return self._sizes[name], self._keys[name], name
