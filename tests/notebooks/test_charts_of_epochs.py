"""Drawings of consumer, share and streams groups: members on their way, several owners, roles, and what nobody has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.dates import date2num

from notebooks import charts
from notebooks.members import STABLE, WAITS, draw_members
from notebooks.ownership import MARKS, NOBODY, NOT_READY, draw_ownership
from tests.notebooks.drawn import assignment, at, bars, generation, spans, texts, timeline, transition
from tests.support.group_timelines import timeline_of
from tests.support.pure_pipeline import Tables, run_pipeline

GROUPS = {"consumer": "modern-848", "share": "share-pay", "streams": "streams-wc"}
"""Groups of the demonstration's capture."""


def session(member: str, begin: float | None, end: float | None, kind: str = "consumer", **more: Any) -> dict[str, Any]:
    named = {"member_id": f"{member}-id", "client_id": member, "client_host": "/10.0.0.1", "group_type": kind}
    return {"life": 1, "joined_at": at(begin), "ended_at": at(end), **named, **more}


def wait(member: str, state: str, begin: float, end: float | None, *waits_for: str) -> dict[str, Any]:
    ids = [f"{name}-id" for name in waits_for]
    told = {"state": state, "from_at": at(begin), "to_at": at(end), "waits_for_member_ids": ids}
    return {"life": 1, "member_id": f"{member}-id", "client_id": member, **told}


def lanes(panel: Axes) -> list[str]:
    return [label.get_text() for label in panel.get_yticklabels()]


def test_each_member_has_a_lane_with_its_stay_and_what_it_was_about() -> None:
    given = timeline(
        sessions=[session("a", 0, None), session("b", 10, 60)],
        reconciliations=[
            wait("a", "UNREVOKED_PARTITIONS", 11, 15),
            wait("b", "UNRELEASED_PARTITIONS", 10, 15, "a"),
        ],
    )
    panel = draw_members(given).axes[0]
    assert lanes(panel) == ["a", "b"]
    assert spans(panel, STABLE) == [(0, 100), (10, 60)]
    assert [bar[:3] for bar in bars(panel, "UNREVOKED_PARTITIONS")] == [(11, 15, -0.4)]
    assert [bar[:3] for bar in bars(panel, "UNRELEASED_PARTITIONS")] == [(10, 15, 0.6)]


def test_a_line_leads_from_who_waits_to_each_that_it_waits_for() -> None:
    given = timeline(
        sessions=[session(name, 0, None) for name in ("a", "b", "c")],
        reconciliations=[wait("c", "UNRELEASED_TASKS", 20, 30, "a", "b", "gone")],
    )
    panel = draw_members(given).axes[0]
    (dots,) = (line for line in panel.lines if line.get_label() == WAITS)
    assert list(dots.get_xdata()) == [date2num(at(20))] * 2
    assert list(dots.get_ydata()) == [0, 1]


def test_a_static_member_that_is_away_looks_otherwise_than_one_that_waits() -> None:
    given = timeline(sessions=[session("a", 0, None)], reconciliations=[wait("a", "AWAY", 20, 30)])
    figure = draw_members(given)
    assert spans(figure.axes[0], "AWAY") == [(20, 30)]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["STABLE", "AWAY"]


def test_members_that_a_conversion_took_along_are_drawn_from_the_begin_of_their_life() -> None:
    given = timeline(
        transitions=[transition(1, 0, "Stable"), transition(1, 40, "PreparingRebalance", life=2)],
        sessions=[session("a", 5, 40), session("a", None, 70, "classic", life=2)],
    )
    panel = draw_members(given).axes[0]
    assert (spans(panel, STABLE), spans(panel, "member")) == ([(5, 40)], [(40, 70)])


def test_members_of_one_name_that_are_there_at_once_have_lanes_of_their_own() -> None:
    twins = [session("a", 0, 50, member_id="id-0001"), session("a", 20, 60, member_id="id-0002")]
    again = [session("b", 0, 20, member_id="id-0003"), session("b", 20, 60, member_id="id-0004")]
    panel = draw_members(timeline(sessions=[*twins, *again])).axes[0]
    assert lanes(panel) == ["a …0001", "b", "a …0002"]


def test_a_classic_group_shows_the_stays_of_its_members_and_no_states() -> None:
    figure = draw_members(timeline(sessions=[session("a", 0, 50, "classic")]))
    assert spans(figure.axes[0], "member") == [(0, 50)]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["member"]


def test_what_is_to_be_given_back_is_told_apart_from_what_is_held() -> None:
    rows = [assignment(0, "a", 0, 20), assignment(0, "a", 20, 25, hold="revoking"), assignment(0, "b", 25, None)]
    figure = draw_ownership(timeline(assignments=rows))
    panel = figure.axes[0]
    assert (spans(panel, "a"), spans(panel, "a: revoking"), spans(panel, "b")) == ([(0, 20)], [(20, 25)], [(25, 100)])
    faces = {bar.get_label(): bar.get_facecolor()[0][3] for bar in panel.collections}
    assert faces["a: revoking"] < faces["a"] == 1
    assert "to be given back" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_standby_task_is_outlined_and_does_not_look_owned() -> None:
    rows = [
        {**assignment(0, "a", 0, None, role="active"), "topic": "1"},
        {**assignment(0, "b", 0, None, role="standby"), "topic": "1"},
    ]
    figure = draw_ownership(
        timeline(assignments=rows, generations=[generation(1, 0, group_type="streams")], transitions=[])
    )
    panel = figure.axes[0]
    assert bars(panel, "a") == [(0, 100, -0.4, 0)]
    assert bars(panel, "b: standby") == [(0, 100, 0, 0.4)]
    (standby,) = (bar for bar in panel.collections if bar.get_label() == "b: standby")
    assert standby.get_facecolor()[0][3] == 0
    assert "1 task, 2 owners" in figure.texts[1].get_text()


def test_what_nobody_has_in_a_stable_group_is_marked_though_nobody_ever_had_it() -> None:
    orphan = {"topic": "orders", "partition": 1, "from_at": at(30), "to_at": None}
    figure = draw_ownership(timeline(assignments=[assignment(0, "a", 0, None)], orphans=[orphan]))
    panel = figure.axes[0]
    assert lanes(panel) == ["orders-0", "orders-1"]
    assert bars(panel, NOBODY) == [(30, 100, 0.6, 1.4)]


def test_partitions_whose_share_state_is_not_ready_are_marked() -> None:
    shares = [
        {"topic": "orders", "partition": 0, "state": "initialising", "from_at": at(0), "to_at": at(5)},
        {"topic": "orders", "partition": 0, "state": "initialised", "from_at": at(5), "to_at": at(80)},
        {"topic": "orders", "partition": 0, "state": "deleting", "from_at": at(80), "to_at": None},
        {"topic": "orders", "partition": 1, "state": "initialising", "from_at": at(90), "to_at": None},
    ]
    given = timeline(assignments=[assignment(0, "a", 5, 80)], shares=shares)
    figure = draw_ownership(given)
    panel = figure.axes[0]
    assert lanes(panel) == ["orders-0", "orders-1"]
    assert bars(panel, NOT_READY) == [(0, 5, -0.4, 0.4), (80, 100, -0.4, 0.4), (90, 100, 0.6, 1.4)]
    assert NOT_READY in [text.get_text() for text in figure.legends[0].get_texts()]
    assert bars(draw_ownership(given.between(at(5), at(80))).axes[0], NOT_READY) == []


def test_epochs_are_called_epochs_and_a_converted_group_has_both() -> None:
    epochs = [generation(number, 10 * number, group_type="consumer") for number in (1, 2)]
    figure = charts.draw_states(timeline(generations=epochs, transitions=[transition(1, 0, "Stable")]))
    assert lanes(figure.axes[0]) == ["epoch"]
    both = [*epochs, {**generation(3, 50, group_type="classic"), "life": 2}]
    figure = charts.draw_states(timeline(generations=both, transitions=[transition(1, 0, "Stable")]))
    assert lanes(figure.axes[0]) == ["epoch or generation"]
    assert "1 generation, 2 epochs" in figure.texts[1].get_text()


def test_a_rebalance_of_several_bumps_is_one_mark_in_the_lane_of_what_set_it_off() -> None:
    epochs = [
        generation(2, 10, bump_count=2, group_type="consumer"),
        generation(3, 11, trigger="member_left", bump_count=0, group_type="consumer"),
        generation(4, 30, trigger="member_left", bump_count=1, group_type="consumer"),
    ]
    figure = charts.draw_states(timeline(generations=epochs, transitions=[transition(1, 0, "Stable")]))
    panel = figure.axes[2]
    drawn = {str(line.get_label()): [round(x, 6) for x in line.get_xdata()] for line in panel.lines}
    assert drawn == {"member_joined": [round(date2num(at(10)), 6)], "member_left": [round(date2num(at(30)), 6)]}
    assert "3 epochs" in figure.texts[1].get_text()


def test_a_stretch_of_time_cuts_stays_and_waits_as_well() -> None:
    whole = timeline(
        transitions=[transition(1, 0, "Stable")],
        sessions=[session("a", 0, 10), session("b", 0, None)],
        reconciliations=[wait("b", "UNREVOKED_PARTITIONS", 15, 40)],
        orphans=[{"topic": "orders", "partition": 1, "from_at": at(70), "to_at": None}],
    )
    part = whole.between(at(20), at(60))
    assert part.sessions[["client_id", "joined_at"]].to_numpy().tolist() == [["b", at(20)]]
    (cut,) = part.reconciliations.itertuples()
    assert (cut.from_at, cut.to_at) == (at(20), at(40))
    assert part.orphans.empty


@pytest.fixture(scope="module")
def tables(capture_dir: Callable[[str], Path]) -> Tables:
    return run_pipeline(capture_dir("kafka-4.2.0"))


@pytest.mark.parametrize("kind", GROUPS)
def test_a_real_group_of_each_protocol_is_drawn_as_a_whole(kind: str, tables: Tables) -> None:
    given = timeline_of(tables, GROUPS[kind])
    assert given.group_types == [kind]
    states, ownership, members = (draw(given) for draw in (charts.draw_states, draw_ownership, draw_members))
    for figure in (states, ownership, members):
        figure.draw_without_rendering()
    shown = {str(each.get_label()) for each in states.axes[1].collections if len(each.get_paths())}
    assert shown == set(given.transitions["to_state"])
    drawn = [str(each.get_label()) for each in ownership.axes[0].collections for _ in each.get_paths()]
    assert len([label for label in drawn if label not in MARKS]) == len(given.assignments)
    not_ready = given.shares[given.shares["state"] != "initialised"]
    assert (drawn.count(NOBODY), drawn.count(NOT_READY)) == (len(given.orphans), len(not_ready))
    drawn = sum(len(each.get_paths()) for each in members.axes[0].collections if each.get_label() != WAITS)
    assert drawn == len(given.sessions) + len(given.reconciliations)
    assert "no member is known" not in texts(members)


def test_who_held_a_rebalance_up_is_told_without_a_storm() -> None:
    slow = {
        "started_at": at(5),
        "ended_at": at(50),
        "held_up_ms": 45_000,
        "partition_count": 2,
        "advice": "Poll sooner.",
    }
    told = timeline(revokers=[slow]).storms_in_words()
    assert "had no storm" in told and "2 partitions not given up for 45.0 s" in told and "> Poll sooner." in told
