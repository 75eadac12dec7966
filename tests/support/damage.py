"""Kinds of damage that rows of a good lake can take, each with what must find it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Tables = dict[str, list[Row]]

HOUR_MS = 3_600_000
GENERATION = ("group_id", "life", "generation")


@dataclass(frozen=True)
class Damage:
    """One kind of damage.

    Attributes:
        name: what has happened, in words.
        table: the table it happens to.
        change: gives the damaged rows of the table.
        found_by: checks and laws that must find it, and no other may.
    """

    name: str
    table: str
    change: Callable[[list[Row]], list[Row]]
    found_by: frozenset[str]


def _one(is_it: Callable[[Row], bool], instead: Callable[[Row], list[Row]]) -> Callable[[list[Row]], list[Row]]:
    """Put rows in the place of the first that fits."""

    def changed(rows: list[Row]) -> list[Row]:
        index = next(index for index, row in enumerate(rows) if is_it(row))
        return [*rows[:index], *instead(rows[index]), *rows[index + 1 :]]

    return changed


def _put(**values: Any) -> Callable[[Row], list[Row]]:
    def put(row: Row) -> list[Row]:
        return [{**row, **{name: value(row) if callable(value) else value for name, value in values.items()}}]

    return put


def _plus(name: str, by: float) -> Callable[[Row], Any]:
    return lambda row: row[name] + by


def _lost(row: Row) -> list[Row]:
    return []


def _twice(row: Row) -> list[Row]:
    return [row, row]


def _and(**values: Any) -> Callable[[Row], list[Row]]:
    """Keep the row, and add one like it."""
    return lambda row: [row, *_put(**values)(row)]


def _of(group_id: str, **values: Any) -> Callable[[Row], bool]:
    def is_it(row: Row) -> bool:
        return row["group_id"] == group_id and all(
            value(row[name]) if callable(value) else row[name] == value for name, value in values.items()
        )

    return is_it


def _count(row: Row) -> int:
    count: int = row["request_count"]
    return count


def _known(value: Any) -> bool:
    return value is not None


def _unknown(value: Any) -> bool:
    return value is None


def _all(instead: Callable[[Row], list[Row]]) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [other for row in rows for other in instead(row)]


def _damage(name: str, table: str, change: Callable[[list[Row]], list[Row]], *found_by: str) -> Damage:
    return Damage(name, table, change, frozenset(found_by))


def _later(row: Row) -> bool:
    return row["group_id"] == "etl-slow" and row["generation"] > 2 and row["outcome"] == "stable"


_FAR_MS = 4_102_444_800_000
"""The year 2100."""

DAMAGES = (
    # keys, nulls and words, as the declaration has them
    _damage(
        "an assignment twice",
        "assignments",
        _one(_of("web-rr", valid_to=_known), _twice),
        "unique(cluster, group_id, life, generation, member_id, topic, partition, hold)",
        "partitions_counted",
    ),
    _damage(
        "a storm twice",
        "rebalance_storms",
        _one(_of("etl-slow"), _twice),
        "unique(cluster, group_id, started_at)",
        "storms_apart",
    ),
    _damage("no trigger", "generations", _one(_of("web-rr"), _put(trigger=None)), "not_null(trigger)"),
    _damage("a trigger of no vocabulary", "generations", _one(_of("web-rr"), _put(trigger="whim")), "one_of(trigger)"),
    _damage(
        "a phase before its beginning",
        "generations",
        _one(_of("etl-slow", completing_at=_known), _put(completing_at=_plus("stable_at", 1))),
        "not_after(completing_at, stable_at)",
    ),
    # ownership
    _damage(
        "an interval that is still open in the next generation",
        "assignments",
        _one(_of("etl-slow", valid_to=_known), _put(valid_to=None)),
        "interval_inside_generation",
        "owners_in_turn",
    ),
    _damage(
        "an assignment open twice",
        "assignments",
        lambda rows: [{**row, "valid_to": None} if row["group_id"] == "web-rr" else row for row in rows],
        "one_open_interval",
        "interval_inside_generation",
        "owners_in_turn",
    ),
    _damage(
        "two owners of a partition",
        "assignments",
        _one(_of("etl-slow", valid_to=_known), _and(member_id="ghost")),
        "one_owner",
        "member_of_assignment",
    ),
    _damage(
        "two owners of a partition by an assignor of one's own",
        "assignments",
        _one(_of("own-assignor", valid_to=_known), _and(member_id="ghost")),
        "one_owner_by_own_assignor",
        "member_of_assignment",
    ),
    _damage(
        "owned before the generation is stable",
        "assignments",
        _one(_of("etl-slow", generation=1), _put(valid_from=_plus("valid_from", -5))),
        "interval_inside_generation",
    ),
    _damage(
        "nobody's for a while at the beginning",
        "assignments",
        _one(_of("web-rr"), _put(valid_from=_plus("valid_from", 5))),
        "intervals_without_gaps",
    ),
    _damage(
        "nobody's for a while at the end",
        "assignments",
        _one(_of("web-rr", valid_to=_known), _put(valid_to=_plus("valid_to", -5))),
        "intervals_without_gaps",
    ),
    # generations
    _damage(
        "a generation lost with all that was in it",
        "generations",
        _one(_later, _lost),
        "generation_steps",
        "generations_in_time",
        "generation_of_member",
        "members_of_joins_and_leaves",
        "storm_of_generations",
    ),
    _damage(
        "a life that was skipped",
        "generations",
        lambda rows: [{**row, "life": 2} if row["group_id"] == "web-rr" else row for row in rows],
        "lives_in_order",
        "generation_of_member",
        "members_of_joins_and_leaves",
        "rebalances_are_entries",
    ),
    _damage(
        "missing generations miscounted",
        "generations",
        _one(_of("etl-slow", generation=3), _put(missing_before=2)),
        "generation_steps",
    ),
    _damage(
        "a generation that begins before the one before it ends",
        "generations",
        _one(
            _of("etl-slow", generation=3),
            _put(preparing_at=_plus("preparing_at", -50), rebalance_ms=_plus("rebalance_ms", 50)),
        ),
        "generations_in_time",
    ),
    _damage(
        "stable without a moment",
        "generations",
        _one(_of("ledger-static", outcome="stable"), _put(outcome="abandoned")),
        "outcome_fits",
        "members_of_joins_and_leaves",
    ),
    _damage(
        "empty with members",
        "generations",
        _one(_of("web-rr", outcome="empty"), _put(member_count=1)),
        "outcome_fits",
    ),
    _damage(
        "a rebalance that lasted otherwise",
        "generations",
        _one(_of("etl-slow", rebalance_ms=_known), _put(rebalance_ms=_plus("rebalance_ms", 1))),
        "rebalance_measured",
    ),
    _damage(
        "a member too many in the count",
        "generations",
        _one(_of("etl-slow", member_count=2), _put(member_count=3)),
        "members_counted",
    ),
    _damage(
        "somebody who joined from nowhere",
        "generations",
        _one(_of("etl-slow", generation=2), _put(joined_member_ids=["ghost"])),
        "members_of_joins_and_leaves",
    ),
    _damage(
        "somebody who left unseen",
        "generations",
        _one(_of("etl-slow", generation=2), _put(departed_member_ids=["ghost"])),
        "members_of_joins_and_leaves",
    ),
    _damage(
        "a leader from elsewhere",
        "generations",
        _one(_of("etl-slow", outcome="stable"), _put(leader_member_id="ghost")),
        "leader_is_member",
    ),
    _damage(
        "a leader from elsewhere, where the evidence is incomplete",
        "generations",
        _one(_of("own-assignor", outcome="stable"), _put(leader_member_id="ghost")),
        "leader_is_member_in_doubt",
    ),
    _damage(
        "a partition more than assigned",
        "generation_members",
        _one(_of("etl-slow", partitions_assigned=_known), _put(partitions_assigned=_plus("partitions_assigned", 1))),
        "partitions_counted",
    ),
    # states
    _damage(
        "a change of state lost",
        "transitions",
        _one(_of("web-rr", to_state="CompletingRebalance"), _lost),
        "steps_join_up",
        "steps_numbered",
    ),
    _damage(
        "from Empty to Stable at once",
        "transitions",
        _one(_of("web-rr", from_state="Empty", event="member_added"), _put(to_state="Stable")),
        "steps_legal",
        "steps_join_up",
        "rebalances_are_entries",
    ),
    _damage(
        "a change of state before the one before",
        "transitions",
        _one(_of("web-rr", seq=4), _put(at=_plus("at", -HOUR_MS))),
        "steps_in_time",
    ),
    # references
    _damage(
        "a session lost",
        "member_sessions",
        _one(_of("etl-slow", first_generation=_known), _lost),
        "session_of_member",
    ),
    _damage(
        "a session of nobody",
        "member_sessions",
        _one(_of("etl-slow", first_generation=_known), _and(member_id="ghost")),
        "member_of_session",
    ),
    _damage(
        "a session that ended for nothing",
        "member_sessions",
        _one(_of("etl-slow", ended_at=_known), _put(end_cause=None)),
        "end_has_cause",
    ),
    _damage(
        "a member told of a generation before there was one",
        "generation_members",
        _one(_of("etl-slow", told_at=_known), _put(told_at=_plus("told_at", -HOUR_MS))),
        "told_in_its_generation",
    ),
    _damage(
        "a storm of more rebalances than there were",
        "rebalance_storms",
        _one(_of("etl-slow"), _put(rebalance_count=50)),
        "storm_of_generations",
    ),
    _damage(
        "two storms that are one",
        "rebalance_storms",
        _one(_of("etl-slow"), lambda row: [row, {**row, "started_at": row["started_at"] + 1}]),
        "storms_apart",
        "storm_of_generations",
    ),
    _damage(
        "a burst fenced by a generation that never was",
        "illegal_generation_bursts",
        _one(_of("etl-slow"), _put(fenced_by_generation=99)),
        "burst_of_generation",
    ),
    _damage(
        "a gap of somebody else", "commit_gaps", _one(_of("etl-slow"), _put(member_id="ghost")), "gap_of_assignment"
    ),
    _damage(
        "a rewind that goes forward",
        "offset_rewinds",
        _one(_of("etl-slow"), _put(to_offset=_plus("from_offset", 1))),
        "rewind_moves",
    ),
    # trust
    _damage(
        "a generation that ended in the year 2100",
        "generations",
        _one(_of("etl-slow", outcome="empty", ended_at=_unknown), _put(ended_at=_FAR_MS)),
        "no_future_in_generations",
    ),
    _damage(
        "a partition owned until the year 2100",
        "assignments",
        _one(_of("web-rr", valid_to=_known), _put(valid_to=_FAR_MS)),
        "no_future_in_assignments",
        "interval_inside_generation",
        "owners_in_turn",
    ),
    _damage(
        "a session that ended in the year 2100",
        "member_sessions",
        _one(_of("etl-slow", ended_at=_known), _put(ended_at=_FAR_MS)),
        "no_future_in_member_sessions",
    ),
    _damage(
        "a change of state in the year 2100",
        "transitions",
        lambda rows: [
            {**row, "at": _FAR_MS} if row["group_id"] == "web-rr" and row["seq"] == _last(rows, "web-rr") else row
            for row in rows
        ],
        "no_future_in_transitions",
    ),
    _damage(
        "the broker answers otherwise than predicted",
        "audit_counts",
        _all(_put(agree_count=0, race_count=0, answer_used_count=0, unpredicted_count=0, differ_count=_count)),
        "audit_agrees",
    ),
    _damage(
        "a request that nobody counted",
        "audit_counts",
        _one(_of("etl-slow"), _put(request_count=_plus("request_count", 1))),
        "audit_adds_up",
    ),
    _damage(
        "an answer that agrees and does not",
        "replay_audit",
        _one(_of("etl-slow", agrees=True, observed_error=0), _put(predicted_error=25)),
        "audit_verdicts_fit",
    ),
    _damage(
        "an answer that could not be predicted, and nobody says why",
        "replay_audit",
        _one(_of("etl-slow", agrees=True, why=_unknown), _put(agrees=None)),
        "audit_verdicts_fit",
    ),
    _damage(
        "a group in a partition that is not its own",
        "coordinators",
        _one(_of("etl-slow", agrees=True), _put(agrees=False)),
        "group_in_its_partition",
    ),
    _damage(
        "a tenth of what was read is rejected",
        "rejected",
        lambda rows: [
            {"cluster": None, "source": "server.log", "position": str(n), "reason_code": "bad_line", "seen_at": 0}
            for n in range(20)
        ],
        "little_is_rejected",
    ),
    _damage(
        "lines of a release that nobody knows",
        "coordinator_events",
        _all(lambda row: [{**row, "event": "unrecognised", "attributes": {"text": "A new line"}}]),
        "lines_are_recognised",
    ),
    _damage(
        "a broker that fell silent",
        "sources",
        lambda rows: [*rows, {**rows[0], "source": "2", "newest_at": rows[0]["newest_at"] - 2 * HOUR_MS}],
        "sources_speak",
    ),
    _damage(
        "a coordinator whose clock is an hour slow",
        "group_metadata",
        lambda rows: [*rows, {**rows[-1], "record_offset": 10**9, "recorded_at": rows[-1]["recorded_at"] - HOUR_MS}],
        "clocks_agree",
    ),
)


def _last(rows: list[Row], group_id: str) -> int:
    return max(row["seq"] for row in rows if row["group_id"] == group_id)
