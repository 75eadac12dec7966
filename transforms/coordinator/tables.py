"""What a replay found, as rows of the gold tables.

Times are epoch ms as whole numbers; rows carry every column of their table but `cluster`. Sources of the meanings:
the column dictionary and the notes of the tables in `schemas`.
"""

from __future__ import annotations

from typing import Any

from transforms.coordinator.facts import EVIDENCE_OF
from transforms.coordinator.generation_rows import Chain, whole
from transforms.coordinator.replaying import Replay
from transforms.coordinator.session_rows import session_rows

TableRows = dict[str, list[dict[str, Any]]]


def rows_of(replay: Replay) -> TableRows:
    """Return a group's rows for every gold table but the coordinators'."""
    group_id = replay.machine.group_id
    generations: list[dict[str, Any]] = []
    members: list[dict[str, Any]] = []
    assignments: list[dict[str, Any]] = []
    for life in sorted({life for life, _ in replay.timeline.generations}):
        chain = Chain(replay.timeline, life)
        for row in replay.timeline.of_life(life):
            if not row.facts.sources:
                continue
            generations.append(chain.generation_row(row))
            members += chain.member_rows(row)
            assignments += chain.assignment_rows(row)
            chain.passed(row)
    tables = {
        "generations": generations,
        "generation_members": members,
        "assignments": assignments,
        "transitions": _transition_rows(replay),
        "member_sessions": session_rows(replay.timeline, members),
        "replay_audit": [verdict.row() for verdict in replay.audit.verdicts.values()],
    }
    for rows in tables.values():
        for row_ in rows:
            row_["group_id"] = group_id
    return tables


def _transition_rows(replay: Replay) -> list[dict[str, Any]]:
    counts: dict[int, int] = {}
    latest: dict[int, float] = {}
    rows = []
    for life, move in replay.transitions:
        counts[life] = counts.get(life, 0) + 1
        # Evidence of two kinds can date one step a few ms after the next; what comes later is not earlier.
        latest[life] = max(latest.get(life, move.at), move.at)
        rows.append(
            {
                "life": life,
                "seq": counts[life],
                "at": whole(latest[life]),
                "from_state": move.from_state.value,
                "to_state": move.to_state.value,
                "event": move.event.value,
                "generation": move.generation,
                "member_id": move.cause.member_id or None,
                "source": EVIDENCE_OF.get(move.cause.source, move.cause.source)
                if move.cause.source != "timer"
                else "timer",
                "is_inferred": move.cause.is_inferred,
            }
        )
    return rows
