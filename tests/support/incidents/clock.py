"""The clock of a world: what happens when."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf


class Clock:
    """Jumps from event to event; moments are epoch ms."""

    def __init__(self, now: float) -> None:
        self.now = now
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()

    def at(self, moment: float, act: Callable[[], None]) -> None:
        """Do something at a moment, at once if it has passed."""
        heappush(self._events, (max(moment, self.now), next(self._numbers), act))

    def after(self, ms: float, act: Callable[[], None]) -> None:
        """Do something in a while."""
        self.at(self.now + ms, act)

    def run(self, until: float, next_timer: Callable[[], float], fire: Callable[[], None]) -> None:
        """Run up to a moment; `next_timer` says when the coordinator's next timer is due, `fire` lets it run out."""
        while True:
            at = self._events[0][0] if self._events else inf
            due = next_timer()
            if min(at, due) > until:
                return
            if due <= at:
                self.now = max(self.now, due)
                fire()
            else:
                moment, _, act = heappop(self._events)
                self.now = max(self.now, moment)
                act()
