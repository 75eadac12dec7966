"""A group that chaotic clients share: its timeouts, who is or was in it, and when everybody is to be out."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from random import Random

from tests.support.chaos.client import Leaver

REMEMBERED = 12
"""Members, present and past, that a batch of leavers is drawn from."""

SESSIONS_MS = (1_500, 2_500, 4_000)
REBALANCES_MS = (3_000, 5_000)
REST_EVERY_S = (14.0, 30.0)
REST_S = (3.0, 7.0)


@dataclass
class Group:
    """What the clients of one group have in common.

    Attributes:
        chance: what is random about the group.
        offset: the last offset that was committed.
        recent: members that joined lately.
        first_join: lowest version of JoinGroup that is spoken in it.
        stops_at: when everything ends, in seconds since the epoch.
    """

    name: str
    chance: Random
    stops_at: float
    session_ms: int = 0
    rebalance_ms: int = 0
    offset: int = 0
    first_join: int = 2
    recent: deque[Leaver] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    _rests: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Choose timeouts, and times of rest in which all members go and the group is empty."""
        self.session_ms = self.chance.choice(SESSIONS_MS)
        self.rebalance_ms = self.chance.choice(REBALANCES_MS)
        at = time.time() + self.chance.uniform(*REST_EVERY_S)
        while at < self.stops_at:
            ends = at + self.chance.uniform(*REST_S)
            self._rests.append((at, ends))
            at = ends + self.chance.uniform(*REST_EVERY_S)

    @property
    def is_over(self) -> bool:
        """Whether it is time to stop."""
        return time.time() >= self.stops_at

    @property
    def is_at_rest(self) -> bool:
        """Whether all members are to be out now."""
        return any(begins <= time.time() < ends for begins, ends in self._rests)

    def next_offset(self) -> int:
        """Return a higher offset than the last one."""
        self.offset += self.chance.randint(1, 4)
        return self.offset

    def some_of_recent(self, chance: Random) -> list[Leaver]:
        """Return up to three of the members that joined lately."""
        return chance.sample(list(self.recent), min(len(self.recent), chance.randint(1, 3)))
