"""The drawings on small frames: what is drawn where, asked of the figure's own artists."""

from __future__ import annotations

import matplotlib.dates as mdates
import pytest

from notebooks import charts
from notebooks.lanes import owners
from notebooks.ownership import draw_ownership
from schemas.words import GROUP_STATES
from tests.notebooks.drawn import assignment, at, bars, generation, spans, texts, timeline, transition

STATES = [
    transition(1, 0, "PreparingRebalance"),
    transition(2, 3, "CompletingRebalance"),
    transition(3, 3.002, "Stable"),
    transition(4, 20, "PreparingRebalance"),
    transition(5, 21, "CompletingRebalance"),
    transition(6, 21.5, "Stable"),
]


def test_each_state_is_a_band_from_its_transition_to_the_next() -> None:
    figure = charts.draw_states(timeline(transitions=STATES[::-1], generations=[generation(1, 0), generation(2, 20)]))
    band = figure.axes[1]
    assert spans(band, "PreparingRebalance") == [(0, 3), (20, 21)]
    assert spans(band, "CompletingRebalance") == [(3, 3.002), (21, 21.5)]
    assert spans(band, "Stable") == [(3.002, 20), (21.5, 100)]


def test_generations_reach_from_rebalance_to_rebalance_and_end_with_their_life() -> None:
    rows = [
        generation(1, 0),
        generation(2, 10, ended_at=at(40), outcome="abandoned"),
        {**generation(1, None, completing_at=at(60)), "life": 2},
    ]
    figure = charts.draw_states(timeline(transitions=STATES, generations=rows))
    strip = figure.axes[0]
    assert spans(strip, "generations") == [(0, 10), (10, 40), (60, 100)]
    assert spans(strip, "abandoned") == [(10, 40)]
    assert [text.get_text() for text in strip.texts] == ["1", "2", "1"]


def test_numbers_of_generations_never_overlap() -> None:
    rows = [generation(number, number * 0.3) for number in range(1, 301)]
    figure = charts.draw_states(timeline(transitions=STATES, generations=rows))
    figure.draw_without_rendering()
    boxes = sorted((text.get_window_extent() for text in figure.axes[0].texts), key=lambda box: box.x0)
    assert 20 < len(boxes) < 300
    assert all(left.x1 < right.x0 for left, right in zip(boxes, boxes[1:], strict=False))


def test_each_rebalance_is_a_mark_in_the_lane_of_its_trigger() -> None:
    rows = [
        generation(1, 0, trigger="member_joined", trigger_client_id="a"),
        generation(2, 10, trigger="session_expired", trigger_client_id="b"),
        generation(3, 20, trigger="session_expired", trigger_client_id="b"),
        generation(4, 30, trigger="session_expired", trigger_client_id="c"),
    ]
    lanes = charts.draw_states(timeline(transitions=STATES, generations=rows)).axes[2]
    marks = {line.get_label(): list(line.get_xdata()) for line in lanes.lines}
    assert marks["session_expired"] == [mdates.date2num(at(seconds)) for seconds in (10, 20, 30)]
    assert [label.get_text() for label in lanes.get_yticklabels()] == ["session expired", "member joined"]
    assert [text.get_text() for text in lanes.texts] == ["3×, 2 by b", "1×, by a"]


def test_storms_are_shaded_in_every_panel() -> None:
    storm = {"started_at": at(2), "ended_at": at(8), "rebalance_count": 7, "severity": "critical"}
    given = timeline(transitions=STATES, generations=[generation(1, 0)], storms=[storm])
    for figure in (charts.draw_states(given), draw_ownership(given)):
        for panel in figure.axes:
            shades = [patch for patch in panel.patches if patch.get_label() == "storm"]
            assert [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in shades] == [
                pytest.approx((mdates.date2num(at(2)), mdates.date2num(at(8))))
            ]
        assert "storm: 7 rebalances, critical" in texts(figure)


def test_every_assignment_is_a_bar_in_the_lane_of_its_partition() -> None:
    rows = [
        assignment(10, "b", 5, None),
        assignment(2, "a", 5, 20),
        assignment(2, "b", 30, None),
        assignment(0, "a", 5, 5.001),
    ]
    panel = draw_ownership(timeline(transitions=STATES, assignments=rows)).axes[0]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["orders-0", "orders-2", "orders-10"]
    assert bars(panel, "a") == [(5, 5.001, -0.4, 0.4), (5, 20, 0.6, 1.4)]
    assert bars(panel, "b") == [(5, 100, 1.6, 2.4), (30, 100, 0.6, 1.4)]


def test_two_owners_at_once_share_the_lane() -> None:
    rows = [assignment(0, "a", 0, 20), assignment(0, "b", 10, 30), assignment(0, "c", 20, 40)]
    panel = draw_ownership(timeline(transitions=STATES, assignments=rows)).axes[0]
    assert bars(panel, "a") == [(0, 20, -0.4, 0)]
    assert bars(panel, "b") == [(10, 30, 0, 0.4)]
    assert bars(panel, "c") == [(20, 40, -0.4, 0)]


def test_owners_are_told_apart_by_instance_then_client_then_host() -> None:
    rows = [
        assignment(0, "a", 0, 1, group_instance_id="i-1"),
        assignment(1, "b", 0, 1),
        assignment(2, "c", 0, 1),
        assignment(3, "c", 0, 1, client_host="/10.0.0.2"),
    ]
    names = owners(timeline(assignments=rows).assignments)
    assert list(names) == ["i-1", "b", "c /10.0.0.1", "c /10.0.0.2"]


def test_many_owners_keep_looks_of_their_own() -> None:
    rows = [assignment(number, f"c{number}", 0, 50) for number in range(30)]
    panel = draw_ownership(timeline(transitions=STATES, assignments=rows)).axes[0]
    looks = {(str(bar.get_facecolor()), bar.get_hatch()) for bar in panel.collections}
    assert len(looks) == 30


def test_every_state_has_a_colour_of_its_own() -> None:
    assert set(charts.STATE_COLOURS) == set(GROUP_STATES)
    assert len(set(charts.STATE_COLOURS.values())) == len(GROUP_STATES)


def test_title_and_axis_say_group_cluster_and_time_in_utc() -> None:
    figure = charts.draw_states(timeline(transitions=STATES, generations=[generation(1, 0)]))
    title, subtitle = (text.get_text() for text in figure.texts)
    assert title == "shop: states and rebalances"
    assert "cluster demo" in subtitle and "2026-11-20 10:58:11 to 10:59:51 UTC" in subtitle
    figure.draw_without_rendering()
    labels = [label.get_text() for label in figure.axes[-1].get_xticklabels()]
    assert "10:58:20" in labels and figure.axes[-1].get_xlabel() == "2026-11-20, UTC"


def test_a_group_of_which_little_is_known_can_be_drawn() -> None:
    for given in (timeline(), timeline(generations=[generation(1, None)]), timeline(until=0, transitions=STATES[:1])):
        charts.draw_states(given).draw_without_rendering()
        figure = draw_ownership(given)
        figure.draw_without_rendering()
        assert "no assignment is known" in texts(figure)


def test_storms_in_words_say_when_why_and_what_to_do() -> None:
    storm = {
        "started_at": at(2),
        "ended_at": at(8),
        "rebalance_count": 7,
        "severity": "warning",
        "unstable_ratio": 0.256,
        "triggers": {"member_left": 2, "session_expired": 5},
        "main_client_id": "worker-1",
        "main_client_host": "/10.0.0.1",
        "advice": "Raise session.timeout.ms.",
    }
    unknown = {
        **storm,
        "started_at": at(50),
        "unstable_ratio": None,
        "main_client_id": None,
        "triggers": {"unknown": 7},
    }
    first, advice, second, _ = timeline(storms=[unknown, storm]).storms_in_words().split("\n\n")
    assert first.startswith("**2026-11-20 10:58:13 to 10:58:19 UTC: 7 rebalances, warning.**")
    assert "for 26% of the time" in first and "`session_expired` 5, `member_left` 2" in first
    assert "than `worker-1` at `/10.0.0.1`" in first and advice == "> Raise session.timeout.ms."
    assert "of the time" not in second and " than " not in second
    assert timeline().storms_in_words() == "`shop` had no storm."


def test_a_stretch_of_time_cuts_what_reaches_over_its_ends() -> None:
    whole = timeline(
        generations=[generation(1, 10), generation(2, 50)],
        transitions=[transition(1, 10, "Stable"), transition(2, 50, "Empty")],
        assignments=[assignment(0, "a", 10, 50), assignment(1, "a", 50, None), assignment(2, "a", 0, 20)],
    )
    part = whole.between(at(20), at(60))
    assert part.generations["generation"].tolist() == [2]
    assert part.transitions["seq"].tolist() == [2]
    assert part.assignments[["partition", "valid_from"]].to_numpy().tolist() == [[0, at(20)], [1, at(50)]]
    assert part.until == at(60)
    assert whole.between(None, None) is whole
