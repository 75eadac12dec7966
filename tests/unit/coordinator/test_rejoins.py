"""Rejoins of which the log has no bytes, and the lines that tell which of them began a rebalance."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schemas.rows import GroupRequestRow
from tests.unit.coordinator.evidence_rows import join, line, typed_line
from transforms.coordinator.classic.taking.rejoins import Rejoins

FIRST, SECOND = 1, 2
UNPRINTED = [{"name": "range", "metadata": None}]


def rejoin(at: float, **fields: Any) -> GroupRequestRow:
    row = {"protocols": UNPRINTED, **fields}
    row = join(at, "b-1", told=row.pop("told", 2), **row)
    return msgspec.convert({name: row[name] for name in GroupRequestRow.__struct_fields__}, GroupRequestRow)


def begun(at: int, member_id: str = "b-1", trigger: str = "subscription_changed") -> Any:
    fields = {"generation": 1, "member_id": member_id, "attributes": {"trigger": trigger}}
    return typed_line(line(at, "preparing_rebalance", **fields))


@pytest.mark.parametrize("is_line_first", [True, False])
def test_the_rejoin_that_a_line_is_about_changed_something_whichever_comes_first(is_line_first: bool) -> None:
    found = Rejoins()
    if is_line_first:
        found.notice_line(begun(999))
    found.notice_request(FIRST, rejoin(1_000.0, parked_ms=50), 1_000.0)
    if not is_line_first:
        found.notice_line(begun(1_001))
    assert list(found.changed) == [FIRST]
    assert not found.told_apart


def test_of_two_rejoins_in_one_moment_the_first_that_ends_the_generation_changed_something() -> None:
    found = Rejoins()
    found.notice_request(FIRST, rejoin(1_000.0, told=1), 1_000.0)
    found.notice_request(SECOND, rejoin(1_000.4, parked_ms=50), 1_000.4)
    found.notice_line(begun(1_001))
    assert list(found.changed) == [SECOND]
    assert list(found.told_apart) == [FIRST]  # nothing but its own answer shows that it came before


@pytest.mark.parametrize(
    "told",
    [begun(1_001, "a-1"), begun(1_001, trigger="member_left"), begun(990), begun(1_060)],
    ids=["another member", "another reason", "too early", "after the answer"],
)
def test_a_line_about_something_else_says_nothing_of_a_rejoin(told: Any) -> None:
    found = Rejoins()
    found.notice_request(FIRST, rejoin(1_000.0, parked_ms=50), 1_000.0)
    found.notice_line(told)
    assert not found.changed


@pytest.mark.parametrize(
    "row",
    [rejoin(1_000.0, protocols=[{"name": "range", "metadata": b"s"}]), rejoin(1_000.0, told=None, error_code=25)],
    ids=["with its bytes", "refused at once"],
)
def test_where_bytes_or_the_refusal_decide_no_line_is_asked(row: GroupRequestRow) -> None:
    found = Rejoins()
    found.notice_request(FIRST, row, 1_000.0)
    found.notice_line(begun(1_001))
    assert not found.changed


def test_what_is_long_past_is_forgotten() -> None:
    found = Rejoins()
    for number in range(1_000):
        found.notice_line(begun(1_000 + 1_000 * number))
        found.notice_request(number, rejoin(1_500.0 + 1_000 * number, told=9), 1_500.0 + 1_000 * number)
    assert len(found.begun) + len(found.rejoins) + len(found.changed) < 8
