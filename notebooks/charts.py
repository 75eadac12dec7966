"""The states of a group, its generations or epochs and what set them off: rows of gold in, a matplotlib figure out.

Colours are fit for colour-blind eyes (Okabe and Ito), and a state has the same colour everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.dates as mdates
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from notebooks.canvas import (
    FONT_POINTS,
    INK,
    PALE_INK,
    days,
    days_for_text,
    extents,
    framed,
    set_lanes,
    shortened,
)
from notebooks.timeline import GroupTimeline, rebalanced_at

STATE_COLOURS = {
    "Stable": "#56B4E9",
    "PreparingRebalance": "#D55E00",
    "CompletingRebalance": "#F0E442",
    "Reconciling": "#E69F00",
    "Assigning": "#CC79A7",
    "NotReady": "#882255",
    "Empty": "#CFCFCF",
    "Dead": "#4D4D4D",
}
"""In drawing order: what is short comes later, so that nothing hides it."""

GENERATION_COLOURS = ("#ECECEC", "#D4D4D4")
ABANDONED_HATCH = "////"


def draw_states(timeline: GroupTimeline) -> Figure:
    """Draw a group's states over time as a band, with its generations above and the triggers below.

    Every rebalance is a mark in the lane of its trigger; how often each was, and which client it mostly was, stands
    at the end of its lane. Storms are shaded.
    """
    triggers = timeline.rebalances["trigger"].value_counts()
    shown = set(timeline.state_bands()["state"])
    legend = [Patch(color=colour, label=state) for state, colour in STATE_COLOURS.items() if state in shown]
    if (timeline.generations["outcome"] == "abandoned").any():
        words = f"abandoned {timeline.step}"
        legend.append(Patch(facecolor="white", edgecolor=PALE_INK, hatch=ABANDONED_HATCH, label=words))
    heights = [0.32, 0.7, 0.34 * max(len(triggers), 1) + 0.1]
    figure, (strip, band, lanes) = framed(timeline, "states and rebalances", timeline.size, heights, legend)
    _draw_generations(strip, timeline)
    _draw_state_band(band, timeline)
    _draw_triggers(lanes, timeline, list(triggers.index))
    return figure


def _draw_generations(panel: Axes, timeline: GroupTimeline) -> None:
    """A strip with one field for each generation, numbered wherever there is room for the number."""
    bands = timeline.generation_bands()
    for parity, colour in enumerate(GENERATION_COLOURS):
        fields = bands[bands.index % 2 == parity]
        panel.broken_barh(
            extents(fields["starts_at"], fields["ends_at"]), (0, 1), facecolor=colour, linewidth=0, label="generations"
        )
    abandoned = bands[bands["outcome"] == "abandoned"]
    panel.broken_barh(
        extents(abandoned["starts_at"], abandoned["ends_at"]),
        (0, 1),
        facecolor="none",
        edgecolor=PALE_INK,
        hatch=ABANDONED_HATCH,
        linewidth=0,
        label="abandoned",
    )
    right_end = float("-inf")
    for band in bands.itertuples():
        text = str(band.generation)
        middle = days(band.starts_at + (band.ends_at - band.starts_at) / 2)
        half = days_for_text(text, timeline) / 2
        if middle - half > right_end:
            panel.text(middle, 0.5, text, ha="center", va="center", fontsize=FONT_POINTS - 1, color=INK, clip_on=True)
            right_end = middle + half
    set_lanes(panel, [timeline.step], positions=[0.5])
    panel.set_ylim(0, 1)


def _draw_state_band(panel: Axes, timeline: GroupTimeline) -> None:
    bands = timeline.state_bands()
    for order, (state, colour) in enumerate(STATE_COLOURS.items()):
        of_state = bands[bands["state"] == state]
        # The outline keeps a state of a millisecond visible as a hairline.
        panel.broken_barh(
            extents(of_state["starts_at"], of_state["ends_at"]),
            (0, 1),
            facecolor=colour,
            edgecolor=colour,
            linewidth=0.6,
            label=state,
            zorder=2 + 0.1 * order,
        )
    set_lanes(panel, ["state"], positions=[0.5])
    panel.set_ylim(0, 1)


def _draw_triggers(panel: Axes, timeline: GroupTimeline, triggers: Sequence[str]) -> None:
    """One lane for each trigger; at its end how often it was, and the client that it mostly was."""
    rebalances = timeline.rebalances
    at = rebalanced_at(rebalances)
    for lane, trigger in enumerate(triggers):
        rows = rebalances[rebalances["trigger"] == trigger]
        panel.plot(
            mdates.date2num(at[rows.index]),
            [lane] * len(rows),
            linestyle="",
            marker="D",
            markersize=5,
            markerfacecolor=STATE_COLOURS["PreparingRebalance"],
            markeredgecolor="white",
            markeredgewidth=0.6,
            label=trigger,
            clip_on=False,
            zorder=3,
        )
        panel.text(
            1.01,
            lane,
            _how_often(rows["trigger_client_id"]),
            transform=panel.get_yaxis_transform(),
            va="center",
            fontsize=FONT_POINTS,
            color=PALE_INK,
        )
    set_lanes(panel, [trigger.replace("_", " ") for trigger in triggers])
    panel.grid(axis="y", color="#E6E6E6", linewidth=0.8)
    panel.set_axisbelow(True)


def _how_often(clients: pd.Series) -> str:
    """How often something was, and which client it mostly was, e.g. "14×, 5 by worker-2"."""
    counts = clients.value_counts()
    if not len(counts):
        return f"{len(clients)}×"
    share = "" if len(clients) == 1 else "all " if counts.iloc[0] == len(clients) else f"{counts.iloc[0]} "
    return f"{len(clients)}×, {share}by {shortened(str(counts.index[0]), 14)}"
