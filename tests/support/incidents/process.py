"""A process that runs, stops for a while, and dies; what it was about to do dies with it, or waits until it wakes."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.incidents.clock import Clock


class Process:
    """One process, through all its lives.

    Attributes:
        is_up: it runs, or would if it were not frozen.
        is_frozen: it is stopped.
        life: how often it was started and ended.
    """

    def __init__(self, clock: Clock) -> None:
        self.is_up = self.is_frozen = False
        self.life = 0
        self._clock = clock
        self._held: list[Callable[[], None]] = []

    def begin(self) -> None:
        """Start."""
        self.life += 1
        self.is_up, self.is_frozen, self._held = True, False, []

    def end(self) -> None:
        """End."""
        self.is_up, self.life = False, self.life + 1

    def freeze(self, ms: float) -> None:
        """Stop (SIGSTOP, a stop-the-world collection, a host that hangs), and go on later."""
        if not self.is_up or self.is_frozen:
            return
        self.is_frozen, life = True, self.life
        self._clock.after(ms, lambda: self._thaw() if life == self.life else None)

    def later(self, ms: float, act: Callable[[], None]) -> None:
        """Do something in a while, in this life."""
        life = self.life
        self._clock.after(ms, lambda: self.now(act) if life == self.life else None)

    def now(self, act: Callable[[], None]) -> None:
        """Do something, when it wakes if it is stopped."""
        if self.is_frozen:
            self._held.append(act)
        else:
            act()

    def _thaw(self) -> None:
        self.is_frozen = False
        held, self._held = self._held, []
        for act in held:
            act()
