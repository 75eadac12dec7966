"""What happened to each group: generations, members, assignments, states and coordinators, and what clients saw."""

from __future__ import annotations

from schemas.columns import Entry
from schemas.table import Layer, TableSpec
from schemas.tables.gold.settled import SETTLED
from schemas.types import BINARY

_GENERATION_KEY = ("cluster", "group_id", "life", "generation")

BEGINS = ("preparing_at", "completing_at", "stable_at", "emptied_at")
"""Moments of a generation in the order in which they come: its rebalance began at the first that is known."""

GENERATIONS = TableSpec(
    Layer.GOLD,
    "generations",
    grain="one generation of one life of a classic group, or one epoch of any other",
    key=_GENERATION_KEY,
    columns=(
        *_GENERATION_KEY,
        "group_type",
        "protocol_type",
        "protocol",
        "leader_member_id",
        "preparing_at",
        "completing_at",
        "stable_at",
        "emptied_at",
        "ended_at",
        "outcome",
        "rebalance_ms",
        "trigger",
        "trigger_member_id",
        "trigger_client_id",
        "trigger_client_host",
        "reason",
        "client_reason",
        "is_subscription_changed",
        "member_count",
        "joined_member_ids",
        "departed_member_ids",
        "partitions_total",
        "partitions_moved",
        "assignor",
        "evidence",
        "is_inferred",
        "missing_before",
        "bump_count",
        *SETTLED,
    ),
    required=("group_type", "trigger", "evidence", "is_inferred", "missing_before", "bump_count", "is_settled"),
    notes={
        "generation": "generation of a classic group; group epoch of any other",
        "preparing_at": "join phase began; group epoch was bumped",
        "completing_at": "join phase ended, leader and members fixed; the targets were computed",
        "stable_at": "assignment stored; all members had got to their targets",
        "emptied_at": "join phase ended without members; the last member went",
        "ended_at": "when it left Stable or CompletingRebalance, or, if empty, Empty; of an epoch: the next bump; null "
        "while open",
    },
)

GENERATION_MEMBERS = TableSpec(
    Layer.GOLD,
    "generation_members",
    grain="one member of one generation",
    key=(*_GENERATION_KEY, "member_id"),
    columns=(
        *_GENERATION_KEY,
        "member_id",
        "group_type",
        "group_instance_id",
        "client_id",
        "client_host",
        "is_leader",
        "topics",
        "session_timeout_ms",
        "rebalance_timeout_ms",
        "partitions_assigned",
        "joined_at",
        "told_at",
        "replaces_member_id",
        "remembered_generation",
        "member_epoch",
        "member_protocol",
        "subscribed_regex",
        "rack_id",
        "topology_epoch",
        "process_id",
        "user_endpoint",
        "client_tags",
        "changed_at",
        *SETTLED,
    ),
    required=("group_type", "is_settled"),
    notes={
        "is_leader": "the member leads the generation; null in groups without leaders",
        "topics": "topics the member subscribed to, and those that its regular expression was resolved to",
        "subscribed_regex": "regular expression that a member of a consumer group subscribes to; null = none",
        "rack_id": "rack that a member of a consumer, share or streams group says it is in; null = it says none",
    },
)

ASSIGNMENTS = TableSpec(
    Layer.GOLD,
    "assignments",
    grain="one partition that one member had in one generation",
    key=(*_GENERATION_KEY, "member_id", "topic", "partition", "hold"),
    columns=(
        *_GENERATION_KEY,
        "member_id",
        "topic",
        "partition",
        "hold",
        "group_type",
        "role",
        "group_instance_id",
        "client_id",
        "client_host",
        "valid_from",
        "valid_to",
        *SETTLED,
    ),
    required=("group_type", "is_settled"),
    notes={
        "generation": "generation of a classic group; epoch of the member in any other",
        "topic": "topic; where the name of its id is not known, the id; of a streams task its subtopology",
    },
)

TRANSITIONS = TableSpec(
    Layer.GOLD,
    "transitions",
    grain="one change of state of a group",
    key=("cluster", "group_id", "life", "seq"),
    columns=(
        "cluster",
        "group_id",
        "life",
        "seq",
        "group_type",
        "at",
        "from_state",
        "to_state",
        "event",
        "generation",
        "member_id",
        "source",
        "is_inferred",
        *SETTLED,
    ),
    required=("group_type", "to_state", "event", "is_inferred", "is_settled"),
    notes={
        "generation": "generation of the group after the change",
        "member_id": "member whose request or timer caused it",
        "source": "evidence that shows it: offsets, broker_log, request_log, or timer",
    },
)

MEMBER_SESSIONS = TableSpec(
    Layer.GOLD,
    "member_sessions",
    grain="one stay of a member in a group",
    key=("cluster", "group_id", "life", "member_id", "stay"),
    columns=(
        "cluster",
        "group_id",
        "life",
        "member_id",
        "stay",
        "group_type",
        "group_instance_id",
        "client_id",
        "client_host",
        "joined_at",
        "ended_at",
        "end_cause",
        "first_generation",
        "last_generation",
        "previous_member_id",
        *SETTLED,
    ),
    required=("group_type", "is_settled"),
)

COORDINATORS = TableSpec(
    Layer.GOLD,
    "coordinators",
    grain="one stretch of time in which one broker coordinated one group from one partition",
    key=(),
    columns=(
        "cluster",
        "group_id",
        "observed_partition",
        "computed_partition",
        "agrees",
        "broker",
        "epoch",
        "from_at",
        "to_at",
        *SETTLED,
    ),
    required=("cluster", "group_id", "computed_partition", "is_settled"),
    notes={
        "agrees": "observed and computed partition are the same; false = the offsets topic was expanded: what the "
        "group committed there its coordinator does not see"
    },
)

CLIENT_TIMELINE = TableSpec(
    Layer.GOLD,
    "client_timeline",
    grain="one fact in a consumer's own log, beside what the coordinator knows of the generation and member it names",
    key=("cluster", "source_file", "line_number"),
    columns=(
        "cluster",
        "source_file",
        "line_number",
        "host",
        "logged_at",
        "client_id",
        "group_id",
        "group_instance_id",
        "life",
        "generation",
        "member_id",
        "event",
        "client_state",
        "reason",
        "partitions",
        "broker_state",
        "told_at",
        "end_cause",
    ),
    required=("group_id", "event"),
    notes={
        "logged_at": "time printed in the line: the client's clock, never compared with the broker's",
        "life": "life that has the generation and member; null where the line names neither, or several lives fit",
        "generation": "generation that the line names; null where it names none",
        "member_id": "member that the line names; null where it names none",
        "reason": "reason as the client logged it",
        "told_at": "when the broker first answered the member's SyncGroup of the generation, or led it to the "
        "epoch, by the broker's clock",
        "end_cause": "why the coordinator ended the member's stay; null = still in, or not known",
    },
)

REPLAY_SNAPSHOTS = TableSpec(
    Layer.GOLD,
    "replay_snapshots",
    grain="the replay of one group as it stood at one moment, to go on from",
    key=("cluster", "group_id", "at"),
    columns=(
        *("cluster", "group_id", "at"),
        *("version", "state", "size_bytes"),
        *("taken_until", "seen_until", "awaits_records"),
    ),
    required=("version", "state", "size_bytes"),
    notes={"at": "moment up to which all evidence is in the state"},
    own={"state": Entry(BINARY, "the state, as `transforms.coordinator.state` writes it")},
)
