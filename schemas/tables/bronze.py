"""Bronze: raw input with its provenance, append-only."""

from __future__ import annotations

from schemas.table import Layer, TableSpec

OFFSETS_RECORDS = TableSpec(
    Layer.BRONZE,
    "offsets_records",
    grain="one record of __consumer_offsets",
    key=("cluster", "topic_partition", "record_offset"),
    columns=(
        "cluster",
        "topic_partition",
        "record_offset",
        "recorded_at",
        "key",
        "value",
        "producer_id",
        "producer_epoch",
        "is_transactional",
        "control_type",
        "source",
        "loaded_at",
    ),
    required=("loaded_at",),
)

LOG_LINES = TableSpec(
    Layer.BRONZE,
    "log_lines",
    grain="one entry of a log, of those that `logs.keep` wants: a line and the lines that belong to it",
    key=("cluster", "source_file", "line_number"),
    columns=("cluster", "broker", "source_file", "line_number", "logged_at", "text", "loaded_at"),
    required=("broker", "text", "loaded_at"),
)

TABLES = (OFFSETS_RECORDS, LOG_LINES)
