"""How each group is now."""

from __future__ import annotations

from schemas.columns import Entry
from schemas.table import Layer, TableSpec
from schemas.types import STRING
from schemas.words import GROUP_STATES

GROUP_HEALTH = TableSpec(
    Layer.GOLD,
    "group_health",
    grain="one group, as it is at the newest time in the data of its cluster",
    key=("cluster", "group_id"),
    columns=(
        "cluster",
        "group_id",
        "at",
        "group_type",
        "life",
        "state",
        "entered_at",
        "generation",
        "member_count",
        "orphaned_partition_count",
        "orphaned_since",
        "hour_rebalance_count",
        "day_rebalance_count",
        "week_rebalance_count",
        "hour_unstable_ms",
        "day_unstable_ms",
        "week_unstable_ms",
        "last_rebalance_at",
        "last_storm_started_at",
        "last_storm_ended_at",
        "last_storm_pattern",
        "is_last_storm_open",
        "last_burst_error",
        "last_burst_started_at",
        "last_burst_cause",
        "commit_interval_ms",
        "has_assignments",
        "has_commits",
        "offsets_kept_by",
        "evidence",
    ),
    required=(
        "at",
        "hour_rebalance_count",
        "day_rebalance_count",
        "week_rebalance_count",
        "hour_unstable_ms",
        "day_unstable_ms",
        "week_unstable_ms",
        "has_assignments",
        "has_commits",
        "evidence",
    ),
    notes={
        "at": "the newest time in the data of the cluster: what now is, in this row",
        "life": "the group's last life; null where it was never seen with members",
        "generation": "generation of the group now",
        "member_count": "members of the group now",
    },
    own={"state": Entry(STRING, "state of the group now; null = nothing but offsets is known of it", GROUP_STATES)},
)
