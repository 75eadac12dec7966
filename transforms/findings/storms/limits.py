"""From when on rebalances are a storm, and how bad one is: thresholds, which may differ from group to group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.words import SEVERITIES
from transforms.findings.storms.group_patterns import fits


@dataclass(frozen=True, slots=True)
class StormLimits:
    """The thresholds for one group.

    There is no standard for severities. Ten rebalances a minute and one every 30 s are limits that operators alert on;
    half of the time without an assignment means that the group spends more time on sharing out the work than on doing
    it. A storm is as severe as the worst limit that it reaches.

    Attributes:
        window_ms: longest stormy interval, both ends included.
        min_rebalances: fewest rebalances of a stormy interval.
        warning_ratio: share of the storm without a stable assignment, from which on it is a warning.
        warning_gap_ms: mean time from one rebalance to the next, up to which it is a warning.
        critical_ratio: likewise, critical.
        critical_gap_ms: likewise, critical.
    """

    window_ms: int = 600_000
    min_rebalances: int = 5
    warning_ratio: float = 0.1
    warning_gap_ms: int = 30_000
    critical_ratio: float = 0.5
    critical_gap_ms: int = 6_000

    def __post_init__(self) -> None:
        """Refuse thresholds that are out of their range."""
        if self.window_ms < 0 or self.min_rebalances < 1:
            raise ValueError(
                f"window_ms {self.window_ms} must be 0 or more, min_rebalances {self.min_rebalances} 1 or more"
            )

    def severity(self, unstable_ratio: float | None, mean_gap_ms: float | None) -> str:
        """Return how bad a storm is; one that reaches no limit has the mildest severity."""
        mildest, warning, critical = SEVERITIES
        for name, ratio, gap_ms in (
            (critical, self.critical_ratio, self.critical_gap_ms),
            (warning, self.warning_ratio, self.warning_gap_ms),
        ):
            if unstable_ratio is not None and unstable_ratio >= ratio:
                return name
            if mean_gap_ms is not None and mean_gap_ms <= gap_ms:
                return name
        return mildest


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The thresholds for all groups.

    Attributes:
        usual: of most groups.
        of_groups: by pattern of group ids, as a shell matches file names; the first that fits holds.
    """

    usual: StormLimits = StormLimits()
    of_groups: Mapping[str, StormLimits] = field(default_factory=dict)

    def of(self, group_id: str) -> StormLimits:
        """Return the thresholds for a group."""
        return next((limits for pattern, limits in self.of_groups.items() if fits(pattern, group_id)), self.usual)
