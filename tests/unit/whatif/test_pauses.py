"""Whose pauses would not have been in a consumer group, where some of the evidence is missing."""

from __future__ import annotations

from msgspec.structs import replace

from tests.unit.whatif.golden import Case, cases
from transforms.whatif.figures import Window
from transforms.whatif.pauses import pauses_of

ALWAYS = Window(0.0, float("inf"))


def _case(name: str) -> Case:
    return next(case for case in cases() if case.name == name)


def test_who_kept_what_is_known_where_the_begin_of_rebalances_is_not() -> None:
    known = _case("who_kept_all_would_not_have_paused").evidence
    whole = pauses_of(known, ALWAYS)
    known.generations = [replace(row, preparing_at=None) for row in known.generations]
    found = pauses_of(known, ALWAYS)
    assert (found.observed, found.avoided, found.partly) == (whole.observed, whole.avoided, whole.partly) == (4, 3, 1)
    assert (found.observed_ms, found.avoided_ms) == (None, None)


def test_an_assignor_of_ones_own_may_go_about_it_in_any_way() -> None:
    known = _case("who_kept_all_would_not_have_paused").evidence
    known.generations = [replace(row, protocol="by-rack") for row in known.generations]
    found = pauses_of(known, ALWAYS)
    assert (found.observed, found.not_known) == (0, 2)


def test_a_rebalance_that_came_to_nothing_is_part_of_the_next() -> None:
    known = _case("who_kept_all_would_not_have_paused").evidence
    whole = pauses_of(known, ALWAYS)
    first, second, third = known.generations
    known.generations = [first, replace(second, stable_at=None), third]
    found = pauses_of(known, ALWAYS)
    assert found.observed == 2
    assert second.preparing_at is not None and third.stable_at is not None and whole.observed_ms is not None
    assert found.observed_ms == 2 * (third.stable_at - second.preparing_at) > whole.observed_ms
    assert found.avoided == 2, "a had t-0 before both, and has it afterwards"


def test_only_rebalances_of_the_time_asked_about_count() -> None:
    known = _case("who_kept_all_would_not_have_paused").evidence
    begins_at = known.generations[2].preparing_at
    assert begins_at is not None
    assert pauses_of(known, Window(begins_at, begins_at + 1)).observed == 2
    assert pauses_of(known, Window(begins_at + 1, begins_at + 2)).observed == 0
