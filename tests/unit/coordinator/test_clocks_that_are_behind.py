"""Within a partition the log says what came first, though a clock be behind that of the record before.

A coordinator that takes over may have a clock behind that of the one before, and a clock may be set back: no life of
the group is made up by it, and nothing is told to end before it begins.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from math import inf
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from schemas.rows import GroupMetadataRow
from tests.unit.coordinator.consumer_records import UNREVOKED, Moment, Written, stands, targets
from tests.unit.coordinator.evidence_rows import GROUP, A, B, Row, line, member, modern_records, record, round_of
from tests.unit.coordinator.random_history import Evidence, histories
from tests.unit.coordinator.test_batch import Lake, batches, counted
from tests.unit.coordinator.test_fold import folded, items_of
from transforms.coordinator.evidence.connections import Connections
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.evidence.sequence import EvidenceRow, Sequencer, in_order
from transforms.coordinator.evidence.tolerances import CLOCK_STEP_MS, RECORD_DELAY_MS, REORDER_MS
from transforms.coordinator.fold import load
from transforms.coordinator.replay import replay, replay_group, typed, typed_records

C = member("c", [3])


def test_what_moves_a_record_is_read_with_it():
    assert CLOCK_STEP_MS + RECORD_DELAY_MS < REORDER_MS


def lives(tables: dict[str, list[Row]]) -> list[tuple[int, int]]:
    return [(row["life"], row["generation"]) for row in tables["generations"]]


def held(tables: dict[str, list[Row]]) -> set[tuple[str, int, int, int | None]]:
    rows = tables["assignments"]
    return {(row["member_id"], row["partition"], row["valid_from"], row["valid_to"]) for row in rows}


def assert_times_go_on(tables: dict[str, list[Row]]) -> None:
    """Nothing ends before it begins, and no generation begins before the one before."""
    begun = 0
    for row in tables["generations"]:
        moments = [row[name] for name in ("preparing_at", "completing_at", "stable_at", "emptied_at", "ended_at")]
        known = [begun, *(at for at in moments if at is not None)]
        assert known == sorted(known), row
        begun = known[1]
    for row in tables["assignments"]:
        assert row["valid_to"] is None or row["valid_from"] <= row["valid_to"], row
    for row in tables["reconciliations"]:
        assert row["to_at"] is None or row["from_at"] <= row["to_at"], row
    for row in tables["member_sessions"]:
        assert None in (row["joined_at"], row["ended_at"]) or row["joined_at"] <= row["ended_at"], row
    moved = [row["at"] for row in tables["transitions"]]
    assert moved == sorted(moved)


# --- classic groups --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("behind_ms", [1, 50, 300, 499])
def test_a_generation_that_a_broker_with_a_late_clock_stored_is_the_next(behind_ms: int):
    records = [record(1_000, 0, 1, A), record(5_000, 1, 2, A, B), record(5_000 - behind_ms, 2, 3, B, C)]
    tables = replay_group("c", GROUP, records, [], [], 50)
    assert lives(tables) == [(1, 1), (1, 2), (1, 3)]
    assert held(tables) == {
        *(("a", number, 1_000, 4_995) for number in (0, 1)),
        *(("a", number, 5_000, 5_000) for number in (0, 1)),
        ("b", 2, 5_000, 5_000),
        ("b", 2, 5_000, None),
        ("c", 3, 5_000, None),
    }
    assert_times_go_on(tables)


def test_a_broker_with_a_late_clock_takes_over_as_its_lines_tell():
    """What it logs first is older, by its clock, than what the one before logged and stored last."""
    first, second = round_of(1_000, 1, "1", A, stored=0), round_of(5_000, 2, "1", A, B, stored=1)
    taken_over = [line(5_071, "group_loaded", "2", generation=2, member_count=2)]
    third = round_of(5_075, 3, "2", A, B, C, stored=2)
    (third[1][0]["recorded_at"], third[1][0]["state_changed_at"]) = (5_090, 5_085)
    lines = [*first[0], *second[0], *taken_over, third[0][0]]
    tables = replay_group("c", GROUP, [*first[1], *second[1], *third[1]], lines, [], 50)
    assert lives(tables) == [(1, 1), (1, 2), (1, 3)]
    assert [row["stable_at"] for row in tables["generations"]] == [1_112, 5_112, 5_112]
    assert_times_go_on(tables)


@pytest.mark.parametrize("has_lines", [True, False])
def test_a_clock_that_is_set_back_amid_a_rebalance_does_not_end_it_before_it_began(has_lines: bool):
    first, second = round_of(1_000, 1, "1", A, stored=0), round_of(5_000, 2, "1", A, B, stored=1)
    third = round_of(5_150, 3, "1", B, C, stored=2)
    for row in (third[0][2], third[1][0]):  # what is logged and stored once the assignment was there
        for name in {"logged_at", "recorded_at"} & row.keys():
            row[name] -= 300
    third[1][0]["state_changed_at"] = 5_250
    lines = [*first[0], *second[0], *third[0]] if has_lines else []
    tables = replay_group("c", GROUP, [*first[1], *second[1], *third[1]], lines, [], 50)
    assert lives(tables) == [(1, 1), (1, 2), (1, 3)]
    assert tables["generations"][-1]["stable_at"] == 5_250
    assert {(member_id, since) for member_id, _, since, until in held(tables) if until is None} == {
        ("b", 5_250),
        ("c", 5_250),
    }
    assert_times_go_on(tables)


def test_a_join_phase_that_seems_older_than_the_record_before_begins_with_it():
    """The lines of the next rebalance are by the clock that was set back, as is its record."""
    first, second = round_of(1_000, 1, "1", A, stored=0), round_of(5_000, 2, "1", A, B, stored=1)
    third = round_of(4_900, 3, "1", B, C, stored=2)
    third[1][0]["state_changed_at"] = 5_000
    tables = replay_group("c", GROUP, [*first[1], *second[1], *third[1]], [*first[0], *third[0]], [], 50)
    assert lives(tables) == [(1, 1), (1, 2), (1, 3)]
    (_, before, last) = tables["generations"]
    assert (before["ended_at"], last["preparing_at"], last["stable_at"]) == (5_112, 5_112, 5_112)
    assert_times_go_on(tables)


def test_a_group_that_is_deleted_and_made_anew_by_a_late_clock_lives_again():
    deleted = {**record(5_100, 1, 0, A), "is_tombstone": True, "generation": None, "members": None}
    records = [record(5_000, 0, 4, A), deleted, record(5_050, 2, 1, B)]
    tables = replay_group("c", GROUP, records, [], [], 50)
    assert lives(tables) == [(1, 4), (2, 1)]
    assert tables["generations"][0]["ended_at"] == tables["generations"][1]["stable_at"] == 5_100


@pytest.mark.parametrize("later_ms", [501, 10_000, 3_600_000])
def test_a_topic_that_is_made_anew_goes_on_with_its_times(later_ms: int):
    old = [record(1_000, 500, 4, A), record(2_000, 501, 5, A, B)]
    anew = [record(2_000 + later_ms, 0, 1, A), record(3_000 + later_ms, 1, 2, A, C)]
    tables = replay_group("c", GROUP, [*anew, *old], [], [], 50)
    assert lives(tables) == [(1, 4), (1, 5), (2, 1), (2, 2)]
    assert [row["stable_at"] for row in tables["generations"]] == [1_000, 2_000, 2_000 + later_ms, 3_000 + later_ms]


def test_a_clock_that_is_far_off_counts_as_it_is():
    records = [record(1_000, 0, 1, A), record(5_000, 1, 2, A, B), record(4_499, 2, 3, B, C)]
    assert lives(replay_group("c", GROUP, records, [], [], 50)) == [(1, 1), (1, 3), (2, 2)]


def test_records_of_another_partition_do_not_move_those_of_this_one():
    other = {**record(5_400, 0, 7, C), "topic_partition_of_record": 9}
    rows = typed([record(5_000, 1, 2, A), other], GroupMetadataRow)
    assert places(in_order(Connections(), rows, [], [])) == [(5_010.0, 7, [1]), (5_410.0, 9, [0])]


def test_a_copy_of_a_record_stands_with_it():
    rows = typed([record(5_000, 1, 2, A), record(4_960, 2, 3, B), record(4_960, 2, 3, B)], GroupMetadataRow)
    assert places(in_order(Connections(), rows, [], [])) == [(5_010.0, 7, [1]), (5_010.0, 7, [2]), (5_010.0, 7, [2])]


# --- the order -------------------------------------------------------------------------------------------------------


def places(items: Iterable[Item]) -> list[tuple[float, int, list[int]]]:
    """Where records stand, their partition, and the offsets of those that stand together."""
    found = []
    for item in items:
        rows: list[Any] = [*([item.record] if item.record else []), *(item.modern or ())]
        found.append((item.at, item.place[1], [row.record_offset for row in rows]))
    return found


def test_appends_of_two_brokers_stand_apart_each_as_a_whole():
    rows = typed_records(modern_records((1_000, [stands("a", 1)] * 2), (950, [stands("b", 1)] * 3)))
    assert places(in_order(Connections(), rows, [], [])) == [(1_010.0, 7, [0, 1]), (1_010.0, 7, [2, 3, 4])]


def test_appends_of_one_moment_with_another_between_them_stand_apart():
    rows = typed_records(modern_records((1_000, [stands("a", 1)]), (950, [stands("b", 1)]), (1_000, [stands("c", 1)])))
    assert places(in_order(Connections(), rows, [], [])) == [(1_010.0, 7, [0]), (1_010.0, 7, [1]), (1_010.0, 7, [2])]


def test_a_record_waits_as_long_as_one_that_stands_before_it_may_come():
    late, early = typed([record(4_600, 1, 2, A), record(5_000, 0, 1, A)], GroupMetadataRow)
    sequencer = Sequencer(Connections())
    sequencer.add([late])
    assert sequencer.emit(sequencer.safe) == []
    sequencer.add([early])
    sequencer.add(typed_records(modern_records((5_990, [stands("a", 1)]))))
    assert sequencer.emit(sequencer.safe) == []
    sequencer.add(typed([record(6_020, 9, 3, A)], GroupMetadataRow))
    assert places(sequencer.emit(sequencer.safe)) == [(5_010.0, 7, [0]), (5_010.0, 7, [1])]


@pytest.mark.parametrize("until", [4_970.0, 4_980.0, 5_010.0, 5_011.0])
def test_a_record_is_taken_once_whichever_side_of_a_horizon_its_own_time_is_on(until: float):
    rows = typed([record(5_000, 0, 1, A), record(4_960, 1, 2, B)], GroupMetadataRow)
    first, second = Sequencer(Connections()), Sequencer(Connections(until=until))
    first.add(rows)
    second.add([row for row in rows if row.recorded_at >= until - REORDER_MS])
    assert places([*first.emit(until), *second.emit(inf)]) == [(5_010.0, 7, [0]), (5_010.0, 7, [1])]


# --- groups of epochs ------------------------------------------------------------------------------------------------


def _is(member_id: str) -> Written:
    return 5, member_id, {"clientId": f"{member_id}-client", "subscribedTopicNames": ["t"]}


COURSE: list[list[Written]] = [
    [_is("a"), (3, "", {"epoch": 1}), *targets(1, a=(0, 1)), stands("a", 1, 0, 1)],
    [_is("b"), (3, "", {"epoch": 2}), *targets(2, a=(0,), b=(1,)), stands("b", 2)],
    [stands("a", 1, 0, state=UNREVOKED, revoking=(1,))],
    [stands("a", 2, 0)],
    [stands("b", 2, 1)],
    [_is("c"), (3, "", {"epoch": 3}), *targets(3, a=(0,), b=(), c=(1,)), stands("c", 3)],
    [stands("b", 3)],
    [stands("a", 3, 0)],
    [stands("c", 3, 1)],
    [*((number, "b", None) for number in (8, 7, 5)), (3, "", {"epoch": 4}), *targets(4, a=(0,), c=(1,))],
    [stands("a", 4, 0)],
    [stands("c", 4, 1)],
]


def course(moments: list[float]) -> list[Row]:
    pairs: list[Moment] = [(at, written) for at, written in zip(moments, COURSE, strict=True)]
    return modern_records(*pairs)


def of_epochs(moments: list[float]) -> dict[str, list[Row]]:
    return replay_group("c", GROUP, [], [], [], 50, modern_records=course(moments))


IN_TIME = [10_000.0 + 100 * number for number in range(len(COURSE))]


@pytest.mark.parametrize("behind_ms", [50, 300, 450])
@pytest.mark.parametrize("turn", range(1, len(COURSE)))
def test_epochs_do_not_fall_by_a_clock(turn: int, behind_ms: int):
    """From some append on, a broker with a late clock writes, within a few ms."""
    before = IN_TIME[turn - 1]
    behind = [before + 5 * number - behind_ms for number in range(len(COURSE) - turn)]
    tables = of_epochs([*IN_TIME[:turn], *behind])
    assert lives(tables) == [(1, 1), (1, 2), (1, 3), (1, 4)]
    assert [row["outcome"] for row in tables["generations"]] == ["stable"] * 4
    assert {each[:2] for each in held(tables) if each[3] is None} == {("a", 0), ("c", 1)}
    assert_times_go_on(tables)


def test_a_topic_that_is_made_anew_begins_epochs_anew():
    old = modern_records((10_000, COURSE[0]), (11_000, COURSE[1]))
    anew = modern_records((11_600, COURSE[0]))
    for row in old:
        row["record_offset"] += 100
    tables = replay_group("c", GROUP, [], [], [], 50, modern_records=[*anew, *old])
    assert lives(tables) == [(1, 1), (1, 2), (2, 1)]


# --- anywhere, and cut anywhere --------------------------------------------------------------------------------------

_TIMES = {"recorded_at", "logged_at", "handled_at", "answered_at", "state_changed_at"}


def set_back(evidence: Evidence, since: float, by_ms: float) -> Evidence:
    """The same history by a clock that is set back at a moment."""

    def told(row: Any) -> Any:
        times = {name: getattr(row, name) for name in _TIMES & {*row.__struct_fields__}}
        return msgspec.structs.replace(
            row, **{name: at - by_ms for name, at in times.items() if at is not None and at >= since}
        )

    return tuple([told(row) for row in rows] for rows in evidence)  # type: ignore[return-value]


@st.composite
def histories_by_a_clock_set_back(draw: st.DrawFn) -> tuple[Evidence, Evidence]:
    """A history, and the same by a clock that is set back a moment after something was stored, or then."""
    evidence = draw(histories())
    assume(evidence[0])
    stored = draw(st.sampled_from([row.recorded_at or 0.0 for row in evidence[0]]))
    since = stored + draw(st.sampled_from([-5.0, 0.0, 1.0, 40.0]))
    return evidence, set_back(evidence, since, float(draw(st.integers(1, 450))))


def sequence_of(evidence: Evidence) -> list[tuple[Any, ...]]:
    rows = replay("c", GROUP, evidence[0], [], [], 50)
    return [(row.life, row.generation, row.outcome, row.joined_member_ids) for row in rows.generations]


@given(histories_by_a_clock_set_back())
@settings(max_examples=100, deadline=None)
def test_records_tell_the_same_by_a_clock_that_is_set_back(both: tuple[Evidence, Evidence]) -> None:
    in_time, behind = both
    assert sequence_of(behind) == sequence_of(in_time)


@given(histories_by_a_clock_set_back(), st.lists(st.integers(0, 400), max_size=6))
@settings(max_examples=60, deadline=None)
def test_a_history_by_such_a_clock_may_be_cut_anywhere(both: tuple[Evidence, Evidence], cuts: list[int]) -> None:
    whole, _ = folded(items_of(both[1]), [])
    items = items_of(both[1])
    parts, _ = folded(items, [cut % (len(items) + 1) for cut in cuts])
    assert counted([parts]) == counted([whole])


@given(histories_by_a_clock_set_back(), st.randoms(use_true_random=False), st.integers(1, 6), st.booleans())
@settings(max_examples=80, deadline=None)
def test_batches_by_such_a_clock_end_in_the_rows_of_one(
    both: tuple[Evidence, Evidence], dice: random.Random, runs: int, is_late: bool
) -> None:
    several, one = batches(both[1], dice, runs, is_late)
    assert counted(several.all_rows()) == counted(one.all_rows())
    assert load(several.snapshots[-1].state) == load(one.snapshots[-1].state)


@given(histories(), st.randoms(use_true_random=False), st.integers(1, 6), st.booleans())
@settings(max_examples=80, deadline=None)
def test_batches_end_in_the_rows_of_one_whatever_clocks_wrote_the_records(
    evidence: Evidence, dice: random.Random, runs: int, is_late: bool
) -> None:
    for row in evidence[0]:
        row.recorded_at = (row.recorded_at or 0.0) + dice.choice((0, 0, -900, -450, -300, 20, 490, 700))
        if row.state_changed_at is not None:
            row.state_changed_at += dice.choice((0, 0, 300, 700))
    several, one = batches(evidence, dice, runs, is_late)
    assert counted(several.all_rows()) == counted(one.all_rows())
    assert load(several.snapshots[-1].state) == load(one.snapshots[-1].state)


def by_clocks(steps: list[tuple[int, int]]) -> list[float]:
    """Moments of appends, each some ms after the one before and seen by a clock that is behind by some ms."""
    moments, now = [], 10_000.0
    for after_ms, behind_ms in steps:
        now += after_ms
        moments.append(now - behind_ms)
    return moments


CLOCKS = st.lists(
    st.tuples(st.sampled_from([1, 10, 200, 480, 6_000]), st.integers(0, 450)),
    min_size=len(COURSE),
    max_size=len(COURSE),
).map(by_clocks)


@given(CLOCKS)
@settings(max_examples=100, deadline=None)
def test_epochs_go_on_whatever_clocks_wrote_them(moments: list[float]) -> None:
    tables = of_epochs(moments)
    assert lives(tables) == [(1, 1), (1, 2), (1, 3), (1, 4)]
    assert_times_go_on(tables)


@given(CLOCKS, st.lists(st.floats(9_000, 90_000), max_size=5), st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_epochs_by_such_clocks_may_be_cut_at_any_moment(
    moments: list[float], horizons: list[float], pieces: int
) -> None:
    rows: list[EvidenceRow] = [*typed_records(course(moments))]
    one, several = Lake(), Lake()
    one.run(rows, inf, 1)
    for horizon in [*sorted(horizons), inf]:
        several.run([] if several.rows else rows, horizon, pieces)
    assert counted(several.all_rows()) == counted(one.all_rows())


@given(CLOCKS, st.randoms(use_true_random=False), st.integers(1, 6), st.booleans())
@settings(max_examples=100, deadline=None)
def test_epochs_by_such_clocks_come_in_batches(
    moments: list[float], dice: random.Random, runs: int, is_late: bool
) -> None:
    records: Any = typed_records(course(moments))
    several, one = batches((records, [], []), dice, runs, is_late)
    assert counted(several.all_rows()) == counted(one.all_rows())
    assert load(several.snapshots[-1].state) == load(one.snapshots[-1].state)
