"""What the findings of a run come to in numbers: the samples of the metrics."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from schemas.words import FINDING_KINDS, GROUP_TYPES, SEVERITIES
from transforms.findings.handover import metrics as m
from transforms.findings.handover.kinds import BURST, REVOKER, STORM, Kind
from transforms.findings.handover.metrics import Metric

Row = Mapping[str, Any]

WINDOWS = {"1h": "hour", "1d": "day", "7d": "week"}
"""The windows of `gold.group_health`, as a label has them."""

_WITH_TARGETS = tuple(name for name in GROUP_TYPES if name != "classic")
"""Types of groups that have targets, which members take step by step."""

_LASTING = (STORM, BURST, REVOKER)
"""Kinds of which a finding can be open."""


class Tally:
    """Counts findings as they come by.

    Args:
        named_groups: how many groups at most are named; the others are only counted.
    """

    def __init__(self, named_groups: int) -> None:
        self._named_groups = named_groups
        self._all: Counter[str] = Counter()
        self._new: Counter[str] = Counter()
        self._open: Counter[str] = Counter()
        self._storms: dict[str, Row] = {}
        self._bursts: dict[tuple[str, str], Row] = {}
        self._orphans: dict[str, Row] = {}
        self._storms_open: Counter[tuple[str, ...]] = Counter()
        self._bursts_open: Counter[tuple[str, ...]] = Counter()

    def add(self, kind: Kind, row: Row, is_new: bool) -> None:
        """Count a finding; of a group's open storms, and of its open bursts of one error, the last one is named."""
        self._all[kind.name] += 1
        self._new[kind.name] += is_new
        if not row.get("is_open"):
            return
        self._open[kind.name] += 1
        if kind is STORM:
            self._storms_open[row["severity"], row["pattern"]] += 1
            _keep_last(self._storms, row["group_id"], row)
        elif kind is BURST:
            self._bursts_open[row["error"], row["suspected_cause"]] += 1
            _keep_last(self._bursts, (row["group_id"], row["error"]), row)

    def add_orphans(self, row: Row) -> None:
        """Take down what nobody has in a group, a row of `transforms.gold.orphaned_partitions`; moments as epoch ms."""
        self._orphans[row["group_id"]] = row

    @property
    def new_count(self) -> int:
        """Findings that are new."""
        return self._new.total()

    def families(self) -> dict[Metric, dict[tuple[str, ...], float]]:
        """Return the samples. What can be counted and is not there is 0, so that an alert sees it go."""
        groups = self._groups()
        named = set(groups[: self._named_groups])
        return {
            m.FINDINGS: {(kind,): self._all[kind] for kind in FINDING_KINDS},
            m.FINDINGS_OPEN: {(kind.name,): self._open[kind.name] for kind in _LASTING},
            m.FINDINGS_NEW: {(kind,): self._new[kind] for kind in FINDING_KINDS},
            m.STORMS_OPEN: dict(self._storms_open),
            m.BURSTS_OPEN: dict(self._bursts_open),
            **self._of_storms(named),
            **self._of_bursts(named),
            **self._of_orphans(named),
            m.GROUPS_NOT_NAMED: {(): len(groups) - len(named)},
        }

    def _groups(self) -> list[str]:
        """Groups with anything open, the worst ones first, and among equals those whose trouble began last."""
        worst: dict[str, tuple[int, float]] = defaultdict(lambda: (-1, 0.0))
        for (group, _), row in self._bursts.items():
            worst[group] = max(worst[group], (SEVERITIES.index("warning"), row["started_at"]))
        for group, row in self._storms.items():
            worst[group] = max(worst[group], (SEVERITIES.index(row["severity"]), row["started_at"]))
        for group, row in self._orphans.items():
            worst[group] = max(worst[group], (SEVERITIES.index("info"), row["orphaned_since"]))
        return sorted(worst, key=lambda group: (worst[group], group), reverse=True)

    def _of_storms(self, named: set[str]) -> dict[Metric, dict[tuple[str, ...], float]]:
        storms = {group: row for group, row in self._storms.items() if group in named}
        return {
            m.GROUP_STORM_OPEN: {
                (group, row["severity"], row["pattern"], row["main_trigger"]): 1 for group, row in storms.items()
            },
            m.GROUP_STORM_STARTED: {(group,): row["started_at"] / 1000 for group, row in storms.items()},
            m.GROUP_STORM_REBALANCES: {(group,): row["rebalance_count"] for group, row in storms.items()},
            m.GROUP_STORM_UNSTABLE: {
                (group,): row["unstable_ms"] / 1000 for group, row in storms.items() if row["unstable_ms"] is not None
            },
        }

    def _of_bursts(self, named: set[str]) -> dict[Metric, dict[tuple[str, ...], float]]:
        bursts = {key: row for key, row in self._bursts.items() if key[0] in named}
        return {
            m.GROUP_BURST_OPEN: {(*key, row["suspected_cause"]): 1 for key, row in bursts.items()},
            m.GROUP_BURST_ERRORS: {key: row["error_count"] for key, row in bursts.items()},
        }

    def _of_orphans(self, named: set[str]) -> dict[Metric, dict[tuple[str, ...], float]]:
        counts = dict.fromkeys(_WITH_TARGETS, 0)
        for row in self._orphans.values():
            counts[row["group_type"]] += row["orphaned_partition_count"]
        orphans = {group: row for group, row in self._orphans.items() if group in named}
        return {
            m.ORPHANED: {(name,): count for name, count in counts.items()},
            m.GROUP_ORPHANED: {(group,): row["orphaned_partition_count"] for group, row in orphans.items()},
            m.GROUP_ORPHANED_SINCE: {(group,): row["orphaned_since"] / 1000 for group, row in orphans.items()},
        }


def of_groups(rows: Sequence[Row]) -> dict[Metric, dict[tuple[str, ...], float]]:
    """Return what the health of all groups comes to.

    Args:
        rows: one for each type and state of groups: group_type, state, group_count, and the sums of health's
            `…_rebalance_count` and `…_unstable_ms`.
    """
    windows = WINDOWS.items()
    return {
        m.GROUPS: {(row["group_type"] or "unknown", row["state"] or "unknown"): row["group_count"] for row in rows},
        m.REBALANCES: {(label,): sum(row[f"{name}_rebalance_count"] for row in rows) for label, name in windows},
        m.UNSTABLE: {(label,): sum(row[f"{name}_unstable_ms"] for row in rows) / 1000 for label, name in windows},
    }


def of_freshness(newest_data: float | None, horizon: float | None) -> dict[Metric, dict[tuple[str, ...], float]]:
    """Return how far the data reach (epoch ms); what is not known has no sample."""
    known = {m.NEWEST_DATA: newest_data, m.HORIZON: horizon}
    return {metric: {} if at is None or not isfinite(at) else {(): at / 1000} for metric, at in known.items()}


def of_run(started_at: float, ended_at: float, exit_code: int) -> dict[Metric, dict[tuple[str, ...], float]]:
    """Return how a run ended (moments in seconds of the epoch); one that was not done leaves the last success alone."""
    told: dict[Metric, dict[tuple[str, ...], float]] = {
        m.LAST_RUN: {(): round(ended_at, 3)},
        m.LAST_RUN_DURATION: {(): round(ended_at - started_at, 3)},
        m.LAST_RUN_EXIT_CODE: {(): exit_code},
    }
    return told if exit_code else {**told, m.LAST_SUCCESS: {(): round(ended_at, 3)}}


def _keep_last(kept: dict[Any, Row], key: Any, row: Row) -> None:
    if key not in kept or kept[key]["started_at"] < row["started_at"]:
        kept[key] = row
