"""Silver: bronze decoded and parsed, and what could not be."""

from __future__ import annotations

from schemas.table import Layer, TableSpec

_RECORD_KEY = ("cluster", "topic_partition_of_record", "record_offset")
_LINE_KEY = ("cluster", "source_file", "line_number")

OFFSET_COMMITS = TableSpec(
    Layer.SILVER,
    "offset_commits",
    grain="one OffsetCommit record (types 0 and 1), tombstones included",
    key=_RECORD_KEY,
    columns=(
        *_RECORD_KEY,
        "recorded_at",
        "group_id",
        "topic",
        "partition",
        "committed_offset",
        "leader_epoch",
        "metadata",
        "committed_at",
        "expires_at",
        "topic_id",
        "is_tombstone",
        "value_version",
        "producer_id",
        "txn_state",
        "loaded_at",
    ),
    required=("group_id", "topic", "partition", "is_tombstone", "txn_state", "loaded_at"),
)

GROUP_METADATA = TableSpec(
    Layer.SILVER,
    "group_metadata",
    grain="one GroupMetadata record (type 2) of a classic group, tombstones included",
    key=_RECORD_KEY,
    columns=(
        *_RECORD_KEY,
        "group_id",
        "is_tombstone",
        "generation",
        "protocol_type",
        "protocol",
        "leader_member_id",
        "state_changed_at",
        "recorded_at",
        "value_version",
        "members",
        "loaded_at",
    ),
    required=("group_id", "is_tombstone", "loaded_at"),
)

MODERN_GROUP_RECORDS = TableSpec(
    Layer.SILVER,
    "modern_group_records",
    grain="one record of a consumer (KIP-848), share or streams group (types 3 to 23)",
    key=_RECORD_KEY,
    columns=(
        *_RECORD_KEY,
        "group_id",
        "record_type",
        "record_name",
        "member_id",
        "regular_expression",
        "is_tombstone",
        "value_version",
        "recorded_at",
        "body",
        "loaded_at",
    ),
    required=("group_id", "record_type", "record_name", "is_tombstone", "loaded_at"),
)

COORDINATOR_EVENTS = TableSpec(
    Layer.SILVER,
    "coordinator_events",
    grain="one fact about a group, or about a coordinator (group_id null), in a broker's log; a line that names "
    "several groups gives one row for each",
    key=(*_LINE_KEY, "seq"),
    columns=(
        *_LINE_KEY,
        "seq",
        "broker",
        "logged_at",
        "event",
        "group_id",
        "generation",
        "member_id",
        "group_instance_id",
        "state",
        "reason",
        "client_reason",
        "member_count",
        "topic_partition_of_group",
        "dialect",
        "attributes",
        "loaded_at",
    ),
    required=("broker", "event", "loaded_at"),
    notes={"seq": "number of the fact within its line, from 0"},
)

GROUP_REQUESTS = TableSpec(
    Layer.SILVER,
    "group_requests",
    grain="one request to a group coordinator with its answer; a DeleteGroups gives one row for each group",
    key=(*_LINE_KEY, "seq"),
    columns=(
        *_LINE_KEY,
        "seq",
        "broker",
        "received_at",
        "handled_at",
        "answered_at",
        "api",
        "api_version",
        "group_id",
        "member_id",
        "answered_member_id",
        "group_instance_id",
        "generation",
        "answered_generation",
        "error_code",
        "error",
        "client_id",
        "client_host",
        "client_software",
        "connection",
        "correlation_id",
        "parked_ms",
        "session_timeout_ms",
        "rebalance_timeout_ms",
        "protocol_type",
        "protocol",
        "protocols",
        "reason",
        "answered_protocol",
        "answered_leader",
        "answered_members",
        "assignments",
        "answered_assignment",
        "leaving_members",
        "partition_errors",
        "sent_offsets",
        "loaded_at",
    ),
    required=("broker", "answered_at", "api", "group_id", "error_code", "error", "loaded_at"),
    notes={
        "seq": "number of the group within its request, from 0",
        "member_id": "member id as sent; the first one of a LeaveGroup",
        "generation": "generation or member epoch as sent",
        "protocol_type": "protocol type as sent",
        "protocol": "protocol name as sent in a SyncGroup",
        "reason": "reason as sent (KIP-800)",
    },
)

CLIENT_EVENTS = TableSpec(
    Layer.SILVER,
    "client_events",
    grain="one fact in a consumer's own log",
    key=_LINE_KEY,
    columns=(
        *_LINE_KEY,
        "host",
        "logged_at",
        "client_id",
        "group_id",
        "group_instance_id",
        "event",
        "generation",
        "member_id",
        "client_state",
        "partitions",
        "reason",
        "api",
        "error",
        "client_software",
        "loaded_at",
    ),
    required=("event", "loaded_at"),
    notes={
        "group_id": "consumer group; null where the line names none",
        "api": "API of the request that the line is about; null where it does not tell",
        "error": "Kafka's name of the error that the line tells of",
        "client_software": "library whose line it is, see schemas.client_events.LIBRARIES",
    },
)

TOPIC_NAMES = TableSpec(
    Layer.SILVER,
    "topic_names",
    grain="one topic id that a record names",
    key=("cluster", "topic_id"),
    columns=("cluster", "topic_id", "topic", "loaded_at"),
    required=("topic", "loaded_at"),
)

REJECTED = TableSpec(
    Layer.SILVER,
    "rejected",
    grain="one thing that could not be read, with its bytes",
    key=("cluster", "source", "position"),
    columns=("cluster", "source", "position", "reason_code", "detail", "raw", "seen_at"),
    required=("reason_code", "seen_at"),
)

TABLES = (
    OFFSET_COMMITS,
    GROUP_METADATA,
    MODERN_GROUP_RECORDS,
    COORDINATOR_EVENTS,
    GROUP_REQUESTS,
    CLIENT_EVENTS,
    TOPIC_NAMES,
    REJECTED,
)
