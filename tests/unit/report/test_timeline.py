"""What of a group's rows is drawn, and where."""

from __future__ import annotations

from typing import Any

from tests.unit.report.drawn import generation, group, owned, stay, step, storm
from transforms.report.timeline import MOST_LANES, timeline


def panel(chart: dict[str, Any] | None, name: str) -> dict[str, Any]:
    assert chart is not None
    return next(each for each in chart["panels"] if each["name"].startswith(name))


def test_a_state_lasts_until_the_next_one_and_the_last_one_to_the_end_of_the_data() -> None:
    chart = timeline(group(transitions=[step(2, 500, "Stable"), step(1, 100, "PreparingRebalance")]))
    bars = panel(chart, "states")["bars"]
    assert [(bar["label"], bar["begin"], bar["end"]) for bar in bars] == [
        ("PreparingRebalance", 100, 500),
        ("Stable", 500, None),
    ]


def test_two_witnesses_a_moment_apart_never_draw_backwards() -> None:
    chart = timeline(group(transitions=[step(1, 100, "Stable"), step(2, 98, "Empty")]))
    assert all(bar["end"] is None or bar["end"] >= bar["begin"] for bar in panel(chart, "states")["bars"])


def test_a_generation_ends_with_its_life_and_not_with_the_next_one() -> None:
    rows = [generation(1, 100, ended_at=200), generation(1, 900, life=2)]
    bars = panel(timeline(group(generations=rows)), "states")["bars"]
    assert [(bar["begin"], bar["end"]) for bar in bars] == [(100, 200), (900, None)]


def test_two_owners_at_once_share_the_height_of_a_lane() -> None:
    rows = [owned(0, "a", 100, 300), owned(0, "b", 200, 400), owned(0, "c", 400, 500), owned(1, "a", 100, 300)]
    bars = panel(timeline(group(assignments=rows)), "who owned")["bars"]
    assert [(bar["lane"], bar["slot"], bar["slots"]) for bar in bars] == [(0, 0, 2), (0, 1, 2), (0, 0, 1), (1, 0, 1)]


def test_a_member_that_comes_back_keeps_its_lane_and_its_colour() -> None:
    rows = [stay("a-1", 100, 200, client_id="a"), stay("a-2", 300, client_id="a"), stay("b-1", 150, client_id="b")]
    members = panel(timeline(group(member_sessions=rows)), "members")
    assert members["lanes"] == ["a", "b"]
    assert [bar["lane"] for bar in members["bars"]] == [0, 1, 0]
    assert members["bars"][0]["colour"] == members["bars"][2]["colour"] != members["bars"][1]["colour"]


def test_one_client_id_on_two_hosts_is_two_members() -> None:
    rows = [stay("1", 1, client_id="a", client_host="/h1"), stay("2", 2, client_id="a", client_host="/h2")]
    assert panel(timeline(group(member_sessions=rows)), "members")["lanes"] == ["a /h1", "a /h2"]


def test_rebalances_lie_in_the_lane_of_their_trigger_and_lead_to_their_rows() -> None:
    rows = [generation(1, 100), generation(2, 200, "member_left"), generation(3, 300, "member_left")]
    marks = panel(timeline(group(generations=rows)), "rebalances")
    assert marks["lanes"] == ["member left ×2", "member joined ×1"]
    assert [(mark["lane"], mark["link"]) for mark in marks["marks"]] == [(1, "g1-1"), (0, "g1-2"), (0, "g1-3")]


def test_an_open_storm_is_shaded_to_the_end_of_the_data() -> None:
    chart = timeline(group(generations=[generation(1, 100)], rebalance_storms=[storm(100, 200, is_open=True)]))
    assert chart is not None
    assert [(band["begin"], band["end"]) for band in chart["bands"]] == [(100, None)]


def test_what_is_left_out_is_said() -> None:
    rows = [owned(place, "a", 100, 200) for place in range(MOST_LANES + 30)]
    panels = panel(timeline(group(assignments=rows, counts={"assignments": 9_999})), "who owned")
    assert len(panels["lanes"]) == MOST_LANES
    assert "The newest 150 of 9,999 assignments" in panels["note"]
    assert f"The first {MOST_LANES} of 150 lanes" in panels["note"]


def test_a_group_that_no_moment_is_known_of_has_no_chart() -> None:
    assert timeline(group(generations=[generation(1, None)])) is None
    assert timeline(group()) is None


def test_a_partition_that_is_being_revoked_is_told_from_one_that_is_owned() -> None:
    rows = [owned(0, "a", 100, 200, hold="owned"), owned(0, "a", 200, 300, hold="revoking")]
    bars = panel(timeline(group(assignments=rows)), "who owned")["bars"]
    assert [bar["colour"] for bar in bars] == ["owner-0-0", "revoking"]
    assert "being revoked, and not yet given back" in bars[1]["tip"]


def test_a_chart_ends_with_the_data_unless_all_in_it_is_over() -> None:
    stays = [stay("a", 100, 300), stay("b", 150, 200)]
    over, still_open = timeline(group(member_sessions=stays)), timeline(group(member_sessions=[*stays, stay("c", 250)]))
    assert over is not None and still_open is not None
    assert (over["since"], over["last"], over["is_over"]) == (100, 300, True)
    assert (still_open["last"], still_open["is_over"]) == (300, False)
