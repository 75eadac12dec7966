"""What lines of the broker's log tell of a group of epochs that its records do not: why a member went, who computed.

Lines are written before the records that they go with are appended; each is kept for a moment, until those are taken.
"""

from __future__ import annotations

from msgspec import Struct, field

from schemas.rows import CoordinatorEventRow
from transforms.coordinator.evidence.tolerances import REMOVAL_SLACK_MS, SETTLING_MS

_CAUSES = (
    ("session expired", "session_expired"),
    ("failed to transition", "rebalance_timeout"),
    ("failed to revoke", "rebalance_timeout"),
    ("failed to join", "rebalance_timeout"),
    ("failed to sync", "sync_timeout"),
)
"""Words of the reason for which a member is fenced, and what they mean."""


class Departure(Struct, frozen=True, gc=False, array_like=True):
    """A member that left or was fenced.

    Attributes:
        cause: as `schemas.words.END_CAUSES` and `TRIGGERS` have it.
        reason: as logged.
        client_reason: as the client gave it.
    """

    at: float
    cause: str
    reason: str | None = None
    client_reason: str | None = None

    @property
    def trigger(self) -> str:
        """What it is as the cause of a bump."""
        return "member_left" if self.cause == "left" else self.cause


_TELLING = frozenset(
    {
        "modern_member_left",
        "modern_member_fenced",
        "modern_epoch_bumped",
        "modern_assignment_computed",
        "modern_assignment_failed",
    }
)
"""The few events of very many that tell of anything."""


class Told(Struct, array_like=True):
    """What was told of late.

    Attributes:
        departures: by member id, the last two.
        bumps: by epoch, when the line about its bump was written.
        assignors: by epoch, when the targets were computed, and by whose rules.
        failures: when the targets of an epoch could not be computed, and which epoch's.
    """

    departures: dict[str, list[Departure]] = field(default_factory=dict)
    bumps: dict[int, float] = field(default_factory=dict)
    assignors: dict[int, tuple[float, str]] = field(default_factory=dict)
    failures: list[tuple[float, int]] = field(default_factory=list)

    def notice(self, line: CoordinatorEventRow) -> None:
        """Take note of a line."""
        if line.event not in _TELLING:
            return
        at = line.logged_at or 0.0
        if line.event == "modern_member_left" and line.member_id:
            self._departed(line.member_id, Departure(at, "left", line.reason, line.client_reason))
        elif line.event == "modern_member_fenced" and line.member_id and line.reason:
            cause = next((cause for words, cause in _CAUSES if words in line.reason), "fenced")
            self._departed(line.member_id, Departure(at, cause, line.reason))
        elif line.event == "modern_epoch_bumped" and line.generation is not None:
            self.bumps[line.generation] = at
        elif line.event == "modern_assignment_computed" and line.generation is not None:
            name = (line.attributes or {}).get("assignor", "").partition("@")[0]
            if name:
                self.assignors[line.generation] = (at, _short(name))
        elif line.event == "modern_assignment_failed" and line.generation is not None:
            self.failures.append((at, line.generation))

    def departure(self, member_id: str, at: float) -> Departure | None:
        """Return why a member went at a moment, if a line tells."""
        near = [each for each in self.departures.get(member_id, ()) if abs(each.at - at) <= REMOVAL_SLACK_MS]
        return min(near, key=lambda each: abs(each.at - at), default=None)

    def has_left(self, member_id: str) -> bool:
        """Whether a member left by itself of late, and was not sent away since."""
        return member_id in self.departures and self.departures[member_id][-1].cause == "left"

    def is_bump_told(self, epoch: int, at: float) -> bool:
        """Whether a line tells of a bump at a moment."""
        told = self.bumps.get(epoch)
        return told is not None and abs(told - at) <= REMOVAL_SLACK_MS

    def assignor(self, epoch: int, at: float) -> str | None:
        """Return by whose rules the targets of an epoch were computed at a moment, if a line tells."""
        told_at, name = self.assignors.get(epoch, (-SETTLING_MS, None))
        return name if abs(told_at - at) <= REMOVAL_SLACK_MS else None

    def forget(self, now: float) -> None:
        """Forget what was told too long ago to matter."""
        before = now - SETTLING_MS
        if self.departures:
            self.departures = {key: each for key, each in self.departures.items() if each[-1].at >= before}
        if self.bumps:
            self.bumps = {epoch: at for epoch, at in self.bumps.items() if at >= before}
        if self.assignors:
            self.assignors = {epoch: each for epoch, each in self.assignors.items() if each[0] >= before}
        if self.failures:
            self.failures = [each for each in self.failures if each[0] >= before]

    def _departed(self, member_id: str, departure: Departure) -> None:
        self.departures[member_id] = [*self.departures.get(member_id, ())[-1:], departure]


def _short(name: str) -> str:
    """Return the name of an assignor; some brokers print its class."""
    return name.rpartition(".")[2].removesuffix("Assignor").lower() if "." in name else name
