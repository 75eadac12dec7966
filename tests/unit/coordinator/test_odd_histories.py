"""Whatever a history holds, its replay ends and raises nothing: numbers and names that no broker would write, twice."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import fields

from schemas.rows import GroupMetadataRow
from tests.unit.coordinator.evidence_rows import beat, join, member, record, replayed, request, verdicts
from tests.unit.coordinator.random_history import VERSIONS, Evidence, history
from transforms.coordinator.replay import replay

LONGEST_MS = 2_147_483_647
ODD_NUMBERS = (-1, 0, 1, LONGEST_MS, -LONGEST_MS - 1, None)
ODD_NAMES = ("", "i1", "unknown-7", None)
YEAR_MS = 365 * 86_400_000.0

_NUMBERS = ("session_timeout_ms", "rebalance_timeout_ms", "generation", "answered_generation", "member_count")
_NAMES = ("member_id", "group_instance_id", "client_id", "answered_member_id", "answered_leader", "leader_member_id")
_NEVER_NULL = {("SentAssignment", "member_id"), ("StoredMember", "member_id"), ("ToldMember", "member_id")}
_MOMENTS = ("recorded_at", "logged_at", "answered_at", "handled_at", "state_changed_at")


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise if it has not ended by then."""

    def ring(*_: object) -> None:
        raise TimeoutError(f"not over after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def made_odd(evidence: Evidence, dice: random.Random) -> Evidence:
    """Put odd values into a history, write parts of it twice, and let long times go by."""
    odd = [[each for row in rows for each in _twice(row, dice)] for rows in evidence]
    gap_from = dice.choice([float("inf"), 1_000_000.0 + dice.randint(0, 60_000)])
    for row in (row for rows in odd for row in rows):
        _spoil(row, dice)
        for each in getattr(row, "members", None) or ():
            _spoil(each, dice)
        for name in _MOMENTS:
            at = getattr(row, name, None)
            if at is not None and at >= gap_from:
                setattr(row, name, at + YEAR_MS)
    return odd[0], odd[1], odd[2]  # type: ignore[return-value]


def _twice(row: Any, dice: random.Random) -> list[Any]:
    if isinstance(row, GroupMetadataRow) and row.members:
        row.members = [each for held in row.members for each in ([held, copy(held)] if dice.random() < 0.1 else [held])]
    if dice.random() >= 0.1:
        return [row]
    again = copy(row)
    if isinstance(again, GroupMetadataRow):
        again.record_offset += dice.choice((0, 10_000))
        again.members = [copy(each) for each in again.members or ()]
    else:
        again.line_number += dice.choice((0, 10_000))
    return [row, again]


def _spoil(row: Any, dice: random.Random) -> None:
    for each in fields(row):
        is_number = each.name in _NUMBERS
        if not (is_number or each.name in _NAMES) or dice.random() >= 0.08:
            continue
        value = dice.choice(ODD_NUMBERS if is_number else ODD_NAMES)
        if value is not None or (type(row).__name__, each.name) not in _NEVER_NULL:
            setattr(row, each.name, value)


@given(st.integers(0, 2**32), st.integers(1, 80), st.sampled_from(VERSIONS), st.sampled_from([0.0, 0.3]), st.booleans())
@settings(max_examples=250, deadline=None)
def test_an_odd_history_is_replayed_to_its_end(
    seed: int, steps: int, version: str, lost: float, is_falsified: bool
) -> None:
    evidence = made_odd(history(seed, steps, version, lost, is_falsified), random.Random(seed))
    with within(20):
        replay("c", "orders", *evidence, 50)


@pytest.mark.parametrize("timeout_ms", [-1, 0, -LONGEST_MS - 1])
def test_a_session_that_is_over_before_it_begins_ends_once(timeout_ms: int) -> None:
    """The request log begins a minute after the record: sessions begin afresh there, however short they are."""
    stored = record(1_000, 0, 1, {**member("a-1", [0]), "session_timeout_ms": timeout_ms})
    with within(5):
        tables = replayed([], [stored], [beat(60_000, "a-1", 1, 25)])
    assert verdicts(tables) == [(25, 25)]


@pytest.mark.parametrize("timeout_ms", [-1, 0, 1])
@pytest.mark.parametrize("session_ms", [10_000, LONGEST_MS])
def test_a_join_phase_that_nobody_comes_to_is_drawn_out_and_time_goes_on(timeout_ms: int, session_ms: int) -> None:
    """A static member is away, and the group waits for it, again and again for as long as a rebalance may take."""
    static = {"group_instance_id": "i", "rebalance_timeout_ms": timeout_ms, "session_timeout_ms": session_ms}
    members = [{**member("i-1", [0]), **static}, {**member("b-1", [1]), "rebalance_timeout_ms": timeout_ms}]
    leaver = {"member_id": "b-1", "group_instance_id": None, "reason": None, "error_code": 0}
    asked = [
        beat(2_000, "i-1", 1, group_instance_id="i"),
        request(3_000, "LeaveGroup", leaving_members=[leaver]),
        beat(9_000, "i-1", 1, 27, group_instance_id="i"),
        beat(1_000_000_000, "i-1", 1, 27 if session_ms == LONGEST_MS else 25, group_instance_id="i"),
    ]
    with within(5):
        tables = replayed([], [record(1_000, 0, 1, *members)], asked)
    assert [observed == predicted for observed, predicted in verdicts(tables)] == [True] * 4


def test_a_join_phase_that_was_drawn_out_ends_in_its_step() -> None:
    """Nobody comes for minutes; who comes then waits until the next of the steps that began with the first end."""
    static = {"group_instance_id": "i", "rebalance_timeout_ms": 5_000, "session_timeout_ms": 1_000_000}
    members = [{**member(f"{name}-1", [0]), **static, "group_instance_id": name} for name in ("i", "j")]
    members.append({**member("b-1", [1]), "rebalance_timeout_ms": 5_000})
    leaver = {"member_id": "b-1", "group_instance_id": None, "reason": None, "error_code": 0}
    asked = [
        beat(2_000, "i-1", 1, group_instance_id="i"),
        request(3_000, "LeaveGroup", leaving_members=[leaver]),
        join(501_000, "i-1", group_instance_id="i", told=2, parked_ms=2_000, rebalance_timeout_ms=5_000),
        beat(504_000, "i-1", 2, 27, group_instance_id="i"),
    ]
    tables = replayed([], [record(1_000, 0, 1, *members)], asked)
    assert [row["completing_at"] for row in tables["generations"] if row["generation"] == 2] == [503_000]


def test_a_member_without_an_id_expires_like_others() -> None:
    asked = [beat(2_000, "x", 1, 25), beat(60_000, "x", 1, 25)]
    tables = replayed([], [record(1_000, 0, 1, member("", [0]))], asked)
    assert verdicts(tables) == [(25, 25), (25, 25)]
    assert [(row["member_id"], row["end_cause"]) for row in tables["member_sessions"]] == [("", "session_expired")]


def test_an_id_that_is_given_out_twice_is_that_of_the_last() -> None:
    given = (("i", "x-1"), ("j", "x-1"), ("i", "x-2"), ("j", "x-3"), ("j", "x-2"), ("i", "x-4"), ("j", "x-5"))
    asked = [
        join(1_000 + 100 * number, told=1, given=member_id, parked_ms=3_000, group_instance_id=instance)
        for number, (instance, member_id) in enumerate(given)
    ]
    assert len(verdicts(replayed([], [], asked))) == len(asked)
