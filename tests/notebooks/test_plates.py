"""Drawings of counts and shares, asked of the figure's own artists."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.figure import Figure

from notebooks import plates


def bars(figure: Figure) -> list[tuple[float, float]]:
    """Width and height of each bar, in the order in which they were drawn."""
    return [(patch.get_width(), patch.get_height()) for patch in figure.axes[0].patches]


def test_each_rebalance_has_a_bar_as_high_as_it_was_long() -> None:
    rows = pd.DataFrame(
        {
            "generation": [1, 2, 3],
            "trigger": ["member_joined", "member_left", "unknown"],
            "rebalance_ms": [500, 2500, None],
        }
    )
    figure = plates.draw_cost(rows, "g")
    assert [height for _, height in bars(figure)] == [0.5, 2.5]
    assert "3 s in 2 rebalances" in figure.axes[0].get_title(loc="left")


def test_the_client_with_most_rebalances_is_on_top_and_its_triggers_add_up() -> None:
    rows = pd.DataFrame(
        {
            "client": ["a", "b", "b"],
            "trigger": ["member_left", "member_left", "member_joined"],
            "rebalances": [1, 2, 3],
            "in_all": [1, 5, 5],
        }
    )
    figure = plates.draw_culprits(rows, "who")
    panel = figure.axes[0]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["b", "a"]
    ends = [patch.get_x() + patch.get_width() for patch in panel.patches if patch.get_width()]
    assert max(ends) == 5


def test_shares_of_answers_add_up_to_all_of_them_and_what_proves_nothing_is_told_apart() -> None:
    counts = pd.DataFrame(
        {"request_count": [10], "agree_count": [8], "differ_count": [1], "unpredicted_count": [1], "race_count": [2]}
        | {"answer_used_count": [1]},
        index=["Heartbeat"],
    )
    widths = [width for width, _ in bars(plates.draw_agreement(counts))]
    assert widths == pytest.approx([50, 20, 10, 10, 10])


def test_heat_lies_in_the_field_of_its_group_and_time() -> None:
    counts = pd.DataFrame({"group_id": ["b", "a"], "bin": [10, 12], "rebalances": [4, 1]})
    figure = plates.draw_heat(counts, ["b", "a"], 1000)
    field = figure.axes[0].collections[0].get_array()
    assert field[0][0] == 4 and field[1][2] == 1
    assert field.count() == 2  # elsewhere there was none, which is not the same as few


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plates.draw_cost(pd.DataFrame({"generation": [], "trigger": [], "rebalance_ms": []}), "g"),
        lambda: plates.draw_refusals(pd.DataFrame({"member_id": [], "error": [], "at": []}), "g"),
        lambda: plates.draw_heat(pd.DataFrame({"group_id": [], "bin": [], "rebalances": []}), [], 1000),
        lambda: plates.draw_culprits(
            pd.DataFrame({"client": [], "trigger": [], "rebalances": [], "in_all": []}), "who"
        ),
        lambda: plates.draw_agreement(
            pd.DataFrame({name: [] for name in (*plates.SHARES, "request_count", "agree_count")})
        ),
    ],
    ids=["cost", "refusals", "heat", "culprits", "agreement"],
)
def test_a_lake_without_any_of_it_can_be_drawn(draw: object) -> None:
    assert callable(draw)
    assert isinstance(draw(), Figure)
