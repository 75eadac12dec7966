"""A group's evidence out of the folder of a capture, without a lake."""

from __future__ import annotations

from pathlib import Path

from tests.support.pure_pipeline import Row, run_pipeline
from transforms.whatif.evidence import Evidence, evidence


def evidence_of(folder: Path, group: str) -> Evidence:
    """Gather what an unpacked capture holds of a group."""
    tables = run_pipeline(folder)

    def of_group(table: str) -> list[Row]:
        return [row for row in tables[table] if row["group_id"] == group]

    return evidence(
        of_group("generations"),
        of_group("generation_members"),
        of_group("assignments"),
        of_group("member_sessions"),
        of_group("group_requests"),
        [row for row in tables["coordinator_events"] if row["group_id"] in (group, None)],
    )
