"""What the broker's log tells of its timers, so that the replay's own remove nobody whom the broker kept.

A session that the replay sees end may have gone on: the broker was down, or loading, or waited for its assignment to
be replicated, or its timer was late and the heartbeat in time. The broker logs each member that it removes, and the end
of each join phase.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from transforms.coordinator.effects import JOIN_TIMER, SYNC_TIMER, member_timer
from transforms.coordinator.evidence import Row
from transforms.coordinator.group import TimerKey

ROUNDS = frozenset({"preparing_rebalance", "stabilized", "group_empty"})
"""Lines of the same level as those about removals: where they are logged, so are these."""

_ENDS_OF_JOINS = frozenset({"stabilized", "group_empty", "rebalance_extended", "members_not_rejoined"})

SAME_MOMENT_MS = 5.0
"""How far the line about the end of a join phase and the answers to its joins lie apart, at the most."""

SLACK_MS = 100.0
"""How far a removal lies from the deadline that the replay has for it, at the most."""


@dataclass(slots=True)
class Removals:
    """When the timers of a group's coordinators ran out.

    Attributes:
        first: when the lines about the group's rebalances begin.
        last: the last line there is, of the group or of its coordinators.
        moments: by timer, when lines tell what it brings about, in order.
        completions: by generation number, when lines tell that join phases ended.
    """

    first: float = inf
    last: float = -inf
    moments: dict[TimerKey, list[float]] = field(default_factory=dict)
    completions: dict[int, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, group_id: str, events: Iterable[Row]) -> Removals:
        """Read rows of `silver.coordinator_events`."""
        removals = cls()
        for row in events:
            if row["logged_at"] is not None:
                removals.last = max(removals.last, float(row["logged_at"]))
            if row["group_id"] == group_id and row["logged_at"] is not None:
                at = float(row["logged_at"])
                if row["event"] in ROUNDS:
                    removals.first = min(removals.first, at)
                if row["event"] == "stabilized":
                    removals.completions.setdefault(row["generation"], []).append(at)
                if (timer := _timer(row)) is not None:
                    removals.moments.setdefault(timer, []).append(at)
        for moments in removals.moments.values():
            moments.sort()
        return removals

    def was_completed(self, generation: int, at: float) -> bool:
        """Whether a line tells that a join phase of this generation ended at a moment."""
        return any(abs(at - completed) <= SAME_MOMENT_MS for completed in self.completions.get(generation, ()))

    def moment(self, timer: TimerKey, due: float) -> float | None:
        """Return when a timer ran out: when it was due, or by its line if that is much later; None if it did not.

        Where no line would tell it did.
        """
        moments = self.moments.get(timer, ())
        index = bisect_left(moments, due - SLACK_MS)
        if index < len(moments) and moments[index] <= due + SLACK_MS:
            return moments[index] if moments[index] > due + SAME_MOMENT_MS else due
        return None if self.first <= due < self.last - SLACK_MS else due


def _timer(row: Row) -> TimerKey | None:
    if row["event"] in ("member_failed", "pending_member_expired"):
        return member_timer(row["member_id"])
    if row["event"] in _ENDS_OF_JOINS:
        return JOIN_TIMER
    if row["event"] == "preparing_rebalance" and (row["attributes"] or {}).get("trigger") == "sync_timeout":
        return SYNC_TIMER
    return None
