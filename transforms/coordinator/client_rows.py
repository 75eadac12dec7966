"""Lays what clients said of themselves beside what their coordinator did.

A client's clock is its own, so nothing is joined by time: a line belongs to the generation and the member that it names
itself. Within one log the order of the lines is exact. The coordinator's word stands; a client adds what only it knows,
which is why it left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from transforms.coordinator.evidence import Row
from transforms.coordinator.generation_rows import whole
from transforms.coordinator.states import GroupState
from transforms.coordinator.triggers import POLL_TIMEOUT, refined

Tables = dict[str, list[dict[str, Any]]]

SOURCE = "client_log"

_STATE_OF_OUTCOME = {"stable": GroupState.STABLE, "abandoned": GroupState.COMPLETING, "empty": GroupState.EMPTY}
_NEW_STAY = frozenset({"joining", "joined"})
"""Events with which a client begins anew; what timed out before is over."""


def take_clients(tables: Tables, client_events: Iterable[Row]) -> None:
    """Add what clients said to a group's rows, and their timeline.

    Args:
        tables: the group's rows of the gold tables, which are changed.
        client_events: its rows of `silver.client_events`, in no order.
    """
    events = sorted(client_events, key=lambda row: (row["source_file"], row["line_number"]))
    _tell_slow_pollers(tables, slow_pollers(events))
    seen = _Seen(tables)
    tables["client_timeline"] = [seen.client_row(event) for event in events]
    for row in tables["client_timeline"]:
        if seen.is_of_generation(row):
            _witnessed(seen.generations[row["life"], row["generation"]])


def slow_pollers(events: Iterable[Row]) -> set[str]:
    """Return the members that left because their application polled too rarely; events in the order of their logs.

    From Kafka 2.4 on the line about the LeaveGroup has the reason; before, the warning stands in front of it.
    """
    members: set[str] = set()
    timed_out: set[tuple[Any, ...]] = set()
    for row in events:
        client = (row["source_file"], row["client_id"], row["group_instance_id"])
        if row["event"] == "poll_timeout":
            timed_out.add(client)
        elif row["event"] == "leaving":
            if row["member_id"] and (client in timed_out or _is_poll_timeout(row["reason"])):
                members.add(row["member_id"])
            timed_out.discard(client)
        elif row["event"] in _NEW_STAY:
            timed_out.discard(client)
    return members


def _is_poll_timeout(reason: str | None) -> bool:
    return reason is not None and reason.rstrip(".") == POLL_TIMEOUT.rstrip(".")


def _tell_slow_pollers(tables: Tables, members: set[str]) -> None:
    """Name the poll timeout where the coordinator knew of a leave, and not why."""
    for row in tables.get("generations", ()):
        is_silent = row["trigger"] == "member_left" and row["client_reason"] is None
        if is_silent and row["trigger_member_id"] in members:
            row["trigger"], row["client_reason"] = refined(row["trigger"], POLL_TIMEOUT), POLL_TIMEOUT
            _witnessed(row)
    for row in tables.get("member_sessions", ()):
        if row["end_cause"] in ("left", "unknown") and row["member_id"] in members:
            row["end_cause"] = "poll_timeout"


def _witnessed(generation: dict[str, Any]) -> None:
    if SOURCE not in generation["evidence"]:
        generation["evidence"].append(SOURCE)


class _Seen:
    """What the coordinator's side knows, by what a client's line can name."""

    def __init__(self, tables: Tables) -> None:
        self.generations = {(row["life"], row["generation"]): row for row in tables.get("generations", ())}
        self.told_at: dict[tuple[int, int], dict[str, int | None]] = {key: {} for key in self.generations}
        for row in tables.get("generation_members", ()):
            self.told_at[row["life"], row["generation"]][row["member_id"]] = row["told_at"]
        self.sessions = {(row["life"], row["member_id"]): row for row in tables.get("member_sessions", ())}
        self.lives_of_member: dict[str, set[int]] = {}
        for life, member_id in self.sessions:
            self.lives_of_member.setdefault(member_id, set()).add(life)
        self.lives_of_generation: dict[int, set[int]] = {}
        for life, generation in self.generations:
            self.lives_of_generation.setdefault(generation, set()).add(life)

    def client_row(self, event: Row) -> dict[str, Any]:
        """Row of `gold.client_timeline`, without the cluster."""
        member_id = event["member_id"] or None
        generation = event["generation"] if (event["generation"] or -1) > 0 else None
        life = self._life(generation, member_id)
        session = self.sessions.get((life or 0, member_id or ""))
        return {
            "source_file": event["source_file"],
            "line_number": event["line_number"],
            "host": event["host"],
            "logged_at": whole(event["logged_at"]),
            "client_id": event["client_id"],
            "group_id": event["group_id"],
            "group_instance_id": event["group_instance_id"],
            "life": life,
            "generation": generation,
            "member_id": member_id,
            "event": event["event"],
            "client_state": event["client_state"],
            "reason": event["reason"],
            "partitions": event["partitions"],
            "broker_state": _reached(self.generations.get((life or 0, generation or 0))),
            "told_at": self.told_at.get((life or 0, generation or 0), {}).get(member_id or ""),
            "end_cause": None if session is None else session["end_cause"],
        }

    def is_of_generation(self, row: dict[str, Any]) -> bool:
        """Whether a row names a generation together with a member of it, as far as its members are known."""
        members = self.told_at.get((row["life"], row["generation"]))
        return members is not None and row["member_id"] is not None and (not members or row["member_id"] in members)

    def _life(self, generation: int | None, member_id: str | None) -> int | None:
        """Return the one life that has what is named; None where nothing is named, or where several have it."""
        lives = self.lives_of_member.get(member_id or "")
        if generation is not None:
            numbered = self.lives_of_generation.get(generation, set())
            lives = numbered if lives is None else lives & numbered
        return next(iter(lives)) if lives is not None and len(lives) == 1 else None


def _reached(generation: dict[str, Any] | None) -> str | None:
    """Return the furthest state of a generation."""
    if generation is None:
        return None
    reached = _STATE_OF_OUTCOME.get(generation["outcome"] or "")
    if reached is None:
        reached = GroupState.PREPARING if generation["completing_at"] is None else GroupState.COMPLETING
    return reached.value
