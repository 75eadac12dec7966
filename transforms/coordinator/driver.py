"""Drives the replay of a group, of whatever protocol: evidence in its order goes in, settled rows come out.

Evidence is taken when all that is a little younger has been seen (`LOOK_AHEAD_MS`), for what bears on it may stand
beside it: the line about an expiry, the broker's load of the partition. So what comes of it hangs on the order of the
evidence alone, and not on where it was cut into batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Protocol

from transforms.coordinator.evidence.items import REQUEST, Item
from transforms.coordinator.evidence.tolerances import LOOK_AHEAD_MS
from transforms.coordinator.evidence.waiting import Waiting
from transforms.coordinator.timeline.lives import Lives


class Walk(Protocol):
    """A group on its way through the evidence, by the rules of its protocol."""

    def telling(self, items: Sequence[Item]) -> Iterator[int]:
        """Yield the places of those pieces that tell anything of their neighbours in time; the many do not.

        One is noticed before the next is asked for.
        """

    def notice(self, item: Item) -> None:
        """Take note of evidence that is seen, and not taken yet."""

    def take_many(self, items: Sequence[Item], position: int, before: float, until: float) -> int:
        """Take pieces from a position on, as long as they are of the many that change nothing but a timer.

        Args:
            items: evidence in its order.
            position: where to begin.
            before: moment before which they stand.
            until: moment with which to stop, when it is reached.

        Returns:
            The position behind the last that was taken.
        """

    def take(self, item: Item) -> float:
        """Let the timers run out that are due before a piece of evidence, and take it.

        Returns:
            For how long (ms) it is put off, as it shows something that cannot have happened yet; 0 = it was taken.
        """

    def settle(self, now: float) -> None:
        """Tell what is settled at a moment; infinite = everything, as far as it has come."""


class Driver:
    """The loop, for any protocol.

    Args:
        waiting: evidence that was seen and not taken yet.
        lives: the group's lives, which say when something in them may be settled.
        walk: the group.
    """

    def __init__(self, waiting: Waiting, lives: Lives, walk: Walk) -> None:
        self._waiting = waiting
        self._lives = lives
        self._walk = walk

    def see(self, evidence: Iterable[Item]) -> None:
        """Take in the next pieces of evidence, and take what they have let grow old enough."""
        seen = list(evidence)
        waiting, walk, begin = self._waiting, self._walk, 0
        append_all = waiting.items.extend
        for place in walk.telling(seen):
            telling = seen[place]
            append_all(seen[begin:place])
            self._take(telling.at - LOOK_AHEAD_MS)  # by what had been seen
            walk.notice(telling)
            begin = place
        append_all(seen[begin:])
        if seen:
            waiting.front = seen[-1].at
        self._take(waiting.front - LOOK_AHEAD_MS)
        waiting.forget_taken()

    def take_until(self, horizon: float) -> None:
        """Take what is older than the horizon by enough that all that bears on it has been seen."""
        self._take(horizon - LOOK_AHEAD_MS)

    def finish(self) -> None:
        """Take what is left: no more evidence will come. Timers due after the last of it do not run out."""
        self._take(inf)
        self._walk.settle(inf)

    def _take(self, before: float) -> None:
        """Take what stands before a moment; the many at one go, as long as nothing was put off."""
        waiting, lives, walk = self._waiting, self._lives, self._walk
        items = waiting.items
        while True:
            if waiting.held:
                item = waiting.next_beside_held(before)
                if item is None:
                    return
                if walk.take_many((item,), 0, inf, inf) == 0 and (wait_ms := walk.take(item)):
                    waiting.put_off(item, wait_ms)
                    continue
                at = item.at
            else:
                position = waiting.position
                if position == len(items) or items[position].at >= before:
                    return
                item = items[position]
                end = walk.take_many(items, position, before, lives.settle_at) if item.kind is REQUEST else position
                if end == position:
                    waiting.position = position + 1
                    if wait_ms := walk.take(item):
                        waiting.put_off(item, wait_ms)
                        continue
                    at = item.at
                else:
                    waiting.position, at = end, items[end - 1].at
            if at >= lives.settle_at:
                walk.settle(at)
