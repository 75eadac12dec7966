"""Who leaves without a reason is called slow only where its stays show it."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.rows import GenerationMemberRow, GenerationRow
from transforms.findings.clients import Client
from transforms.findings.evidence import Evidence
from transforms.findings.late_leavers import is_a_batch, tell_who_was_late
from transforms.findings.stay import Stay

PLACE: dict[str, Any] = {"cluster": "c", "group_id": "g", "life": 1}
LIMIT_MS = 300_000
HOUR_MS = 3_600_000.0
WHO = Client("a", "/h")


def stays_for(*lengths_ms: float | None, away_ms: float = 5_000.0) -> list[Stay]:
    """Stays of one client, one after the other; null = it began before the data."""
    found: list[Stay] = []
    at = 0.0
    for number, length in enumerate(lengths_ms):
        end = at + (LIMIT_MS if length is None else length)
        stay = Stay(f"m{number}", WHO, None if length is None else at, end, "left")
        if found:
            found[-1].after, stay.before = stay, found[-1]
        found.append(stay)
        at = end + away_ms
    return found


def was_late(stays: list[Stay], client_reason: str | None = None, limit_ms: int | None = LIMIT_MS) -> bool | None:
    told: dict[str, Any] = {"trigger": "member_left", "evidence": [], "is_inferred": False, "missing_before": 0}
    row = GenerationRow(**PLACE, **told, generation=1, trigger_member_id="m0", client_reason=client_reason)
    members = [
        GenerationMemberRow(**PLACE, generation=1, member_id=stay.member_id, rebalance_timeout_ms=limit_ms)
        for stay in stays
    ]
    tell_who_was_late(stays, Evidence(cluster="c", group_id="g", generations=[row], members=members))
    (found,) = {stay.was_late for stay in stays}
    return found


def test_stays_that_end_one_like_the_other_soon_after_the_limit_are_those_of_a_slow_client() -> None:
    assert was_late(stays_for(301_000, 303_000, 309_000)) is True
    assert was_late(stays_for(None, 301_000, 303_000)) is True
    assert was_late(stays_for(301_000, 303_000, 900_000)) is True, "it may go well for a while"


@pytest.mark.parametrize(
    "lengths_ms",
    [
        (2 * HOUR_MS, 5 * HOUR_MS, 26 * HOUR_MS),
        (301_000, 800_000, 900_000),
        (375_000, 910_000, 605_000, 1_300_000),
        (None, None, 301_000),
        (None, None, None),
    ],
)
def test_stays_that_are_merely_long_leave_it_open(lengths_ms: tuple[float | None, ...]) -> None:
    assert was_late(stays_for(*lengths_ms)) is None


def test_who_is_away_for_longer_than_a_batch_may_take_was_not_busy_for_all_that_is_known() -> None:
    assert was_late(stays_for(301_000, 303_000, 305_000, away_ms=HOUR_MS)) is None


def test_a_stay_that_was_too_short_clears_all_of_them() -> None:
    assert was_late(stays_for(301_000, 303_000, 200_000)) is False
    assert was_late(stays_for(301_000, 303_000)) is False, "twice is no habit"
    assert was_late(stays_for(301_000, 303_000, 305_000), client_reason="the consumer is being closed") is False
    assert was_late(stays_for(301_000, 303_000, 305_000), limit_ms=None) is False


def test_hours_are_no_batch_unless_it_may_take_hours() -> None:
    assert is_a_batch(HOUR_MS, LIMIT_MS) and not is_a_batch(10 * HOUR_MS, LIMIT_MS)
    assert is_a_batch(10 * HOUR_MS, 12 * HOUR_MS)
