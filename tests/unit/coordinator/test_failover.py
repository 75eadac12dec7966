"""A coordinator dies, another takes its groups over."""

from __future__ import annotations

from typing import Any

from schemas.catalog import BY_NAME
from transforms.coordinator.replay import replay_group

Row = dict[str, Any]
GROUP = "orders"


def line(at: int, event: str, broker: str = "1", **fields: Any) -> Row:
    row = dict.fromkeys(BY_NAME["coordinator_events"].columns)
    place = {"source_file": f"server-{broker}.log", "line_number": at, "seq": 0, "broker": broker, "dialect": "java"}
    attributes = fields.pop("attributes", {})
    return {**row, **place, "logged_at": at, "event": event, "group_id": GROUP, "attributes": attributes, **fields}


def member(member_id: str, partitions: list[int]) -> Row:
    return {
        "member_id": member_id, "group_instance_id": None, "client_id": member_id, "client_host": "/10.0.0.1",
        "session_timeout_ms": 10_000, "rebalance_timeout_ms": 60_000, "topics": ["t"], "owned": None,
        "assigned": [{"topic": "t", "partitions": partitions}],
        "user_data": None, "subscription": b"s", "assignment": b"a",
    }  # fmt: skip


def record(at: int, offset: int, generation: int, *members: Row) -> Row:
    row = dict.fromkeys(BY_NAME["group_metadata"].columns)
    return {
        **row, "group_id": GROUP, "topic_partition_of_record": 7, "record_offset": offset, "recorded_at": at,
        "is_tombstone": False, "generation": generation, "protocol_type": "consumer", "protocol": "range",
        "leader_member_id": members[0]["member_id"], "state_changed_at": at - 5, "members": list(members),
    }  # fmt: skip


def prepare(at: int, old: int, broker: str = "1") -> Row:
    reason = {"reason": "Adding new member x", "attributes": {"trigger": "member_joined"}}
    return line(at, "preparing_rebalance", broker, generation=old, **reason)


def round_of(
    at: int, generation: int, broker: str, *members: Row, stored: int | None = None
) -> tuple[list[Row], list[Row]]:
    lines = [
        prepare(at, generation - 1, broker),
        line(at + 100, "stabilized", broker, generation=generation, member_count=len(members)),
    ]
    if stored is None:
        return lines, []
    lines.append(
        line(at + 110, "assignment_received", broker, generation=generation, member_id=members[0]["member_id"])
    )
    return lines, [record(at + 112, stored, generation, *members)]


def timeline(*rounds: tuple[list[Row], list[Row]]) -> dict[str, list[Row]]:
    lines = [row for each in rounds for row in each[0]]
    records = [row for each in rounds for row in each[1]]
    return replay_group("c", GROUP, records, lines, [], 50)


A, B = member("a", [0, 1]), member("b", [2])


def test_a_generation_number_used_twice_becomes_two_lives():
    tables = timeline(
        round_of(1_000, 1, "1", A, stored=0),
        round_of(5_000, 2, "1", A, B),  # counted, told, and lost with the broker: never stored
        ([line(9_000, "group_loaded", "2", member_count=1)], []),
        round_of(10_000, 2, "2", B, stored=1),
    )
    lives = {(row["life"], row["generation"]): row for row in tables["generations"]}
    assert set(lives) == {(1, 1), (1, 2), (2, 2)}
    assert lives[1, 2]["preparing_at"] == 5_000
    assert lives[1, 2]["stable_at"] is None
    assert (lives[2, 2]["preparing_at"], lives[2, 2]["outcome"]) == (10_000, "stable")
    owners = {(row["life"], row["generation"], row["member_id"], row["partition"]) for row in tables["assignments"]}
    assert owners == {(1, 1, "a", 0), (1, 1, "a", 1), (2, 2, "b", 2)}


def test_a_group_that_moves_in_peace_goes_on_in_the_same_life():
    tables = timeline(
        round_of(1_000, 1, "1", A, stored=0),
        ([line(4_000, "group_unloaded", "1", generation=1), line(4_050, "group_loaded", "2", member_count=1)], []),
        round_of(5_000, 2, "2", A, B, stored=1),
    )
    assert [(row["life"], row["generation"], row["outcome"]) for row in tables["generations"]] == [
        (1, 1, "stable"),
        (1, 2, "stable"),
    ]
    assert tables["generations"][0]["ended_at"] == 5_000
    assert {row["end_cause"] for row in tables["member_sessions"]} == {None}


def test_a_join_phase_that_the_failover_cut_short_is_begun_again_not_twice():
    tables = timeline(
        round_of(1_000, 1, "1", A, stored=0),
        ([prepare(3_000, 1)], []),
        ([line(4_000, "group_loaded", "2", member_count=1)], []),
        round_of(5_000, 2, "2", A, B, stored=1),
    )
    assert [(row["life"], row["generation"]) for row in tables["generations"]] == [(1, 1), (1, 2)]
    assert tables["generations"][1]["preparing_at"] == 3_000


def test_records_alone_show_a_restart_by_a_falling_generation():
    records = [record(1_000, 0, 4, A), record(2_000, 1, 5, A, B), record(3_000, 2, 4, B)]
    tables = replay_group("c", GROUP, records, [], [], 50)
    assert [(row["life"], row["generation"]) for row in tables["generations"]] == [(1, 4), (1, 5), (2, 4)]
