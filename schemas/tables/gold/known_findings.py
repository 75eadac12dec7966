"""Which findings have been seen, since when, and under which id."""

from __future__ import annotations

from schemas.table import Layer, TableSpec

KNOWN_FINDINGS = TableSpec(
    Layer.GOLD,
    "known_findings",
    grain="one finding that some run has seen, whether it still stands or not",
    key=("cluster", "finding_id"),
    columns=(
        "cluster",
        "finding_id",
        "finding_kind",
        "group_id",
        "about",
        "started_at",
        "ended_at",
        "first_seen_at",
    ),
    required=("finding_kind", "group_id", "about", "first_seen_at"),
    notes={"started_at": "begin, as the last run had it", "ended_at": "end, as the last run had it"},
)
