"""Rows of `gold.member_sessions`: the stays of members in a group."""

from __future__ import annotations

from typing import Any

from transforms.coordinator.facts import Session, Timeline
from transforms.coordinator.generation_rows import whole


def session_rows(timeline: Timeline, members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the stays of members, each with the generations it was seen in.

    Args:
        timeline: what is known of the group.
        members: the group's rows of `gold.generation_members`.
    """
    seen: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in members:
        seen.setdefault((row["life"], row["member_id"]), []).append(row)
    sessions = {key for key, session in timeline.sessions.items() if session.is_member} | set(seen)
    rows = [_session_row(timeline, key, seen.get(key, [])) for key in sorted(sessions)]
    _link(rows)
    return rows


def _session_row(timeline: Timeline, key: tuple[int, str], seen: list[dict[str, Any]]) -> dict[str, Any]:
    life, member_id = key
    facts = timeline.sessions.get(key, Session(life, member_id)).facts
    last: dict[str, Any] = seen[-1] if seen else {}
    end_cause, ended_at = facts.get("end_cause"), facts.get("ended_at")
    end_of_life = timeline.life_ends.get(life)
    if end_cause is None and end_of_life is not None:
        end_cause, ended_at = "group_ended", end_of_life.get("ended_at")
    return {
        "life": life,
        "member_id": member_id,
        "group_instance_id": facts.get("group_instance_id") or last.get("group_instance_id"),
        "client_id": facts.get("client_id") or last.get("client_id"),
        "client_host": facts.get("client_host") or last.get("client_host"),
        "joined_at": whole(facts.get("joined_at")),
        "ended_at": whole(ended_at),
        "end_cause": end_cause,
        "first_generation": seen[0]["generation"] if seen else None,
        "last_generation": last.get("generation"),
        "previous_member_id": None,
    }


def _link(rows: list[dict[str, Any]]) -> None:
    """Set each stay's predecessor: the last one before of the same instance, or of the same client and host."""
    last: dict[tuple[Any, ...], str] = {}
    for row in sorted(
        rows, key=lambda row: (row["life"], row["joined_at"] or 0, row["first_generation"] or 0, row["member_id"])
    ):
        if row["group_instance_id"] is not None:
            identity: tuple[Any, ...] = ("instance", row["group_instance_id"])
        elif row["client_id"] is not None:
            identity = ("client", row["client_id"], row["client_host"])
        else:
            continue
        row["previous_member_id"] = last.get(identity)
        last[identity] = row["member_id"]


def _in_time(row: dict[str, Any]) -> tuple[int, int, int, str]:
    return (row["life"], row["joined_at"] or 0, row["first_generation"] or 0, row["member_id"])
