"""Small lies for the tables, each with the check that must find it: what proves that the checks can fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.support.truth import Truth
from tests.truth.checks_clients import lasting_snapshots
from tests.truth.checks_findings import GAP_MS, MIN_ERRORS, bursts_of
from tests.truth.timelines import Row, Tables

Where = Callable[[Truth, Tables, Row], bool]
Change = Callable[[Row], list[Row]]


@dataclass(frozen=True)
class Corruption:
    """A lie about one row.

    Attributes:
        check: name of the check that must find it.
        table: table of the row.
        words: what is done to the row.
        change: the rows that take its place.
        where: rows on which the check has something to say.
    """

    check: str
    table: str
    words: str
    change: Change
    where: Where = lambda truth, tables, row: True

    def applied(self, tables: Tables, index: int) -> Tables:
        """Return the tables with the lie at one row; the given ones stay as they are."""
        rows = tables[self.table]
        return {**tables, self.table: [*rows[:index], *self.change(dict(rows[index])), *rows[index + 1 :]]}


def drop(row: Row) -> list[Row]:
    """The row is lost."""
    return []


def twice(row: Row) -> list[Row]:
    """The row is there twice."""
    return [row, dict(row)]


def put(column: str, value: object) -> Change:
    """A column has another value."""
    return lambda row: [{**row, column: value}]


def add(column: str, amount: int) -> Change:
    """A number or a moment is off."""
    return lambda row: [{**row, column: row[column] + amount}]


def _known(column: str) -> Where:
    return lambda truth, tables, row: row[column] is not None


def _is(column: str, *values: object) -> Where:
    return lambda truth, tables, row: row[column] in values


def _was_told(truth: Truth, tables: Tables, row: Row) -> bool:
    return any(
        (sync.group_id, sync.generation, sync.member_id) == (row["group_id"], row["generation"], row["member_id"])
        and not sync.error
        for sync in truth.syncs
    )


def _leader_was_told(truth: Truth, tables: Tables, row: Row) -> bool:
    return any(
        (join.group_id, join.generation) == (row["group_id"], row["generation"])
        and not join.error
        and row.get("member_id", join.leader) in join.members
        for join in truth.joins
    )


def _was_described(truth: Truth, tables: Tables, row: Row) -> bool:
    return any(
        shot.group_id == row["group_id"]
        and row["valid_from"] <= shot.at
        and (row["valid_to"] is None or shot.at < row["valid_to"])
        for shot in lasting_snapshots(truth)
    )


def _is_raw(truth: Truth, tables: Tables, row: Row) -> bool:
    return row["group_id"] in truth.raw_groups and row["api"] in ("Heartbeat", "OffsetCommit", "SyncGroup")


def _in_a_burst(truth: Truth, tables: Tables, row: Row) -> bool:
    if row["error_code"] != 22 or row["group_id"] not in truth.raw_groups:
        return False
    moments = [r["answered_at"] for r in tables["group_requests"] if _alike(r, row)]
    runs = bursts_of(moments, GAP_MS, MIN_ERRORS)
    return any(run.started_at <= row["answered_at"] <= run.ended_at for run in runs)


def _alike(row: Row, other: Row) -> bool:
    return (row["group_id"], row["error_code"]) == (other["group_id"], other["error_code"])


def _joined_at_once(truth: Truth, tables: Tables, row: Row) -> bool:
    return row["api"] == "JoinGroup" and row["observed_error"] == 0 and bool(row["agrees"])


def _ends(truth: Truth, tables: Tables, row: Row) -> bool:
    return row["valid_to"] is not None


def _is_founding_of_stable(truth: Truth, tables: Tables, row: Row) -> bool:
    return row["outcome"] == "stable" and row["generation"] > 1


CORRUPTIONS = (
    Corruption("assignments_told", "assignments", "lost", drop, _was_told),
    Corruption("assignments_told", "assignments", "partition + 1", add("partition", 1), _was_told),
    Corruption("assignments_told", "assignments", "generation + 1", add("generation", 1), _was_told),
    Corruption("assignments_told", "assignments", "life + 1", add("life", 1), _was_told),
    Corruption("assignments_told", "assignments", "twice", twice, _was_told),
    Corruption("assignments_told", "generation_members", "lost", drop, _was_told),
    Corruption("assignments_told", "generation_members", "told_at + 1 s", add("told_at", 1_000), _was_told),
    Corruption("members_told", "generation_members", "lost", drop, _leader_was_told),
    Corruption("members_told", "generation_members", "renamed", put("member_id", "ghost"), _leader_was_told),
    Corruption("members_told", "generations", "leader changed", put("leader_member_id", "ghost"), _leader_was_told),
    Corruption("requests_counted", "group_requests", "lost", drop, _is_raw),
    Corruption("requests_counted", "group_requests", "twice", twice, _is_raw),
    Corruption("requests_counted", "group_requests", "error changed", put("error_code", 7), _is_raw),
    Corruption("snapshots_seen", "assignments", "lost", drop, _was_described),
    Corruption("snapshots_seen", "assignments", "partition + 1", add("partition", 1), _was_described),
    Corruption("snapshots_seen", "assignments", "to another member", put("member_id", "ghost"), _was_described),
    Corruption("snapshots_seen", "assignments", "ends at once", put("valid_to", 0), _was_described),
    Corruption("rebalances_started", "generations", "lost", drop, _known("preparing_at")),
    Corruption("rebalances_started", "generations", "preparing_at + 1", add("preparing_at", 1), _known("preparing_at")),
    Corruption("rebalances_started", "generations", "generation + 1", add("generation", 1), _known("preparing_at")),
    Corruption("rebalances_started", "generations", "twice", twice, _known("preparing_at")),
    Corruption("triggers_named", "generations", "trigger unknown", put("trigger", "unknown")),
    Corruption("triggers_named", "generations", "other culprit", put("trigger_member_id", "ghost")),
    Corruption("triggers_named", "generations", "reason lost", put("reason", None)),
    Corruption("phases_reached", "generations", "completing_at + 2", add("completing_at", 2), _known("completing_at")),
    Corruption("phases_reached", "generations", "emptied_at + 2", add("emptied_at", 2), _known("emptied_at")),
    Corruption("phases_reached", "generations", "member_count + 1", add("member_count", 1), _known("member_count")),
    Corruption("phases_reached", "generations", "never empty", put("outcome", "stable"), _is("outcome", "empty")),
    Corruption("bursts_found", "group_requests", "lost", drop, _in_a_burst),
    Corruption("bursts_found", "group_requests", "error changed", put("error_code", 25), _in_a_burst),
    Corruption("audit_is_consistent", "replay_audit", "agrees not", put("agrees", False), _is("agrees", True)),
    Corruption(
        "audit_is_consistent", "replay_audit", "predicted_error + 1", add("predicted_error", 1), _is("agrees", True)
    ),
    Corruption(
        "audit_is_consistent",
        "replay_audit",
        "predicted_generation + 1",
        add("predicted_generation", 1),
        _joined_at_once,
    ),
    Corruption("audit_is_complete", "replay_audit", "lost", drop, _is("api", "Heartbeat", "JoinGroup", "OffsetCommit")),
    Corruption("audit_is_complete", "replay_audit", "twice", twice, _is("api", "Heartbeat", "JoinGroup")),
    Corruption("audit_is_complete", "replay_audit", "error changed", add("observed_error", 1), _is("api", "Heartbeat")),
    Corruption("audit_is_complete", "replay_audit", "generation + 1", add("observed_generation", 1), _joined_at_once),
    Corruption(
        "audit_agrees", "replay_audit", "null without a why", lambda row: [{**row, "agrees": None, "why": None}]
    ),
    Corruption("keys_are_unique", "generations", "twice", twice),
    Corruption("keys_are_unique", "assignments", "twice", twice),
    Corruption("keys_are_unique", "member_sessions", "twice", twice),
    Corruption("columns_are_filled", "generations", "null in evidence", put("evidence", None)),
    Corruption("columns_are_filled", "transitions", "a column too many", put("stranger", 1)),
    Corruption("values_are_allowed", "generations", "no such trigger", put("trigger", "weather")),
    Corruption("values_are_allowed", "assignments", "partition a fraction", put("partition", 1.0)),
    Corruption("phases_in_order", "generations", "rebalance_ms + 1", add("rebalance_ms", 1), _known("rebalance_ms")),
    Corruption("phases_in_order", "generations", "missing_before + 1", add("missing_before", 1)),
    Corruption(
        "phases_in_order", "generations", "stable_at 1 h ago", add("stable_at", -3_600_000), _known("stable_at")
    ),
    Corruption("phases_in_order", "generations", "ended_at 1 h ago", add("ended_at", -3_600_000), _known("ended_at")),
    Corruption("outcomes_hold", "generations", "abandoned", put("outcome", "abandoned"), _is("outcome", "stable")),
    Corruption("outcomes_hold", "generations", "never stable", put("stable_at", None), _is("outcome", "stable")),
    Corruption("outcomes_hold", "generations", "member_count + 1", add("member_count", 1), _known("member_count")),
    Corruption("members_counted", "generation_members", "one partition more", add("partitions_assigned", 1), _was_told),
    Corruption("members_counted", "generation_members", "told long before", add("told_at", -3_600_000), _was_told),
    Corruption(
        "members_counted",
        "generations",
        "who joined is lost",
        put("joined_member_ids", ["ghost"]),
        _is_founding_of_stable,
    ),
    Corruption(
        "members_counted",
        "generations",
        "who left is lost",
        put("departed_member_ids", ["ghost"]),
        _is_founding_of_stable,
    ),
    Corruption("assignments_exclusive", "assignments", "valid_from + 1", add("valid_from", 1)),
    Corruption("assignments_exclusive", "assignments", "for ever", put("valid_to", None), _ends),
    Corruption("assignments_exclusive", "assignments", "two owners", lambda row: [row, {**row, "member_id": "ghost"}]),
    Corruption("sessions_hold", "member_sessions", "lost", drop, _known("first_generation")),
    Corruption("sessions_hold", "member_sessions", "last + 1", add("last_generation", 1), _known("last_generation")),
    Corruption("sessions_hold", "member_sessions", "no cause", put("end_cause", None), _known("ended_at")),
    Corruption("transitions_hold", "transitions", "lost", drop, _is("to_state", "PreparingRebalance")),
    Corruption("transitions_hold", "transitions", "seq + 1", add("seq", 1)),
    Corruption(
        "transitions_hold", "transitions", "to Dead", put("to_state", "Dead"), _is("to_state", "CompletingRebalance")
    ),
)
