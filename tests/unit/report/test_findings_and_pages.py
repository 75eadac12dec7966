"""Findings as cards, and the pages that they are on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.unit.findings.golden import cases
from tests.unit.report.drawn import burst, generation, group, orphan, shared, stay, step, storm, wait
from transforms.findings.rebalances import lasted_ms
from transforms.report.findings import findings_of
from transforms.report.fleet import bin_width_ms, fleet
from transforms.report.group_page import group_page, headline
from transforms.report.quality_page import AUDIT, quality_page


def test_the_worst_comes_first() -> None:
    storms = [storm(1, 2, severity="info"), storm(3, 4, severity="critical"), storm(5, 6, unstable_ms=9)]
    found = findings_of(group(rebalance_storms=storms, illegal_generation_bursts=[burst(7, 8)]))
    assert [each.severity for each in found] == ["critical", "warning", "burst", "info"]


def test_a_slow_revoker_is_a_finding_without_a_storm() -> None:
    slow = {
        **{"member_id": "m-s", "client_id": "s", "client_host": "/h", "started_at": 10_000, "ended_at": None},
        **{"held_up_ms": 40_000, "partition_count": 2, "partitions": ["t-1", "t-2"], "waiting_member_ids": ["m-a"]},
        **{"generation": 3, "rebalance_timeout_ms": 60_000, "end_cause": None, "is_open": True},
        **{"advice": "Bound it; the price: work.", "cluster": "c", "group_id": "g"},
    }
    page = group_page(group(slow_revokers=[slow], rebalance_storms=[storm(1, 2, severity="info")]))
    assert headline(page) == "1 storm and 1 slow revoker."
    found = page.findings[0]
    assert (found.kind, found.is_open, found.price, found.end) == ("revoker", True, "Work.", 50_000)
    assert found.title == "2 partitions not given up for 40 s"
    assert [row.cells for row in found.evidence] == [("t-1",), ("t-2",)]
    assert ("1", "members waited for them") in found.costs
    whole = fleet("c", listed({"g": 1}, revokers=1), [], [], {}, 1000, None, None, [slow])
    assert whole.findings == (replace(found, page=whole.findings[0].page),)
    assert ("1", "slow revokers") in whole.figures


def test_a_storm_has_its_own_rebalances_as_evidence_and_leads_to_their_rows() -> None:
    generations = [generation(number, number * 100) for number in range(1, 8)]
    (found,) = findings_of(group(generations=generations, rebalance_storms=[storm(300, 500)]))
    assert [row.anchor for row in found.evidence] == ["g1-3", "g1-4", "g1-5"]
    anchors = [row.anchor for row in group_page(group(generations=generations)).tables[0].rows]
    assert set(anchors) >= {row.anchor for row in found.evidence}


def test_a_burst_has_the_requests_with_its_error_as_evidence() -> None:
    request = {"api": "Heartbeat", "member_id": "m", "state_before": "Stable", "source_file": "f", "line_number": 7}
    requests = [request | {"at": at, "observed_error": error} for at, error in ((100, 22), (150, 25), (900, 22))]
    (found,) = findings_of(group(illegal_generation_bursts=[burst(100, 200)], refused_requests=requests))
    assert [row.cells[-2:] for row in found.evidence] == [("ILLEGAL_GENERATION", "f:7")]


@pytest.mark.parametrize(
    ("error", "api", "step"),
    [
        ("ILLEGAL_GENERATION", "OffsetCommit", "generation"),
        ("STALE_MEMBER_EPOCH", "OffsetCommit", "epoch"),
        ("UNKNOWN_MEMBER_ID", "ConsumerGroupHeartbeat", "epoch"),
    ],
)
def test_members_of_the_newer_protocols_are_shut_out_by_an_epoch(error: str, api: str, step: str) -> None:
    told = {"stale_generation_min": 2, "stale_generation_max": 4, "current_generation": 5}
    told |= {"fenced_by_generation": 5, "fenced_by_life": 1, "apis": {api: 9}}
    (found,) = findings_of(group(illegal_generation_bursts=[burst(100, 200, error=error, **told)]))
    said = dict(found.facts)
    assert said["sent"] == f"{step}s 2 to 4 when it was 5"
    assert said["shut out by"] == f"{step} 5 of life 1"


def test_another_way_stands_apart_from_the_first_one_and_its_price() -> None:
    offer = "With group.protocol=consumer 3 of 5 times would not have been; the price: brokers of 4.0."
    storms = [storm(1, 2, advice=f"Mend it; the price: it takes time. {offer}"), storm(3, 4, advice=f"Wait. {offer}")]
    found = findings_of(group(rebalance_storms=storms))
    assert {(each.advice, each.price) for each in found} == {("Mend it.", "It takes time."), ("Wait.", "")}
    assert {each.otherwise for each in found} == {offer}


def test_advice_and_its_price_are_told_apart_and_advice_without_one_stays_whole() -> None:
    storms, bursts = [storm(1, 2)], [burst(3, 4)]
    found = findings_of(group(rebalance_storms=storms, illegal_generation_bursts=bursts))
    assert {(each.advice, each.price) for each in found} == {("Mend it.", "It takes time."), ("Stop it.", "")}


def test_what_is_not_known_is_said_to_be_so_and_never_none() -> None:
    page = group_page(group(generations=[generation(1, None)]))
    assert ("not known", "in rebalances") in page.figures
    assert page.chart is None
    assert page.state == "not known"
    assert headline(page) == "No storm and no burst of fencing errors."


def test_numbers_of_a_group_count_the_generations_that_are_not_shown_too() -> None:
    page = group_page(group(generations=[generation(5, 1)], counts={"generations": 5_000}))
    assert ("5,000", "generations") in page.figures
    assert page.tables[0].left_out == 4_999


def test_the_state_of_a_group_is_that_of_its_last_life() -> None:
    page = group_page(group(transitions=[step(9, 1, "Dead"), step(1, 2, "Stable", life=2)]))
    assert page.state == "Stable"


def listed(generations: dict[str, int], *group_types: str, **findings: int) -> list[dict[str, Any]]:
    nothing = dict.fromkeys(("unstable_ms", "member_count", "state", "last_at"))
    known = {"group_types": list(group_types), "storms": 0, "bursts": 0, "revokers": 0, **nothing, **findings}
    return [{"group_id": name, "generations": count, **known} for name, count in generations.items()]


@pytest.mark.parametrize(
    ("group_types", "steps"),
    [
        ((), "generations"),
        (("classic",), "generations"),
        (("share",), "epochs"),
        (("streams", "classic"), "generations or epochs"),
    ],
)
def test_the_list_of_groups_counts_in_the_words_of_their_protocols(group_types: tuple[str, ...], steps: str) -> None:
    found = fleet("c", listed({"a": 1_500, "b": 3}, *group_types), [], [], {}, 1000, None, None)
    assert found.steps == steps
    assert ("1,503", steps) in found.figures


def test_findings_are_counted_also_where_only_the_worst_of_them_are_shown() -> None:
    found = fleet("c", listed({"a": 9, "b": 9}, storms=40, bursts=1_500), [storm(1, 2)], [burst(7, 8)], {}, 1000, 1, 2)
    assert {("80", "storms"), ("3,000", "bursts of fencing errors")} <= {*found.figures}
    assert (len(found.findings), found.finding_count) == (2, 3_080)


def test_bumps_on_the_way_and_generations_taken_over_are_no_rebalances_of_a_storm() -> None:
    several = [generation(number, number * 100) for number in range(3, 6)]
    several[1]["bump_count"] = 0
    several[2] |= {"trigger": "coordinator_failover", "preparing_at": None}
    (found,) = findings_of(group(generations=several, rebalance_storms=[storm(300, 500)]))
    assert [row.anchor for row in found.evidence] == ["g1-3"]


def test_the_heat_map_counts_each_rebalance_in_its_column() -> None:
    groups = listed({"a": 1, "b": 3})
    found = fleet("c", groups, [], [], {("b", 100): 2, ("b", 102): 1, ("a", 101): 1}, 1000, 100_000, 103_000)
    assert found.chart is not None
    assert found.chart["groups"] == ["b", "a"]
    assert sorted(found.chart["cells"]) == [[0, 0, 2], [1, 1, 1], [2, 0, 1]]
    assert found.chart["columns"] == [100_000, 101_000, 102_000]


def test_a_column_of_the_heat_map_is_a_length_that_one_can_name() -> None:
    assert bin_width_ms(0, 100_000) == 5_000
    assert bin_width_ms(0, 86_400_000) == 1_800_000
    assert bin_width_ms(0, 0) == 1_000


def test_races_and_used_answers_are_no_proof() -> None:
    counts = dict(zip(AUDIT, (100, 90, 5, 5, 20, 10), strict=True))
    totals = dict.fromkeys(("generation_count", "inferred_count", "missing_count", "unsettled_count"), 1)
    totals |= {"homes_count": 0, "homes_differ_count": 0}
    page = quality_page([{"api": "Heartbeat", **counts}], [], [], totals, [])
    assert page.figures[0][0] == "92 %"  # 60 of 65
    assert "60 of 65" in page.verdict
    assert page.chart is not None
    assert [values for _, _, values in page.chart["series"]] == [[60], [20], [10], [5], [5]]


def test_without_a_request_log_nothing_is_claimed() -> None:
    totals = dict.fromkeys(("generation_count", "inferred_count", "missing_count", "unsettled_count"), 0)
    page = quality_page([], [], [], totals | {"homes_count": 0, "homes_differ_count": 0}, [])
    assert page.figures[0][0] == "not known"
    assert "no request log" in page.verdict


def test_a_page_says_what_nobody_has_now_and_who_waited_for_whom() -> None:
    page = group_page(
        group(
            generations=[generation(3, 100, group_type="consumer")],
            member_sessions=[stay("m-1", 0, client_id="a"), stay("m-2", 0, client_id="b")],
            reconciliations=[wait("m-2", "UNRELEASED_PARTITIONS", 100, 1600, waits_for_member_ids=["m-1"])],
            orphaned_partitions=[orphan(0, "m-1", 100, 200), orphan(1, "m-1", 300), orphan(2, "m-1", 400)],
        )
    )
    facts = dict(page.facts)
    assert facts["nobody has"] == "2 partitions, the first since 1970-01-01 00:00:00.300"
    assert facts["epoch"] == "3 of life 1"
    rows = {each.caption.partition(",")[0]: [row.cells for row in each.rows] for each in page.tables}
    assert "Epochs" in rows
    assert [cells[:4] for cells in rows["Partitions that nobody had"]] == [
        ("t-2", "1970-01-01 00:00:00.400", "still so", "a"),
        ("t-1", "1970-01-01 00:00:00.300", "still so", "a"),
        ("t-0", "1970-01-01 00:00:00.100", "100 ms", "a"),
    ]
    (waited,) = rows["Members that were to give something up"]
    assert (waited[0], waited[3], waited[5], waited[6]) == ("b", "1.5 s", "t-0, t-1", "a")


def test_a_page_says_which_partitions_a_share_group_could_give_when() -> None:
    begun = [shared(number, "initialising", 100, 140) for number in (1, 0)]
    ready = [shared(number, "initialised", 140) for number in (0, 1)]
    page = group_page(group(generations=[generation(1, 100, group_type="share")], share_partitions=[*begun, *ready]))
    (told,) = [each for each in page.tables if each.caption.startswith("Share state")]
    assert [row.cells for row in told.rows] == [
        ("t", "0, 1", "initialised", "1970-01-01 00:00:00.140", "still so"),
        ("t", "0, 1", "initialising", "1970-01-01 00:00:00.100", "40 ms"),
    ]


def test_a_classic_page_has_generations_and_no_tables_of_epochs() -> None:
    page = group_page(group(generations=[generation(3, 100)]))
    assert [each.caption for each in page.tables] == ["Generations, the newest first"]
    assert "generation" in dict(page.facts) and "nobody has" not in dict(page.facts)


def test_a_rebalance_of_several_bumps_lasts_from_the_first_one_until_the_group_is_settled() -> None:
    epochs = [
        generation(4, 1000, bump_count=3, life=1),
        generation(5, 2000, "member_left", bump_count=0, stable_at=None),
        generation(6, 3000, "member_left", bump_count=0, stable_at=9000, rebalance_ms=6000),
        generation(7, 20000, bump_count=1, stable_at=20500, rebalance_ms=500),
        generation(8, 30000, "converted", bump_count=0, stable_at=30000, rebalance_ms=0),
        generation(9, 40000, bump_count=1),
    ]
    told = [(row.generation, lasted_ms(row)) for row in group(generations=epochs).rebalances()]
    assert told == [(4, 8000), (7, 500), (9, None)]
    assert group_page(group(generations=epochs)).figures[1][0] == "8.5 s"


@pytest.mark.parametrize("table", ["rebalance_storms", "illegal_generation_bursts"])
def test_prices_are_worded_so_that_they_can_be_told_apart(table: str) -> None:
    told = [row.get("advice") or "" for case in cases(table) for row in case.expected.tables[table]]
    priced = [advice for advice in told if "the price:" in advice.lower()]
    assert priced and all("; the price: " in advice and ". The price" not in advice for advice in priced)
