"""A coordinator dies, another takes its groups over."""

from __future__ import annotations

from tests.unit.coordinator.evidence_rows import GROUP, A, B, Row, beat, join, line, prepare, record, request, round_of
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.replay import replay_group
from transforms.coordinator.timeline.audit import WHY_UNREPLICATED


def timeline(*rounds: tuple[list[Row], list[Row]]) -> dict[str, list[Row]]:
    lines = [row for each in rounds for row in each[0]]
    records = [row for each in rounds for row in each[1]]
    return replay_group("c", GROUP, records, lines, [], 50)


def test_a_generation_number_used_twice_becomes_two_lives():
    tables = timeline(
        round_of(1_000, 1, "1", A, stored=0),
        round_of(5_000, 2, "1", A, B),  # counted, told, and lost with the broker: never stored
        ([line(9_000, "group_loaded", "2", member_count=1)], []),
        round_of(10_000, 2, "2", B, stored=1),
    )
    lives = {(row["life"], row["generation"]): row for row in tables["generations"]}
    assert set(lives) == {(1, 1), (1, 2), (2, 1), (2, 2)}
    loaded = lives[2, 1]  # what the new coordinator found is in force until it rebalances
    assert (loaded["stable_at"], loaded["ended_at"], loaded["trigger"]) == (9_000, 10_000, "coordinator_failover")
    assert loaded["missing_before"] == 0
    assert lives[1, 2]["preparing_at"] == 5_000
    assert lives[1, 2]["stable_at"] is None
    assert (lives[2, 2]["preparing_at"], lives[2, 2]["outcome"]) == (10_000, "stable")
    owners = {(row["life"], row["generation"], row["member_id"], row["partition"]) for row in tables["assignments"]}
    assert owners == {(1, 1, "a", 0), (1, 1, "a", 1), (2, 1, "a", 0), (2, 1, "a", 1), (2, 2, "b", 2)}


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


def test_a_join_phase_that_the_failover_cut_short_counts_from_when_it_is_begun_again():
    tables = timeline(
        round_of(1_000, 1, "1", A, stored=0),
        ([prepare(3_000, 1)], []),
        ([line(4_000, "group_loaded", "2", member_count=1)], []),
        round_of(5_000, 2, "2", A, B, stored=1),
    )
    assert [(row["life"], row["generation"]) for row in tables["generations"]] == [(1, 1), (1, 2)]
    assert tables["generations"][1]["preparing_at"] == 5_000
    assert tables["generations"][0]["ended_at"] == 5_000
    entries = [row["at"] for row in tables["transitions"] if row["to_state"] == "PreparingRebalance"]
    assert entries == [1_000, 3_000, 5_000]


def test_records_alone_show_a_restart_by_a_falling_generation():
    records = [record(1_000, 0, 4, A), record(2_000, 1, 5, A, B), record(3_000, 2, 4, B)]
    tables = replay_group("c", GROUP, records, [], [], 50)
    assert [(row["life"], row["generation"]) for row in tables["generations"]] == [(1, 4), (1, 5), (2, 4)]


def test_who_waits_for_replicas_in_vain_is_refused_and_a_heartbeat_counts_all_the_same():
    """The session of ten seconds goes on from it; who wanted to join is no member."""
    lines, records = round_of(1_000, 1, "1", A, stored=0)
    lacking = (Error.COORDINATOR_NOT_AVAILABLE, 5_000.0)
    requests = [
        request(8_000, "Heartbeat", "a", *lacking, generation=1),
        join(8_500, "b-1", **dict(zip(("error", "parked_ms"), lacking, strict=True))),
        request(17_000, "Heartbeat", "a", generation=1),
    ]
    tables = replay_group("c", GROUP, records, lines, requests, 50)
    rows = sorted(tables["replay_audit"], key=lambda row: row["handled_at"])
    assert [(row["predicted_error"], row["agrees"], row["why"]) for row in rows] == [
        (15, True, WHY_UNREPLICATED),
        (15, True, WHY_UNREPLICATED),
        (0, True, None),
    ]
    assert [row["is_answer_used"] for row in rows] == [True, True, False]


def test_who_joins_while_the_log_is_replicated_stays_although_the_record_knows_nothing_of_it():
    """It takes the group out of CompletingRebalance, and the record of the assignment is applied a moment later."""
    first, second = round_of(1_000, 1, "1", A, B, stored=0), round_of(5_000, 2, "1", A, B, stored=1)
    requests = [
        join(5_001, "a", told=2, parked_ms=99),
        join(5_002, "b", told=2, parked_ms=98),
        join(5_116, error=79, given="c-1", api_version=9),
        join(5_118, "c-1", told=3, parked_ms=3_000),
        join(5_300, "a", told=3, parked_ms=2_818),
        beat(6_000, "c-1", 2, error=27),
        join(8_117, "b", told=3, parked_ms=1),
    ]
    following = [prepare(5_190, 2), line(8_118, "stabilized", generation=3, member_count=3)]
    tables = replay_group("c", GROUP, [*first[1], *second[1]], [*first[0], *second[0], *following], requests, 50)
    rows = sorted(tables["replay_audit"], key=lambda row: row["handled_at"])
    assert [(row["predicted_error"], row["agrees"]) for row in rows[2:]] == [
        (79, True),
        (0, True),
        (0, True),
        (27, True),
        (0, True),
    ]
