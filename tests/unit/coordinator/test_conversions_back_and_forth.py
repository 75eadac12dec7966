"""A group id that goes over to the newer protocol and comes back: each request meets the group as it was by then.

What happens is what a broker of 4.2.0 did with members of both protocols; the records are as it wrote them.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.coordinator.converted_rows import CLASSIC, NEW, NOTHING, broker, comes, standing
from tests.unit.coordinator.evidence_rows import (
    GROUP,
    Row,
    beat,
    join,
    line,
    member,
    modern_records,
    prepare,
    record,
    request,
    round_of,
)
from transforms.coordinator.replay import replay_group

Written = list[tuple[int, str, Any]]


def _taken_in(member_id: str, epoch: int, metadata: Row = NEW) -> Written:
    return [
        (5, member_id, metadata),
        (3, "", {"epoch": epoch}),
        (7, member_id, NOTHING),
        (6, "", {"assignmentEpoch": epoch}),
        (8, member_id, standing(epoch, epoch)),
    ]


def _gone(member_id: str) -> Written:
    return [(8, member_id, None), (7, member_id, None), (5, member_id, None)]


OVER: Written = [(6, "", None), (4, "", None), (3, "", None)]
LEFT_EMPTY: Written = [*_gone("m"), (3, "", {"epoch": 2})]


def _new_classic(at: int, offset: int) -> Row:
    return {**record(at, offset, 0, member("a-1", [])), "members": [], "leader_member_id": None, "protocol": None}


def _predicted(
    lines: list[Row], requests: list[Row], records: list[Row], modern: list[Row] | None = None
) -> list[tuple[str, int | None]]:
    told = replay_group("c", GROUP, records, [*broker("4.2.0"), *lines], requests, 50, modern_records=modern or [])
    rows = sorted(told["replay_audit"], key=lambda row: row["handled_at"])
    return [(row["group_type"], row["predicted_error"]) for row in rows]


def test_a_joiner_for_whom_there_is_no_room_leaves_the_group_a_classic_one():
    """The broker logs the conversion before it finds that there is no room."""
    lines, records = round_of(1_000, 1, "1", member("a-1", [0]), stored=5)
    full = line(101, "broker_settings", group_id=None, attributes={"group.consumer.max.size": "1"})
    converted = line(2_000, "group_converted", attributes={"from": "classic", "to": "consumer"})
    asked = [comes(2_000, 81), beat(2_500, "a-1", 1), beat(2_600, "b-1", 1, 25)]
    told = _predicted([*lines, full, converted], asked, records)
    assert told == [("consumer", 81), ("classic", 0), ("classic", 25)]


def test_an_empty_group_gives_way_to_who_joins_by_the_classic_protocol():
    """The join comes before its own records do, and who has been named by it joins the group that they tell of."""
    modern = modern_records((1_000, _taken_in("m", 1)), (2_000, LEFT_EMPTY), (5_001, OVER))
    asked = [
        join(5_000.2, error=79, given="a-1", api_version=9),
        join(5_003, "a-1", told=1, parked_ms=3_000, api_version=9),
        beat(9_000, "a-1", 1),
    ]
    lines = [prepare(5_003, 0), line(8_003, "stabilized", generation=1, member_count=1)]
    told = _predicted(lines, asked, [_new_classic(5_001, 90)], modern)
    assert told == [("classic", 79), ("classic", 0), ("classic", 0)]


def test_an_empty_group_that_was_forgotten_gives_way_without_any_record():
    """Who joins it by an id is not known, and its coordinator forgets it; the next one to join finds nothing there."""
    modern = modern_records((1_000, _taken_in("m", 1)), (2_000, LEFT_EMPTY))
    asked = [
        join(3_000, "x", error=25, api_version=9),
        join(5_000.2, error=27, parked_ms=200, api_version=9, group_instance_id="i"),
        join(5_300, told=1, given="a-2", parked_ms=2_700, api_version=9, group_instance_id="i"),
    ]
    lines = [prepare(5_001, 0), line(8_003, "stabilized", generation=1, member_count=1)]
    told = replay_group("c", GROUP, [], [*broker("4.2.0"), *lines], asked, 50, modern_records=modern)
    rows = {(row["life"], row["generation"], row["group_type"]): row for row in told["generations"]}
    assert set(rows) == {(1, 1, "consumer"), (1, 2, "consumer"), (2, 1, "classic")}
    assert rows[1, 2, "consumer"]["ended_at"] <= rows[2, 1, "classic"]["preparing_at"] <= 5_001


@pytest.mark.parametrize("is_empty", [True, False])
@pytest.mark.parametrize("is_left", [True, False])
def test_the_record_of_a_classic_group_ends_the_group_of_epochs_whose_tombstones_are_missing(
    is_empty: bool, is_left: bool
):
    """Whoever loads the log has a classic group from that record on, whatever the id was before."""
    modern = modern_records((1_000, _taken_in("m", 1)), *([(2_000, LEFT_EMPTY)] if is_left else []))
    first = _new_classic(5_001, 90) if is_empty else record(5_001, 90, 1, member("a-1", [0]))
    told = replay_group("c", GROUP, [first], broker("4.2.0"), [], 50, modern_records=modern)
    ends = {row["generation"]: row["ended_at"] for row in told["generations"] if row["group_type"] == "consumer"}
    assert ends[max(ends)] == 5_001
    moves = [(row["life"], row["at"], row["to_state"]) for row in told["transitions"]]
    assert (1, 5_001, "Dead") in moves
    assert {(life, state) for life, _, state in moves if life == 2} >= (set() if is_empty else {(2, "Stable")})
    assert all(row["ended_at"] is not None for row in told["member_sessions"] if row["life"] == 1)


def test_a_group_that_has_members_does_not_give_way():
    modern = modern_records((1_000, _taken_in("m", 1)))
    offered = [{"name": "range", "metadata": b"\0\1\0\0\0\1\0\1t\0\0\0\0"}]
    asked = [join(5_000, error=79, given="a-1", api_version=9, protocols=offered)]
    assert _predicted([], asked, [], modern) == [("consumer", 79)]


def test_a_group_that_came_back_can_be_converted_again_soon():
    """Who waits in it is sent back, as if it had not been converted a moment before."""
    modern = modern_records(
        (1_000, [*_taken_in("a-1", 1, CLASSIC), *_taken_in("m", 2)]),
        (2_000, [*_gone("m"), *_gone("a-1"), *OVER]),
        (2_500, [*_taken_in("a-1", 2, CLASSIC), *_taken_in("m", 3)]),
    )
    for row in modern:
        row["record_offset"] += 100 * (row["recorded_at"] == 2_500)
    stored = record(2_000, 90, 2, member("a-1", []), member("b-1", []))
    ended = {**stored, "record_offset": 91, "recorded_at": 2_500, "is_tombstone": True, "members": None}
    asked = [join(2_200, "a-1", error=27, parked_ms=300), comes(2_500, 0)]
    told = _predicted([prepare(2_000, 2)], asked, [stored, ended], modern)
    assert told[0] == ("classic", 27)


@pytest.mark.parametrize("asked", [beat(2_002, "a-1", 2, 27), join(2_003, "a-1", told=3, parked_ms=50)])
def test_who_asks_right_after_the_group_came_back_is_answered_by_the_classic_one(asked: Row):
    """Its records are taken some time after they were written, as what caused them comes first."""
    modern = modern_records(
        (1_000, [*_taken_in("a-1", 1, CLASSIC), *_taken_in("m", 2)]), (2_000, [*_gone("m"), *_gone("a-1"), *OVER])
    )
    stored = record(2_000, 90, 2, member("a-1", []))
    lines = [prepare(2_000, 2), line(2_053, "stabilized", generation=3, member_count=1)]
    assert _predicted(lines, [asked], [stored], modern) == [("classic", asked["error_code"])]


def test_a_group_is_deleted_only_when_it_is_empty():
    modern = modern_records((1_000, _taken_in("m", 1)), (2_000, LEFT_EMPTY), (3_000, OVER))
    asked = [request(1_500, "DeleteGroups", error=68), request(2_999.8, "DeleteGroups", error=0)]
    assert _predicted([], asked, [], modern) == [("consumer", 68), ("consumer", 0)]


def test_who_joins_a_group_id_whose_group_of_epochs_was_deleted_finds_none_there():
    """Who waits there is sent back by a joiner of the newer protocol, cannot be converted, and is a member still."""
    modern = modern_records((1_000, _taken_in("m", 1)), (2_000, LEFT_EMPTY), (3_000, OVER))
    asked = [
        request(2_999.8, "DeleteGroups", error=0),
        join(4_000, error=79, given="a-1", api_version=9),
        join(4_001, "a-1", error=27, parked_ms=500, api_version=9),
        comes(4_500, -1),
        request(4_503, "LeaveGroup", "a-1", error=0),
    ]
    told = _predicted([prepare(4_001, 0)], asked, [], modern)
    assert told == [("consumer", 0), ("classic", 79), ("classic", 27), ("consumer", -1), ("classic", 0)]


@pytest.mark.parametrize("is_forgotten", [True, False])
def test_a_group_that_its_coordinator_has_forgotten_cannot_be_deleted_and_begins_anew(is_forgotten: bool):
    """Without any record: only the join by an id, and its answer, tell that the empty group is no more."""
    anew = [*_taken_in("n", 1)] if is_forgotten else [*_taken_in("n", 3)]
    modern = modern_records((1_000, _taken_in("m", 1)), (2_000, LEFT_EMPTY), (6_000, anew))
    forgets = [join(3_000, "x", error=25, api_version=9)] if is_forgotten else []
    asked = [*forgets, request(4_000, "DeleteGroups", error=69 if is_forgotten else 0)]
    told = replay_group("c", GROUP, [], broker("4.2.0"), asked, 50, modern_records=modern)
    last = max(told["replay_audit"], key=lambda row: row["handled_at"])
    assert (last["api"], last["group_type"]) == ("DeleteGroups", "classic" if is_forgotten else "consumer")
    assert last["agrees"] is not False
    lives = sorted((row["life"], row["generation"], row["ended_at"]) for row in told["generations"])
    if is_forgotten:
        assert lives == [(1, 1, 2_000), (1, 2, 3_000), (2, 1, None)]
    else:
        assert lives == [(1, 1, 2_000), (1, 2, 6_000), (1, 3, None)]
