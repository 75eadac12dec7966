"""Groups of epochs that begin from nothing although no record says how the one before ended: they have a new life."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from schemas.catalog import BY_NAME
from tests.unit.coordinator.consumer_records import UNREVOKED, Moment, Written, stands, targets
from tests.unit.coordinator.evidence_rows import GROUP, Row, modern_records
from transforms.coordinator.replay import replay_group


def _is(member: str) -> Written:
    return 5, member, {"clientId": f"{member}-client", "subscribedTopicNames": ["t"]}


BEGUN: Moment = (1_000, [_is("a"), (3, "", {"epoch": 1}), *targets(1, a=(0, 1)), stands("a", 1, 0, 1)])
GROWN: Moment = (2_000, [_is("b"), (3, "", {"epoch": 2}), *targets(2, a=(0,), b=(1,)), stands("b", 2)])
GIVEN: Moment = (3_000, [stands("a", 2, 0)])
TAKEN: Moment = (4_000, [stands("b", 2, 1)])
EMPTIED: Moment = (
    5_000,
    [
        *((number, name, None) for name in ("a", "b") for number in (8, 7, 5)),
        (3, "", {"epoch": 3}),
    ],
)
AGAIN = {
    "with all its records": [_is("a"), (3, "", {"epoch": 1}), *targets(1, a=(0, 1)), stands("a", 1, 0, 1)],
    "without its first epoch": [_is("a"), *targets(1, a=(0, 1)), stands("a", 1, 0, 1)],
    "without the epoch of its targets": [_is("a"), (3, "", {"epoch": 1}), stands("a", 1, 0, 1)],
    "of a member alone": [_is("a"), stands("a", 1, 0, 1)],
}


def _replayed(*moments: Moment) -> dict[str, list[Row]]:
    tables = replay_group("c", GROUP, [], [], [], 50, modern_records=modern_records(*moments))
    for name in ("generations", "assignments", "member_sessions", "transitions"):
        keys = Counter(tuple(row[column] for column in BY_NAME[name].key if column in row) for row in tables[name])
        assert max(keys.values(), default=1) == 1, f"{name}: rows of one key"
    return tables


def _held(tables: dict[str, list[Row]], life: int) -> set[tuple[str, int, int, int | None]]:
    rows = (row for row in tables["assignments"] if row["life"] == life)
    return {(row["member_id"], row["partition"], row["valid_from"], row["valid_to"]) for row in rows}


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize("is_emptied", [True, False])
def test_a_group_whose_epochs_begin_anew_has_a_new_life_whatever_is_left_of_its_beginning(again: str, is_emptied: bool):
    tables = _replayed(BEGUN, GROWN, GIVEN, TAKEN, *([EMPTIED] if is_emptied else []), (9_000, AGAIN[again]))
    until = 5_000 if is_emptied else 9_000
    assert {("a", 0, 3_000, until), ("b", 1, 4_000, until)} < _held(tables, 1)
    assert _held(tables, 2) == {("a", 0, 9_000, None), ("a", 1, 9_000, None)}
    assert [(row["to_state"], row["at"]) for row in tables["transitions"] if row["life"] == 1][-1] == ("Dead", 9_000)
    stays = {(row["life"], row["member_id"]): row["ended_at"] for row in tables["member_sessions"]}
    assert stays[2, "a"] is None
    assert (2, "b") not in stays, "who was in the life before is no member of the new one"


def test_a_coordinator_that_lost_its_latest_records_has_the_members_it_had_before():
    lost: Moment = (9_000, [_is("c"), (3, "", {"epoch": 2}), *targets(3, a=(0,), c=(1,))])
    tables = _replayed(BEGUN, GROWN, GIVEN, TAKEN, (5_000, [(3, "", {"epoch": 3})]), lost)
    assert {row["member_id"] for row in tables["member_sessions"] if row["life"] == 2} == {"a", "b", "c"}


def test_who_waits_at_an_older_epoch_than_the_targets_has_not_begun_anew():
    waiting: Moment = (2_500, [stands("a", 1, 0, state=UNREVOKED, revoking=(1,))])
    tables = _replayed(BEGUN, GROWN, waiting, GIVEN, TAKEN)
    assert {row["life"] for row in tables["generations"]} == {1}


@pytest.mark.parametrize("seed", range(20))
def test_records_that_are_lost_do_not_end_a_life(seed: int):
    dice = random.Random(seed)
    course = (BEGUN, GROWN, (2_500, [stands("a", 1, 0, state=UNREVOKED, revoking=(1,))]), GIVEN, TAKEN, EMPTIED)
    left = [(at, [each for each in written if dice.random() > 0.3]) for at, written in course]
    tables = _replayed(*(moment for moment in left if moment[1]))
    assert {row["life"] for row in tables["generations"]} <= {1}
