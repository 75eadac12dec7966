"""Drawings that are no timeline of one group: counts, shares, heat, and two periods side by side.

Each says how much it shows in its title. Colours are fit for colour-blind eyes; where several meet in one bar they are
hatched as well, so that print without colour still tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from notebooks.canvas import DOTS_PER_INCH, FONT_POINTS, INK, PALE_INK, WIDTH, inches, shortened
from notebooks.lanes import OWNER_COLOURS, OWNER_HATCHES
from transforms.report.words import duration, words

HEAT = LinearSegmentedColormap.from_list("heat", ["#FBE9DC", "#F0A871", "#D55E00", "#7A2F00"])
"""Light to dark: it reads the same without colour."""

SHARES = {
    "proven": ("as predicted", "#56B4E9", ""),
    "race_count": ("race", "#E6D36A", "////"),
    "answer_used_count": ("answer used", "#44BB99", "...."),
    "unpredicted_count": ("not predicted", "#C4C4C0", "xxxx"),
    "differ_count": ("otherwise", "#D55E00", ""),
}


def draw_cost(rebalances: pd.DataFrame, group: str, step: str = "generation") -> Figure:
    """Draw how long each rebalance took, in order, by what set it off."""
    known = rebalances.dropna(subset=["rebalance_ms"]).reset_index(drop=True)
    total, longest = float(known["rebalance_ms"].sum()), float(known["rebalance_ms"].max() if len(known) else 0)
    figure, panel = _sheet(
        3.2, f"{group}: {duration(total)} in {len(known)} rebalances, the longest {duration(longest)}"
    )
    for place, (trigger, rows) in enumerate(known.groupby("trigger", sort=False)):
        look = _look(place)
        panel.bar(rows.index, rows["rebalance_ms"] / 1000, width=0.85, label=words(str(trigger)), **look)
    every = len(known) // 30 + 1
    panel.set_xticks(range(0, len(known), every), known["generation"].astype(str)[::every])
    panel.set_xlabel(step, fontsize=FONT_POINTS, color=INK)
    panel.set_ylabel("seconds", fontsize=FONT_POINTS, color=INK)
    return _with_legend(figure, panel)


def draw_culprits(counts: pd.DataFrame, title: str) -> Figure:
    """Draw how many rebalances each client set off, and how."""
    order = counts.sort_values(["in_all", "client"], ascending=[False, True])["client"].drop_duplicates().tolist()
    figure, panel = _sheet(0.7 + 0.28 * max(len(order), 3), f"{title}: {int(counts['rebalances'].sum())} rebalances")
    begins = np.zeros(len(order))
    for place, (trigger, rows) in enumerate(counts.groupby("trigger")):
        values = rows.set_index("client")["rebalances"].reindex(order).fillna(0).to_numpy()
        panel.barh(range(len(order)), values, left=begins, height=0.75, label=words(str(trigger)), **_look(place))
        begins = begins + values
    _lanes(panel, order)
    panel.set_xlabel("rebalances", fontsize=FONT_POINTS, color=INK)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    return _with_legend(figure, panel)


def draw_refusals(refused: pd.DataFrame, title: str) -> Figure:
    """Draw each refused request at its moment, in the lane of the member that sent it."""
    lanes = refused["member_id"].fillna("").replace("", "(no member id)")
    order = lanes.drop_duplicates().tolist()
    figure, panel = _sheet(0.9 + 0.3 * max(len(order), 2), f"{title}: {len(refused)}")
    marks = ("o", "s", "^", "D", "v", "P", "X", "*")
    for place, (error, rows) in enumerate(refused.groupby("error")):
        heights = [order.index(lane) for lane in lanes[rows.index]]
        look = {"color": OWNER_COLOURS[place % len(OWNER_COLOURS)], "marker": marks[place % len(marks)]}
        panel.plot(
            rows["at"],
            heights,
            linestyle="",
            markersize=6,
            markeredgecolor=INK,
            markeredgewidth=0.4,
            label=f"{error} ×{len(rows)}",
            **look,
        )
    _lanes(panel, [shortened(name, 30) for name in order])
    panel.set_xlabel("UTC", fontsize=FONT_POINTS, color=INK)
    return _with_legend(figure, panel)


def draw_heat(counts: pd.DataFrame, order: Sequence[str], width_ms: int) -> Figure:
    """Draw how many rebalances each group had in each stretch of time."""
    figure, panel = _sheet(
        1.0 + 0.27 * max(len(order), 3), f"rebalances of the {len(order)} busiest groups, per {duration(width_ms)}"
    )
    if len(counts):
        first, last = int(counts["bin"].min()), int(counts["bin"].max())
        table = np.full((len(order), last - first + 1), np.nan)
        for row in counts.itertuples():
            table[list(order).index(row.group_id), int(row.bin) - first] = row.rebalances
        drawn = panel.pcolormesh(table, cmap=HEAT, vmin=1, edgecolors="white", linewidth=1)
        bar = figure.colorbar(drawn, ax=panel, pad=0.015, fraction=0.02)
        bar.locator = MaxNLocator(integer=True)
        bar.update_ticks()
        bar.ax.tick_params(labelsize=FONT_POINTS - 1)
        every = (last - first) // 10 + 1
        moments = pd.to_datetime([(first + place) * width_ms for place in range(0, last - first + 1, every)], unit="ms")
        form = "%H:%M:%S" if width_ms * (last - first) < 86_400_000 else "%m-%d %H:%M"
        panel.set_xticks(range(0, last - first + 1, every), [f"{each:{form}}" for each in moments])
    _lanes(panel, order, offset=0.5)
    panel.set_xlabel("UTC, begin of the field", fontsize=FONT_POINTS, color=INK)
    return figure


def draw_periods(rows: pd.DataFrame, boundary: pd.Timestamp, lengths_ms: tuple[float, float]) -> Figure:
    """Draw the rebalances of each group before and after a moment, those first that changed most."""
    order = rows["group_id"].tolist()
    before, after = (duration(length) for length in lengths_ms)
    title = f"rebalances before and after {boundary:%Y-%m-%d %H:%M:%S} UTC ({before} and {after})"
    figure, panel = _sheet(0.9 + 0.3 * max(len(order), 3), title)
    places = np.arange(len(order))
    for place, column in enumerate(("before", "after")):
        panel.barh(places + 0.4 * place - 0.2, rows[column], height=0.38, label=column, **_look(place))
    _lanes(panel, order)
    panel.set_xlabel("rebalances", fontsize=FONT_POINTS, color=INK)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    return _with_legend(figure, panel)


def draw_agreement(counts: pd.DataFrame) -> Figure:
    """Draw, for each kind of request, the share that was answered as predicted, and what the others are."""
    requests = int(counts["request_count"].sum()) if len(counts) else 0
    figure, panel = _sheet(
        0.9 + 0.32 * max(len(counts), 2), f"the broker's answers beside the predictions: {requests:,} requests"
    )
    proven = counts["agree_count"] - counts["race_count"] - counts["answer_used_count"]
    table = counts.assign(proven=proven).div(counts["request_count"], axis=0) * 100
    begins = np.zeros(len(counts))
    for name, (label, colour, hatch) in SHARES.items():
        values = table[name].to_numpy(dtype=float)
        panel.barh(
            range(len(counts)),
            values,
            left=begins,
            height=0.7,
            label=label,
            color=colour,
            hatch=hatch,
            edgecolor=PALE_INK,
            linewidth=0.3,
        )
        begins = begins + values
    _lanes(panel, [f"{api} ({int(number):,})" for api, number in counts["request_count"].items()])
    panel.set_xlim(0, 100)
    panel.set_xlabel("% of the requests", fontsize=FONT_POINTS, color=INK)
    return _with_legend(figure, panel)


def _sheet(height: float, title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, height + 0.9), dpi=DOTS_PER_INCH, facecolor="white", layout="constrained")
    panel = figure.add_subplot()
    panel.set_title(title, loc="left", fontsize=13, weight="bold", color=INK, pad=10)
    panel.tick_params(labelsize=FONT_POINTS, colors=INK, length=0)
    for spine in ("top", "right", "left"):
        panel.spines[spine].set_visible(False)
    panel.spines["bottom"].set_color(PALE_INK)
    panel.grid(axis="both", color="#ECECEC", linewidth=0.7)
    panel.set_axisbelow(True)
    return figure, panel


def _lanes(panel: Axes, names: Sequence[str], offset: float = 0.0) -> None:
    panel.set_yticks([place + offset for place in range(len(names))], [shortened(str(name), 34) for name in names])
    panel.set_ylim(max(len(names), 1) - 0.5 + offset, -0.5 + offset)


def _look(place: int) -> dict[str, object]:
    """A colour and a hatch of its own for each of many."""
    hatch = OWNER_HATCHES[place % len(OWNER_HATCHES)]
    return {"color": OWNER_COLOURS[place % len(OWNER_COLOURS)], "hatch": hatch, "edgecolor": PALE_INK, "linewidth": 0.3}


def _with_legend(figure: Figure, panel: Axes) -> Figure:
    handles, labels = panel.get_legend_handles_labels()
    if handles:
        widest = max(map(inches, labels)) + 0.6
        columns = max(1, min(len(handles), 6, int(WIDTH / widest)))
        place = {"loc": "outside lower left", "ncols": columns, "frameon": False, "fontsize": FONT_POINTS}
        figure.legend(handles, labels, **place)
    return figure
