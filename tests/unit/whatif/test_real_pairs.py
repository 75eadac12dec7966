"""Predictions against real pairs: one group with the change, one without, on real brokers with real clients."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.pairs.table import ARCHIVES, NAMES, PAGE, Outcome, lines, outcomes
from tests.support.captures import capture

pytestmark = pytest.mark.slow

MOST_WRONG = {True: 2, False: 3}
"""Of twelve pairs so many may lie outside the range, with a request log and without one."""


@cache
def found(name: str, into: Path, has_requests: bool) -> list[Outcome]:
    return list(outcomes(name, capture(name, into, ARCHIVES), has_requests))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("what_if")


def test_there_are_pairs_of_both_coordinators(folder: Path) -> None:
    assert {"4.2.0", "3.9.1"} <= {name.rpartition("-")[2] for name in NAMES}
    assert sum(len(found(name, folder, True)) for name in NAMES) >= 12


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("has_requests", [True, False], ids=["request log", "broker log alone"])
def test_what_really_happened_lies_in_the_range(name: str, has_requests: bool, folder: Path) -> None:
    pairs = found(name, folder, has_requests)
    wrong = [each.group for each in pairs if not each.is_right]
    assert 12 * len(wrong) <= MOST_WRONG[has_requests] * len(pairs), wrong


@pytest.mark.parametrize("name", NAMES)
def test_the_range_is_narrow_enough_to_be_of_use(name: str, folder: Path) -> None:
    wide = [(each.group, each.predicted.rebalances) for each in found(name, folder, True) if not each.is_narrow]
    assert not wide


@pytest.mark.parametrize("name", NAMES)
def test_most_unstable_times_lie_in_the_range(name: str, folder: Path) -> None:
    pairs = found(name, folder, True)
    assert 2 * sum(each.is_time_right for each in pairs) >= len(pairs)


@pytest.mark.parametrize("name", NAMES)
def test_without_a_change_the_same_happens_again(name: str, folder: Path) -> None:
    """The simulation is worth nothing where it does not give back what it was made of."""
    for each in found(name, folder, True):
        null, seen = each.predicted.null_rebalances, each.predicted.observed.rebalances
        assert null.low <= seen <= (null.high or seen), each.group


def test_the_page_shows_these_pairs(folder: Path) -> None:
    rows = [row for name in NAMES for row in found(name, folder, True)]
    assert "\n".join(lines(rows)) in PAGE.read_text(encoding="utf-8")
