"""What was done to the groups of the shipped captures is what the findings say of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.captures import CALM
from tests.unit.findings import pure
from transforms.findings.storms.limits import StormLimits, Thresholds

THRESHOLDS = Thresholds(StormLimits(window_ms=60_000))

PLANTED = {
    "checkout-storm": ("flapping_member", "member_left", "flappy-"),
    "ship-crash": ("crash_loop", "session_expired", "ship-crash-"),
    "etl-slow": ("lost_session", "session_expired", "etl-slow-"),
}
"""Group to the pattern, the main trigger and the culprits' client ids: members that come and go; that die, each
followed by a new one; that beat too slowly."""


@pytest.mark.parametrize("name", CALM)
def test_every_planted_storm_has_its_pattern_cause_and_culprit(name: str, pure_tables: Any) -> None:
    found = {row["group_id"]: row for row in pure.storms(pure_tables(name), THRESHOLDS)}
    assert set(found) == set(PLANTED), "the other groups are left alone"
    for group, (pattern, trigger, culprit) in PLANTED.items():
        row = found[group]
        assert (row["pattern"], row["main_trigger"]) == (pattern, trigger), group
        assert row["main_client_id"].startswith(culprit)
        assert row["main_client_host"] == "/127.0.0.1"
        assert row["partitions_moved"] >= row["partitions_moved_back"] > 0
        assert row["unowned_ms"] > 0


@pytest.mark.parametrize("name", CALM)
def test_the_planted_zombie_is_one_and_its_price_is_told(name: str, pure_tables: Any) -> None:
    found = pure.bursts(pure_tables(name), 5_000, 5)
    assert {(row["group_id"], row["suspected_cause"]) for row in found} == {("fraud-zombie", "zombie")}
    for row in found:
        assert row["fenced_by_generation"] == 2
        assert row["behind_count"] == row["current_generation"] - row["stale_generation_min"]
        assert row["lost_commit_count"] >= row["apis"]["OffsetCommit"]
        assert row["zombie_ms"] > row["ended_at"] - row["started_at"]
