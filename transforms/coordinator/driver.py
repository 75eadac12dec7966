"""Drives the replay of a group, of whatever protocol: evidence in its order goes in, settled rows come out.

Evidence is taken when all that is a little younger has been seen (`LOOK_AHEAD_MS`), for what bears on it may stand
beside it: the line about an expiry, the broker's load of the partition. So what comes of it hangs on the order of the
evidence alone, and not on where it was cut into batches.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Protocol

from transforms.coordinator.evidence.items import Item
from transforms.coordinator.evidence.tolerances import LOOK_AHEAD_MS
from transforms.coordinator.evidence.waiting import Waiting
from transforms.coordinator.timeline.lives import Lives

TAKE_EVERY_MS = 10_000.0
"""How much evidence that tells nothing ahead is left to be taken at one go; what waits must not grow with history."""


class Walk(Protocol):
    """A group on its way through the evidence, by the rules of its protocol."""

    def tells_ahead(self, item: Item) -> bool:
        """Whether a piece of evidence that is seen tells anything of its neighbours in time; the many do not."""

    def notice(self, item: Item) -> None:
        """Take note of evidence that is seen, and not taken yet."""

    def take_at_once(self, item: Item) -> bool:
        """Take a piece of evidence, if it is one of the many that change nothing but a timer; else leave it."""

    def let_time_pass(self, until: float) -> None:
        """Let the timers run out that are due before something that is about to be taken."""

    def comes_too_early(self, item: Item) -> bool:
        """Whether what a piece of evidence shows cannot have happened yet; then it is put off, a few times."""

    def take(self, item: Item) -> None:
        """Take a piece of evidence."""

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
        self._take_at_once = walk.take_at_once

    def see(self, evidence: Iterable[Item]) -> None:
        """Take in the next pieces of evidence, and take what they have let grow old enough."""
        waiting, tells_ahead, notice = self._waiting, self._walk.tells_ahead, self._walk.notice
        append, at, take_at = waiting.items.append, waiting.front, -inf
        for item in evidence:
            at = item.at
            is_telling = tells_ahead(item)
            if is_telling or at > take_at:
                self._take(at - LOOK_AHEAD_MS)  # by what had been seen
                take_at = at + TAKE_EVERY_MS
                if is_telling:
                    notice(item)
            append(item)
        self._take(at - LOOK_AHEAD_MS)
        waiting.front = at

    def take_until(self, horizon: float) -> None:
        """Take what is older than the horizon by enough that all that bears on it has been seen."""
        self._take(horizon - LOOK_AHEAD_MS)

    def finish(self) -> None:
        """Take what is left: no more evidence will come. Timers due after the last of it do not run out."""
        self._take(inf)
        self._walk.settle(inf)

    def _take(self, before: float) -> None:
        take_at_once, lives = self._take_at_once, self._lives
        for item in self._waiting.until(before):
            if (take_at_once(item) or self._takes(item)) and item.at >= lives.settle_at:
                self._walk.settle(item.at)

    def _takes(self, item: Item) -> bool:
        """Take a piece of evidence, unless it comes too early: then it is put off."""
        walk = self._walk
        walk.let_time_pass(item.at)
        if walk.comes_too_early(item):
            self._waiting.put_off(item)
            return False
        walk.take(item)
        return True
