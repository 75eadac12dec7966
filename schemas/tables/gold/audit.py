"""What the replay is worth: its predictions beside the answers of the broker."""

from __future__ import annotations

from schemas.table import Layer, TableSpec
from schemas.tables.gold.settled import SETTLED

REPLAY_AUDIT = TableSpec(
    Layer.GOLD,
    "replay_audit",
    grain="one request to a group, its answer and the replayed state machine's",
    key=("cluster", "source_file", "line_number", "seq"),
    columns=(
        "cluster",
        "source_file",
        "line_number",
        "seq",
        "at",
        "handled_at",
        "broker",
        "api",
        "group_id",
        "group_type",
        "member_id",
        "state_before",
        "observed_error",
        "predicted_error",
        "observed_generation",
        "predicted_generation",
        "is_assignment_agreed",
        "agrees",
        "is_answer_used",
        "why",
        *SETTLED,
    ),
    required=("at", "broker", "api", "group_id", "group_type", "observed_error", "is_answer_used", "is_settled"),
    notes={
        "at": "when the answer had been sent",
        "seq": "number of the group within its request, from 0",
        "member_id": "member id as sent",
    },
)

AUDIT_COUNTS = TableSpec(
    Layer.GOLD,
    "audit_counts",
    grain="the audited requests of one API to one group in one hour",
    key=("cluster", "group_id", "api", "hour_at"),
    columns=(
        "cluster",
        "group_id",
        "api",
        "hour_at",
        "request_count",
        "agree_count",
        "differ_count",
        "unpredicted_count",
        "race_count",
        "answer_used_count",
        *SETTLED,
    ),
    required=(
        "request_count",
        "agree_count",
        "differ_count",
        "unpredicted_count",
        "race_count",
        "answer_used_count",
        "is_settled",
    ),
    notes={"agree_count": "agreements, races and answers used among them"},
)
