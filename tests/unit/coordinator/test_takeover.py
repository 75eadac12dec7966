"""What another coordinator knows of a group that it takes over, and what it answers."""

from __future__ import annotations

import pytest

from tests.unit.coordinator.evidence_rows import (
    Row,
    beat,
    join,
    line,
    member,
    prepare,
    record,
    replayed,
    sync,
    verdicts,
)

OWN = member("a-1", [0])


def began(broker: str = "1", member_id: str = "a-1") -> tuple[list[Row], list[Row], list[Row]]:
    """Lines, records and requests of a group of one member, Stable in generation 1 at a broker."""
    lines = [
        line(500, "load_finished", broker, group_id=None, topic_partition_of_group=7),
        prepare(900, 0, broker),
        line(3_900, "stabilized", broker, generation=1, member_count=1),
        line(3_905, "assignment_received", broker, generation=1, member_id=member_id),
    ]
    requests = [
        join(900, told=1, given=member_id, parked_ms=3_000.0, answered_members=[told(member_id)]),
        sync(3_904, member_id, 1, assignments=[{"member_id": member_id, "assignment": b""}]),
    ]
    return lines, [record(3_905, 0, 1, {**OWN, "member_id": member_id})], requests


def told(member_id: str) -> Row:
    return {"member_id": member_id, "group_instance_id": None, "metadata": b"s"}


def loaded(at: int, broker: str, count: int | None = 1) -> list[Row]:
    """A broker loads the partition, and finds the group with so many members in it; None = does not find it."""
    found = [] if count is None else [line(at + 50, "group_loaded", broker, member_count=count)]
    place = {"group_id": None, "topic_partition_of_group": 7}
    return [line(at, "load_scheduled", broker, **place), *found, line(at + 60, "load_finished", broker, **place)]


def test_silence_between_two_coordinators_removes_nobody():
    lines, records, requests = began()
    after = beat(30_000, "a-1", 1, broker="2")  # broker 1 died; the session was 10 s
    tables = replayed([*lines, *loaded(25_000, "2")], records, [*requests, after])
    assert verdicts(tables)[-1] == (0, 0)
    assert [(row["life"], row["generation"]) for row in tables["generations"]] == [(1, 1)]
    assert tables["member_sessions"][0]["end_cause"] is None


def test_a_new_coordinator_that_does_not_find_the_group_has_none():
    lines, records, requests = began()
    tables = replayed([*lines, *loaded(5_000, "2", count=None)], [], [*requests, beat(6_000, "a-1", 1, 25, broker="2")])
    assert verdicts(tables)[-1] == (25, 25)


def test_the_old_coordinators_last_words_do_not_end_the_group_at_the_new_one():
    lines, records, requests = began()
    late = [
        line(5_200, "unload_scheduled", "1", group_id=None, topic_partition_of_group=7),
        line(5_210, "group_unloaded", "1", generation=1),
        line(7_000, "member_failed", "1", member_id="a-1"),  # a timer of the group that it gave up
    ]
    tables = replayed([*lines, *loaded(5_000, "2"), *late], records, [*requests, beat(8_000, "a-1", 1, broker="2")])
    assert verdicts(tables)[-1] == (0, 0)
    assert tables["member_sessions"][0]["end_cause"] is None


def test_a_broker_that_has_not_let_go_yet_is_not_foreseen():
    lines, records, requests = began()
    tables = replayed([*lines, *loaded(5_000, "2")], records, [*requests, beat(5_500, "a-1", 1, broker="1")])
    assert verdicts(tables)[-1] == (0, None)
    assert "another coordinates" in tables["replay_audit"][-1]["why"]


def test_ids_that_were_pending_are_lost_with_the_coordinator():
    lines, records, requests = began()
    requests += [
        join(5_000, given="b-2", error=79, api_version=4),
        join(7_000, "b-2", error=25, api_version=4, broker="2"),
    ]
    assert verdicts(replayed([*lines, *loaded(6_000, "2")], records, requests))[-1] == (25, 25)


@pytest.mark.parametrize("restarts", [True, False])
def test_only_a_restart_makes_a_coordinator_forget_when_it_is_elected_anew(restarts):
    lines, records, requests = began()
    requests += [
        join(5_000, given="b-2", error=79, api_version=4),
        join(7_000, "b-2", error=25 if restarts else 27, api_version=4),
    ]
    start = [line(5_500, "coordinator_started", "1", group_id=None)] if restarts else []
    (_, foreseen) = verdicts(replayed([*lines, *start, *loaded(6_000, "1")], records, requests))[-1]
    assert (foreseen == 25) == restarts


def test_a_parked_join_that_the_group_gave_back_when_it_moved_was_in_the_group():
    lines, records, requests = began()
    moved = [
        prepare(5_000, 1),
        line(6_000, "unload_scheduled", "1", group_id=None, topic_partition_of_group=7),
        line(6_001, "group_unloaded", "1", generation=1),
    ]
    requests += [join(5_000, given="b-2", error=16, parked_ms=1_001.0), beat(5_500, "a-1", 1, 27)]
    assert verdicts(replayed([*lines, *moved], records, requests))[-2:] == [(16, 16), (27, 27)]
