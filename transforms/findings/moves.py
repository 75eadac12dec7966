"""When a group's coordinator moved: what its members then suffer is not their own doing."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.client_defaults import SESSION_TIMEOUT_MS
from transforms.findings.evidence import Evidence, began_at

_GRACE_MS = 10_000
"""For so long after a move, and a session more, members suffer from it."""


@dataclass(frozen=True)
class Moves:
    """The moves of a group's coordinator.

    Attributes:
        moments: when another broker became it, epoch ms, in order.
        suffered_ms: for how long members suffer from one: the new coordinator gives each a session to be heard of, and
            who finds it later than that has lost it without ever having paused.
    """

    moments: list[float]
    suffered_ms: float

    def explain(self, moment: float) -> bool:
        """Return whether a moment lies so soon after a move that what happened then follows from it."""
        return any(at <= moment <= at + self.suffered_ms for at in self.moments)


def moves_of(evidence: Evidence) -> Moves:
    """Return when the group's coordinator changed: also when the first that is known came to a group that was there.

    It was there before, if it rebalanced before, or if somebody lost a session soon afterwards whom nobody saw come.
    """
    session_ms = max((row.session_timeout_ms or 0 for row in evidence.members), default=0) or SESSION_TIMEOUT_MS
    suffered_ms = session_ms + _GRACE_MS
    came = [row.from_at for row in evidence.coordinators if row.from_at is not None]
    if not came or evidence.coordinators[0].from_at is None:
        return Moves(came, suffered_ms)
    first = came[0]
    rebalanced = (at for row in evidence.generations if (at := began_at(row)) is not None)
    lost = (row.ended_at for row in evidence.sessions if row.joined_at is None and row.end_cause == "session_expired")
    was_there = min(rebalanced, default=first) < first or any(
        at is not None and first <= at <= first + suffered_ms for at in lost
    )
    return Moves([at for at in came if was_there or at != first], suffered_ms)
