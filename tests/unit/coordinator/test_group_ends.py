"""Ends of a group that nobody asked for by name: expiry, conversion to the consumer protocol, an expanded topic."""

from __future__ import annotations

import pytest

from tests.unit.coordinator.evidence_rows import (
    A,
    B,
    Row,
    beat,
    join,
    line,
    prepare,
    record,
    replayed,
    request,
    round_of,
    sync,
    verdicts,
)


def lives(tables: dict[str, list[Row]]) -> list[tuple[int, int]]:
    return [(row["life"], row["generation"]) for row in tables["generations"]]


def tombstone(at: int, offset: int, partition: int = 7) -> Row:
    return {**record(at, offset, 0, A), "is_tombstone": True, "members": None, "topic_partition_of_record": partition}


def empty(at: int, offset: int, generation: int) -> Row:
    return {**record(at, offset, generation, A), "members": [], "leader_member_id": None, "protocol": None}


def test_a_group_whose_offsets_expired_ends_with_its_tombstone_and_comes_back_in_another_life():
    lines, records = round_of(1_000, 1, "1", A, stored=0)
    records += [empty(5_000, 1, 2), tombstone(9_000, 2)]
    later_lines, later_records = round_of(20_000, 1, "1", B, stored=3)
    tables = replayed(lines + later_lines, records + later_records, [])
    assert lives(tables) == [(1, 1), (1, 2), (2, 1)]
    assert [row["ended_at"] for row in tables["generations"]][:2] == [4_995, 9_000]


def test_the_old_coordinators_line_about_an_expired_group_and_its_tombstone_are_one_end():
    lines, records = round_of(1_000, 1, "1", A, stored=0)
    records += [empty(5_000, 1, 2), tombstone(9_000, 2)]
    tables = replayed([*lines, line(9_001, "group_expired", generation=2)], records, [])
    assert lives(tables) == [(1, 1), (1, 2)]
    assert tables["generations"][-1]["ended_at"] == 9_000
    assert [row["to_state"] for row in tables["transitions"]].count("Dead") == 1


CONVERTED = {
    "by its line": ([line(5_000, "group_converted", attributes={"from": "classic", "to": "consumer"})], []),
    "by the heartbeat that began it": ([], [request(5_000, "ConsumerGroupHeartbeat", "new", generation=0)]),
}


@pytest.mark.parametrize("how", CONVERTED)
def test_a_group_that_goes_over_to_the_consumer_protocol_ends_and_its_answers_are_not_foreseen(how):
    joined = [join(900, told=1, given="a-1", parked_ms=200.0), sync(1_105, "a-1", 1)]
    own = {**A, "member_id": "a-1"}
    lines, records = round_of(1_000, 1, "1", own, stored=0)
    more_lines, more_requests = CONVERTED[how]
    requests = [
        *joined,
        beat(4_000, "a-1", 1),
        *more_requests,
        join(6_000, "a-1", told=3, parked_ms=0.0),  # as a member of the consumer group, by its epoch
        sync(6_001, "a-1", 3),
        beat(7_000, "a-1", 3, error=27),
    ]
    tables = replayed(lines + more_lines, [*records, tombstone(5_001, 1)], requests)
    assert lives(tables) == [(1, 1)]
    assert tables["generations"][0]["ended_at"] in (5_000, 5_001)
    assert [(row["member_id"], row["end_cause"]) for row in tables["member_sessions"]] == [("a-1", "group_ended")]
    foreseen = {row["api"] + str(row["handled_at"]): row["predicted_error"] for row in tables["replay_audit"]}
    assert foreseen["Heartbeat4000.0"] == 0
    assert [foreseen[key] for key in ("JoinGroup6000.0", "SyncGroup6001.0", "Heartbeat7000.0")] == [None] * 3


def test_whoever_waits_in_a_group_that_is_converted_is_sent_to_join_again():
    requests = [
        join(900, told=None, given="a-1", parked_ms=1_100.0, error=27),
        request(2_000, "ConsumerGroupHeartbeat", "new", generation=0),
    ]
    first = line(880, "load_finished", group_id=None, topic_partition_of_group=7)
    tables = replayed([first, prepare(900, 0)], [], requests)
    assert verdicts(tables) == [(27, 27)]


def test_a_group_that_comes_back_from_the_consumer_protocol_is_in_another_life():
    lines, records = round_of(1_000, 1, "1", A, stored=0)
    converted = line(5_000, "group_converted", attributes={"from": "classic", "to": "consumer"})
    back = line(9_000, "group_converted", attributes={"from": "consumer", "to": "classic"})
    tables = replayed([*lines, converted, back], [*records, tombstone(5_000, 1), record(9_000, 2, 7, B)], [])
    assert lives(tables) == [(1, 1), (2, 7)]


def test_two_partitions_of_an_expanded_offsets_topic_are_two_histories():
    lines, records = round_of(1_000, 1, "1", A, B, stored=0)
    moved = {**record(10_000, 0, 1, A), "topic_partition_of_record": 57}
    left_behind = [empty(30_000, 1, 2), tombstone(40_000, 2)]  # the old partition's coordinator gives the group up
    again = {**record(50_000, 1, 2, A, B), "topic_partition_of_record": 57}
    tables = replayed(lines, [*records, moved, *left_behind, again], [])
    assert lives(tables) == [(1, 1), (2, 1), (2, 2)]
    assert [row["outcome"] for row in tables["generations"]] == ["stable"] * 3
    assert [row["ended_at"] for row in tables["generations"]] == [10_000, 49_995, None]
    assert {row["observed_partition"]: row["agrees"] for row in tables["coordinators"]} == {7: False, 57: False}


def test_of_the_partitions_of_an_expanded_topic_one_is_where_the_group_is_sought():
    lines, records = round_of(1_000, 4, "1", A, stored=0)
    home = replayed(lines, records, [])["coordinators"][0]["computed_partition"]
    moved = {**record(10_000, 0, 1, A), "topic_partition_of_record": home}
    tables = replayed(lines, [*records, moved], [])
    assert {row["observed_partition"]: row["agrees"] for row in tables["coordinators"]} == {7: False, home: True}
