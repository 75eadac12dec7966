"""What of a group's rows is drawn, and where."""

from __future__ import annotations

from typing import Any

from tests.unit.report.drawn import generation, group, orphan, owned, stay, step, storm, wait
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


def test_members_on_their_way_say_what_they_give_up_and_whom_they_wait_for() -> None:
    rows = group(
        member_sessions=[stay("m-1", 0, client_id="a"), stay("m-2", 50, client_id="b")],
        reconciliations=[
            wait("m-1", "UNREVOKED_PARTITIONS", 100, 300, client_id="a"),
            wait("m-2", "UNRELEASED_PARTITIONS", 100, client_id="b", waits_for_member_ids=["m-1", "m-9"]),
        ],
    )
    ways = panel(timeline(rows), "members on their way")
    assert ways["lanes"] == ["a", "b"]
    assert [(bar["lane"], bar["colour"], bar["begin"], bar["end"]) for bar in ways["bars"]] == [
        (0, "unrevoked", 100, 300),
        (1, "unreleased", 100, None),
    ]
    assert ways["bars"][0]["tip"][0] == "a: to give up t-0, t-1"
    assert ways["bars"][1]["tip"][0] == "b: waiting for t-0, t-1"
    assert ways["bars"][1]["tip"][-2:] == ["waits for a", "waits for m-9"]


def test_a_static_member_that_left_for_a_while_is_drawn_as_away_with_what_it_keeps() -> None:
    rows = group(
        member_sessions=[stay("m-1", 0, client_id="a")],
        reconciliations=[wait("m-1", "AWAY", 100, 300, client_id="a")],
    )
    (bar,) = panel(timeline(rows), "members on their way")["bars"]
    assert (bar["colour"], bar["begin"], bar["end"]) == ("away", 100, 300)
    assert bar["tip"][0] == "a: left for a while, and keeps t-0, t-1"


def test_what_nobody_had_in_a_stable_group_lies_in_the_lane_of_its_partition() -> None:
    rows = group(
        member_sessions=[stay("m-1", 0, client_id="a")],
        assignments=[owned(0, "m-1", 100, client_id="a")],
        orphaned_partitions=[orphan(1, "m-1", 200)],
    )
    lanes = panel(timeline(rows), "who owned")
    assert lanes["lanes"] == ["t-0", "t-1"]
    (bar,) = (bar for bar in lanes["bars"] if bar["colour"] == "nobody")
    assert (bar["lane"], bar["begin"], bar["end"]) == (1, 200, None)
    assert bar["tip"][-1] == "which a was to have, by epoch 3"


def test_a_standby_task_is_an_outline_in_the_colour_of_its_member() -> None:
    rows = [
        owned(0, "m-1", 100, client_id="a", role="active"),
        owned(0, "m-2", 100, client_id="b", role="standby"),
        owned(1, "m-1", 100, client_id="a", role="warmup"),
    ]
    bars = panel(timeline(group(assignments=rows)), "who owned")["bars"]
    assert [bar["colour"] for bar in bars] == ["owner-0-0", "owner-1-0-standby", "owner-0-0-standby"]


def test_members_that_a_conversion_took_along_are_drawn_from_the_begin_of_its_life() -> None:
    rows = group(
        transitions=[step(1, 10, "Stable"), step(1, 400, "Stable", life=2)],
        member_sessions=[stay("m-1", 100, 400, client_id="a"), stay("m-1", 0, None, client_id="a", life=2)],
    )
    rows.of("member_sessions")[1]["joined_at"] = None
    members = panel(timeline(rows), "members, and")
    assert [(bar["lane"], bar["begin"]) for bar in members["bars"]] == [(0, 100), (0, 400)]


def test_epochs_are_called_epochs_and_a_converted_group_has_both() -> None:
    epoch = generation(1, 100, group_type="consumer")
    assert panel(timeline(group(generations=[epoch])), "states")["lanes"][0] == "epoch"
    both = [epoch, generation(2, 300, life=2, group_type="classic")]
    states = panel(timeline(group(generations=both)), "states")
    assert states["lanes"][0] == "epoch or generation"
    assert [bar["tip"][0].split(":")[0] for bar in states["bars"]] == ["epoch 1", "generation 2"]


def test_a_rebalance_of_several_bumps_is_one_mark_that_says_how_it_ended() -> None:
    rows = [
        generation(4, 1000, bump_count=3, outcome="abandoned", group_type="consumer"),
        generation(5, 2000, "member_left", bump_count=0, outcome="abandoned", group_type="consumer"),
        generation(6, 3000, "member_left", bump_count=0, stable_at=9000, outcome="stable", group_type="consumer"),
        generation(7, 20000, "converted", bump_count=0, stable_at=20000, group_type="consumer"),
    ]
    drawn = panel(timeline(group(generations=rows)), "rebalances")
    assert drawn["lanes"] == ["member joined ×1"]
    (mark,) = drawn["marks"]
    assert (mark["at"], mark["link"]) == (1000, "g1-4")
    assert mark["tip"][0] == "epoch 4: member joined"
    assert "stable after 8 s" in mark["tip"]
