"""What was found in the timelines."""

from __future__ import annotations

from schemas.columns import Entry
from schemas.table import Layer, TableSpec
from schemas.types import STRING
from schemas.words import COMMIT_GAPS as COMMIT_GAP_KINDS
from schemas.words import OFFSET_STEPS

_GENERATION_KEY = ("cluster", "group_id", "life", "generation")

REBALANCE_STORMS = TableSpec(
    Layer.GOLD,
    "rebalance_storms",
    grain="one storm: overlapping or touching runs of too many rebalances of one group in one window",
    key=("cluster", "group_id", "started_at"),
    columns=(
        "cluster",
        "group_id",
        "started_at",
        "ended_at",
        "rebalance_count",
        "first_generation",
        "last_generation",
        "peak_count",
        "unstable_ms",
        "unstable_ratio",
        "triggers",
        "main_trigger",
        "main_client_id",
        "main_client_host",
        "main_client_software",
        "pattern",
        "pattern_share",
        "is_open",
        "open_until",
        "unowned_ms",
        "partitions_moved",
        "partitions_moved_back",
        "refused_commit_count",
        "severity",
        "advice",
        "evidence",
    ),
    required=(
        "ended_at",
        "rebalance_count",
        "main_trigger",
        "pattern",
        "pattern_share",
        "is_open",
        "severity",
        "advice",
        "evidence",
    ),
    notes={
        "open_until": "a rebalance until then would be one more of the storm",
        "partitions_moved": "moves of partitions to another owner, summed over the generations of the storm; in modern "
        "groups, from one that held them to the next, but in share groups by what the targets give",
        "partitions_moved_back": "of these, to an earlier owner within the storm; null in share groups",
    },
)

ILLEGAL_GENERATION_BURSTS = TableSpec(
    Layer.GOLD,
    "illegal_generation_bursts",
    grain="one run of requests of one group answered with one fencing error",
    key=("cluster", "group_id", "error", "started_at"),
    columns=(
        "cluster",
        "group_id",
        "error",
        "started_at",
        "ended_at",
        "error_count",
        "apis",
        "member_ids",
        "client_ids",
        "stale_generation_min",
        "stale_generation_max",
        "current_generation",
        "fenced_by_life",
        "fenced_by_generation",
        "behind_count",
        "zombie_ms",
        "lost_commit_count",
        "reread_count",
        "is_open",
        "open_until",
        "suspected_cause",
        "advice",
        "evidence",
    ),
    required=("ended_at", "error_count", "lost_commit_count", "is_open", "suspected_cause", "advice", "evidence"),
    own={"evidence": Entry(STRING, "what the refusals were seen in", ("request_log", "client_log", "broker_log"))},
    notes={
        "error": "the fencing error that the requests were answered with, or that clients spared themselves: who knows "
        "that it is out refuses its commits itself (evidence 'client_log')",
        "open_until": "a refusal until then would be one more of the burst; null where its cause hangs on whether a "
        "session ends by then",
    },
)

OFFSET_REWINDS = TableSpec(
    Layer.GOLD,
    "offset_rewinds",
    grain="one commit, or deletion, that moved a partition's committed offset back, far forward, or away",
    key=("cluster", "topic_partition_of_record", "record_offset"),
    columns=(
        "cluster",
        "topic_partition_of_record",
        "record_offset",
        "group_id",
        "topic",
        "partition",
        "at",
        "from_offset",
        "to_offset",
        "kind",
        "origin",
        "member_id",
        "client_id",
        "generation",
        "is_at_rebalance",
    ),
    required=("group_id", "topic", "partition", "from_offset", "kind", "origin"),
    notes={
        "member_id": "member that committed; null where none did, or it is not known",
        "generation": "generation that committed; -1 = nobody's: a tool, or a consumer with assign()",
    },
    own={"kind": Entry(STRING, "back, far forward, or gone", OFFSET_STEPS)},
)

COMMIT_GAPS = TableSpec(
    Layer.GOLD,
    "commit_gaps",
    grain="one partition of one generation that misses commits: its owner made none, or the one before it lost one",
    key=(*_GENERATION_KEY, "topic", "partition"),
    columns=(
        *_GENERATION_KEY,
        "topic",
        "partition",
        "member_id",
        "client_id",
        "last_commit_at",
        "first_commit_at",
        "owned_ms",
        "kind",
        "refused_at",
    ),
    required=("member_id", "kind"),
    notes={"member_id": "owner in this generation", "client_id": "client.id of the owner"},
    own={"kind": Entry(STRING, "the owner is silent, or a commit was lost on the way to it", COMMIT_GAP_KINDS)},
)

SLOW_REVOKERS = TableSpec(
    Layer.GOLD,
    "slow_revokers",
    grain="one stretch of time in which one member held a rebalance up: it was to give partitions up, and did not for "
    "too long",
    key=("cluster", "group_id", "member_id", "started_at"),
    columns=(
        "cluster",
        "group_id",
        "life",
        "generation",
        "group_type",
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "started_at",
        "ended_at",
        "held_up_ms",
        "rebalance_timeout_ms",
        "partition_count",
        "partitions",
        "waiting_member_ids",
        "end_cause",
        "is_open",
        "advice",
    ),
    required=("group_type", "held_up_ms", "partition_count", "is_open", "advice"),
    notes={
        "generation": "epoch of the group by then: the target for which they were taken away",
        "started_at": "when the member was to give them up",
        "ended_at": "when it had, or was gone; null where the data end before",
        "partitions": "what it was to give up, as topic-partition; of tasks with the subtopology for the topic",
        "waiting_member_ids": "members that were to have some of them, and waited; none where none asked before "
        "it was over",
        "end_cause": "how its membership ended and it never gave them up; null: it did, or the data end before",
    },
)
"""Stretches of `gold.reconciliations` that lasted too long, each with what it meant for others."""

STANDING_COMMITS = TableSpec(
    Layer.GOLD,
    "standing_commits",
    grain="one commit that, with others, stands for all: what later ones are compared with, and health is told from",
    key=("cluster", "topic_partition_of_record", "record_offset"),
    columns=(
        "cluster",
        "topic_partition_of_record",
        "record_offset",
        "recorded_at",
        "group_id",
        "topic",
        "partition",
        "committed_offset",
        "is_tombstone",
        "txn_state",
    ),
    required=("group_id", "topic", "partition", "is_tombstone", "txn_state"),
)
