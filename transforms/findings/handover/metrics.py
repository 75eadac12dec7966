"""The metrics that are handed over to Prometheus: the one table of their names, labels and meanings.

All are gauges: a finding can go again when evidence comes late, and a run looks at windows that move on. So no name
ends in `_total`. Times are seconds, moments seconds of the epoch. Labels take words out of closed vocabularies, but for
`cluster`, of which a file has one, and `group`, of which there are as many as `findings.named_groups` allows.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "rebalance_"


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        name: name, with its unit.
        labels: names of its labels, beside `cluster`.
        meaning: what its value says, in one line.
    """

    name: str
    labels: tuple[str, ...]
    meaning: str


FINDINGS = Metric("rebalance_findings", ("kind",), "Findings of the last findings.days days, older ones while open")
FINDINGS_OPEN = Metric("rebalance_findings_open", ("kind",), "Findings that are not over where the data ends")
FINDINGS_NEW = Metric("rebalance_findings_new", ("kind",), "Findings that the last hand-over had and none before it")
STORMS_OPEN = Metric("rebalance_storms_open", ("severity", "pattern"), "Rebalance storms that are not over")
BURSTS_OPEN = Metric("rebalance_bursts_open", ("error", "cause"), "Bursts of fencing errors that are not over")
GROUP_STORM_OPEN = Metric(
    "rebalance_group_storm_open",
    ("group", "severity", "pattern", "trigger"),
    "1 for a group in a rebalance storm that is not over",
)
GROUP_STORM_STARTED = Metric(
    "rebalance_group_storm_started_timestamp_seconds", ("group",), "Begin of the open storm of a group"
)
GROUP_STORM_REBALANCES = Metric(
    "rebalance_group_storm_rebalances", ("group",), "Rebalances in the open storm of a group"
)
GROUP_STORM_UNSTABLE = Metric(
    "rebalance_group_storm_unstable_seconds",
    ("group",),
    "Time without a stable assignment in the open storm of a group",
)
GROUP_BURST_OPEN = Metric(
    "rebalance_group_burst_open",
    ("group", "error", "cause"),
    "1 for a group with a burst of fencing errors that is not over",
)
GROUP_BURST_ERRORS = Metric("rebalance_group_burst_errors", ("group", "error"), "Errors in the open burst of a group")
ORPHANED = Metric(
    "rebalance_orphaned_partitions",
    ("type",),
    "Partitions that targets of Stable groups give to members and nobody has",
)
GROUP_ORPHANED = Metric(
    "rebalance_group_orphaned_partitions", ("group",), "Partitions of a Stable group that nobody has"
)
GROUP_ORPHANED_SINCE = Metric(
    "rebalance_group_orphaned_since_timestamp_seconds",
    ("group",),
    "Since when nobody has the one of a group's partitions that nobody has had longest",
)
GROUPS_NOT_NAMED = Metric(
    "rebalance_groups_not_named",
    (),
    "Groups with an open storm or burst, or partitions that nobody has, beyond findings.named_groups",
)
GROUPS = Metric("rebalance_groups", ("type", "state"), "Groups by type and state")
REBALANCES = Metric(
    "rebalance_rebalances", ("window",), "Rebalances of all groups in the window before the newest data"
)
UNSTABLE = Metric(
    "rebalance_unstable_seconds",
    ("window",),
    "Time without a stable assignment, all groups, in the window before the newest data",
)
NEWEST_DATA = Metric("rebalance_newest_data_timestamp_seconds", (), "Newest moment that any source has spoken of")
HORIZON = Metric(
    "rebalance_horizon_timestamp_seconds", (), "Moment before which all sources have spoken, and rows are settled"
)
LAST_RUN = Metric("rebalance_last_run_timestamp_seconds", (), "When the last run ended, however it did")
LAST_RUN_DURATION = Metric("rebalance_last_run_duration_seconds", (), "How long the last run took")
LAST_RUN_EXIT_CODE = Metric(
    "rebalance_last_run_exit_code",
    (),
    "How the last run ended: 0 done, 1 a bug, 2 bad settings, 3 quality gate failed, 4 source or lake not reached, "
    "130 interrupted",
)
LAST_SUCCESS = Metric("rebalance_last_success_timestamp_seconds", (), "When the last run ended that was done")

METRICS = (
    FINDINGS,
    FINDINGS_OPEN,
    FINDINGS_NEW,
    STORMS_OPEN,
    BURSTS_OPEN,
    GROUP_STORM_OPEN,
    GROUP_STORM_STARTED,
    GROUP_STORM_REBALANCES,
    GROUP_STORM_UNSTABLE,
    GROUP_BURST_OPEN,
    GROUP_BURST_ERRORS,
    ORPHANED,
    GROUP_ORPHANED,
    GROUP_ORPHANED_SINCE,
    GROUPS_NOT_NAMED,
    GROUPS,
    REBALANCES,
    UNSTABLE,
    NEWEST_DATA,
    HORIZON,
    LAST_RUN,
    LAST_RUN_DURATION,
    LAST_RUN_EXIT_CODE,
    LAST_SUCCESS,
)
"""All metrics, in the order in which they stand in the file."""

OF_RUN = (LAST_RUN, LAST_RUN_DURATION, LAST_RUN_EXIT_CODE, LAST_SUCCESS)
"""Those that tell of the run itself, and not of what it found."""
