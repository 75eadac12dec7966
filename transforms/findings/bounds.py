"""How long brokers let sessions be: a timeout that lies beyond is refused (INVALID_SESSION_TIMEOUT), and so no advice.

Source: GroupCoordinatorConfig and GroupConfig of Kafka 4.2. What a broker printed of its bounds is not at hand where
findings are judged, so that the defaults stand for it, and are called so.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bounds:
    """The bounds of a session, by default, and the settings of brokers that move them."""

    least_setting: str
    least_ms: int
    most_setting: str
    most_ms: int

    @property
    def least(self) -> str:
        """The lower bound as one reads it."""
        return f"{self.least_setting} ({self.least_ms} by default)"

    @property
    def most(self) -> str:
        """The upper bound as one reads it."""
        return f"{self.most_setting} ({self.most_ms} by default)"


SESSION_BOUNDS = {
    "classic": Bounds("group.min.session.timeout.ms", 6_000, "group.max.session.timeout.ms", 1_800_000),
    **{
        group_type: Bounds(
            f"group.{group_type}.min.session.timeout.ms", 45_000, f"group.{group_type}.max.session.timeout.ms", 60_000
        )
        for group_type in ("consumer", "share", "streams")
    },
}
"""By type of the group."""


def raise_first(group_type: str, value: int, now: int | None = None) -> str:
    """Return what has to come before a session that is longer than brokers allow; nothing where they allow it.

    Args:
        group_type: of the group.
        value: the session timeout that is about to be advised.
        now: the one that members have: whoever has it was not refused, so that brokers allow at least that.

    Returns:
        A sentence with a blank behind it, or nothing.
    """
    bounds = SESSION_BOUNDS[group_type]
    if value <= max(bounds.most_ms, now or 0):
        return ""
    return f"Brokers allow no session longer than {bounds.most}: mend what takes so long, or raise that first. "


def least_ms(group_type: str, now: int | None = None) -> int:
    """Return the shortest session that may be advised: the one that members have, else the shortest by default."""
    return SESSION_BOUNDS[group_type].least_ms if now is None else now
