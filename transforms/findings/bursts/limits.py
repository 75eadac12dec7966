"""From when on refusals are a burst: thresholds, and the errors that have their own."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.client_defaults import SESSION_TIMEOUT_MS


@dataclass(frozen=True, slots=True)
class BurstLimits:
    """The thresholds of one error.

    Attributes:
        gap_ms: longest pause between two refusals of a burst.
        min_errors: fewest refusals of a burst.
    """

    gap_ms: int
    min_errors: int

    def __post_init__(self) -> None:
        """Refuse thresholds that are out of their range."""
        if self.gap_ms < 0 or self.min_errors < 1:
            raise ValueError(f"gap_ms {self.gap_ms} must be 0 or more, min_errors {self.min_errors} 1 or more")

    def of(self, error: str) -> BurstLimits:
        """Return the thresholds of an error: its own ones widen those that are set, and never narrow them."""
        own = OF_THEIR_OWN.get(error)
        if own is None:
            return self
        return BurstLimits(max(self.gap_ms, own.gap_ms), min(self.min_errors, own.min_errors))


OF_THEIR_OWN: dict[str, BurstLimits] = {
    "UNRELEASED_INSTANCE_ID": BurstLimits(gap_ms=SESSION_TIMEOUT_MS, min_errors=1),
}
"""Errors of which one refusal tells as much as five.

Who is told UNRELEASED_INSTANCE_ID does not ask again: Java's consumer (AbstractHeartbeatRequestManager, since 3.7) and
librdkafka take it for fatal. So each refusal is a process that had to be started, and the next comes when somebody
starts it once more. It goes on until the session of the member that holds the id is over: by default 45 s, of the
group (group.consumer.session.timeout.ms) as of clients.
"""
