"""What findings come to in numbers."""

from __future__ import annotations

from typing import Any

from tests.unit.findings.golden import complete
from transforms.findings.handover import metrics as m
from transforms.findings.handover.exposition import exposition
from transforms.findings.handover.kinds import BURST, GAP, STORM
from transforms.findings.handover.metrics import METRICS, OF_RUN
from transforms.findings.handover.tally import Tally, of_freshness, of_groups, of_run


def storm(group: str, severity: str = "warning", at: float = 0.0, **more: Any) -> dict[str, Any]:
    given = {"group_id": group, "started_at": at, "severity": severity, "pattern": "crash_loop", "is_open": True}
    return complete("rebalance_storms", {**given, "main_trigger": "member_left", "rebalance_count": 7, **more})


def burst(group: str, error: str = "UNKNOWN_MEMBER_ID", at: float = 0.0, is_open: bool = True) -> dict[str, Any]:
    given = {"group_id": group, "started_at": at, "error": error, "is_open": is_open, "suspected_cause": "zombie"}
    return complete("illegal_generation_bursts", {**given, "error_count": 30})


def test_what_is_over_is_counted_and_not_named() -> None:
    tally = Tally(10)
    tally.add(STORM, storm("over", is_open=False), is_new=True)
    tally.add(BURST, burst("over", is_open=False), is_new=False)
    tally.add(GAP, complete("commit_gaps", {"group_id": "g"}), is_new=True)
    found = tally.families()
    assert found[m.FINDINGS] == {
        ("rebalance_storm",): 1,
        ("illegal_generation_burst",): 1,
        ("offset_rewind",): 0,
        ("commit_gap",): 1,
        ("slow_revoker",): 0,
    }
    assert found[m.FINDINGS_NEW][("rebalance_storm",)] == 1
    assert found[m.FINDINGS_NEW][("illegal_generation_burst",)] == 0
    assert found[m.GROUP_STORM_OPEN] == found[m.GROUP_BURST_OPEN] == {}
    assert tally.new_count == 2


def test_an_open_storm_names_its_group_what_goes_on_and_since_when() -> None:
    tally = Tally(10)
    tally.add(STORM, storm("shop", "critical", at=5500.0, unstable_ms=2250), is_new=False)
    found = tally.families()
    assert found[m.GROUP_STORM_OPEN] == {("shop", "critical", "crash_loop", "member_left"): 1}
    assert found[m.GROUP_STORM_STARTED] == {("shop",): 5.5}
    assert found[m.GROUP_STORM_REBALANCES] == {("shop",): 7}
    assert found[m.GROUP_STORM_UNSTABLE] == {("shop",): 2.25}
    assert found[m.STORMS_OPEN] == {("critical", "crash_loop"): 1}


def test_of_two_open_findings_of_one_group_the_last_one_is_named() -> None:
    """Prometheus refuses a file in which a sample stands twice."""
    for order in (1, -1):
        tally = Tally(10)
        for at, pattern in ((1000.0, "scaling"), (2000.0, "crash_loop"))[::order]:
            tally.add(STORM, storm("shop", at=at, pattern=pattern), is_new=False)
            tally.add(BURST, burst("shop", at=at), is_new=False)
        found = tally.families()
        assert found[m.GROUP_STORM_STARTED] == {("shop",): 2.0}
        assert [key[2] for key in found[m.GROUP_STORM_OPEN]] == ["crash_loop"]
        assert found[m.FINDINGS_OPEN] == {
            ("rebalance_storm",): 2,
            ("illegal_generation_burst",): 2,
            ("slow_revoker",): 0,
        }


def test_the_worst_groups_are_named_and_the_others_counted() -> None:
    tally = Tally(2)
    for number in range(50):
        tally.add(STORM, storm(f"calm-{number}", "info", at=float(number)), is_new=False)
    tally.add(STORM, storm("bad", "critical"), is_new=False)
    tally.add(BURST, burst("fenced"), is_new=False)
    tally.add(BURST, burst("bad"), is_new=False)
    found = tally.families()
    assert [key[0] for key in found[m.GROUP_STORM_OPEN]] == ["bad"]
    assert {key[0] for key in found[m.GROUP_BURST_OPEN]} == {"bad", "fenced"}
    assert found[m.GROUPS_NOT_NAMED] == {(): 50}
    assert sum(found[m.STORMS_OPEN].values()) == 51


def test_what_nobody_has_is_counted_by_type_and_named_after_the_storms() -> None:
    tally = Tally(2)
    for number in range(3):
        row = {"group_type": "consumer", "orphaned_partition_count": number + 1, "orphaned_since": 1000.0 * number}
        tally.add_orphans({"cluster": "c", "group_id": f"g-{number}", **row})
    tally.add(STORM, storm("shop"), is_new=False)
    found = tally.families()
    assert found[m.ORPHANED] == {("consumer",): 6, ("share",): 0, ("streams",): 0}
    assert found[m.GROUP_ORPHANED] == {("g-2",): 3}
    assert found[m.GROUP_ORPHANED_SINCE] == {("g-2",): 2.0}
    assert found[m.GROUPS_NOT_NAMED] == {(): 2}


def test_the_health_of_groups_is_summed_up_in_seconds() -> None:
    def row(kind: str | None, state: str | None, groups: int, rebalances: int, ms: int) -> dict[str, Any]:
        windows = {f"{w}_rebalance_count": rebalances for w in ("hour", "day", "week")}
        return {"group_type": kind, "state": state, "group_count": groups, **windows} | {
            f"{w}_unstable_ms": ms for w in ("hour", "day", "week")
        }

    found = of_groups([row("classic", "Stable", 3, 4, 1500), row(None, None, 2, 0, 0)])
    assert found[m.GROUPS] == {("classic", "Stable"): 3, ("unknown", "unknown"): 2}
    assert found[m.REBALANCES] == {("1h",): 4, ("1d",): 4, ("7d",): 4}
    assert found[m.UNSTABLE][("1d",)] == 1.5


def test_a_run_that_fails_says_so_and_leaves_the_last_success_alone() -> None:
    assert of_run(100.0, 160.5, 3) == {
        m.LAST_RUN: {(): 160.5},
        m.LAST_RUN_DURATION: {(): 60.5},
        m.LAST_RUN_EXIT_CODE: {(): 3},
    }
    assert of_run(100.0, 160.5, 0)[m.LAST_SUCCESS] == {(): 160.5}
    assert set(of_run(0, 0, 0)) == set(OF_RUN)


def test_every_metric_of_the_table_is_written_by_somebody() -> None:
    written = {**Tally(1).families(), **of_groups([]), **of_freshness(None, None), **of_run(0, 0, 0)}
    assert set(written) == set(METRICS)
    assert exposition("c", written)


def test_what_is_not_known_of_the_data_has_no_sample() -> None:
    assert of_freshness(2500.0, None) == {m.NEWEST_DATA: {(): 2.5}, m.HORIZON: {}}
    assert of_freshness(2500.0, float("-inf"))[m.HORIZON] == {}
