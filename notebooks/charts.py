"""The drawings of the notebooks: rows of gold in, a matplotlib figure out.

Colours are fit for colour-blind eyes (Okabe and Ito for the states, Paul Tol's light set for owners), and a state has
the same colour everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.dates as mdates
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from notebooks.canvas import FONT_POINTS, INK, PALE_INK, days, days_for_text, extents, framed, set_lanes, shortened
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

OWNER_COLOURS = ("#77AADD", "#EE8866", "#EEDD88", "#44BB99", "#99DDFF", "#BBCC33", "#DDDDDD", "#AAAA00")
OWNER_HATCHES = ("", "////", "....", "xxxx", "oo")
GENERATION_COLOURS = ("#ECECEC", "#D4D4D4")
ABANDONED_HATCH = "////"


def draw_states(timeline: GroupTimeline) -> Figure:
    """Draw a group's states over time as a band, with its generations above and the triggers below.

    Every rebalance is a mark in the lane of its trigger; how often each was, and which client it mostly was, stands
    at the end of its lane. Storms are shaded.
    """
    triggers = timeline.generations["trigger"].value_counts()
    shown = set(timeline.state_bands()["state"])
    legend = [Patch(color=colour, label=state) for state, colour in STATE_COLOURS.items() if state in shown]
    if (timeline.generations["outcome"] == "abandoned").any():
        legend.append(Patch(facecolor="white", edgecolor=PALE_INK, hatch=ABANDONED_HATCH, label="abandoned generation"))
    heights = [0.32, 0.7, 0.34 * max(len(triggers), 1) + 0.1]
    size = _count(len(timeline.generations), "generation")
    figure, (strip, band, lanes) = framed(timeline, "states and rebalances", size, heights, legend)
    _draw_generations(strip, timeline)
    _draw_state_band(band, timeline)
    _draw_triggers(lanes, timeline, list(triggers.index))
    return figure


def draw_ownership(timeline: GroupTimeline) -> Figure:
    """Draw who owned which partition when: one lane for each partition, one bar for each assignment.

    An owner is a group.instance.id, else a client.id (with its host where one client.id is on several). Where a lane is
    empty nobody owned the partition; where two did at the same time, they share the height of the lane.
    """
    rows = timeline.assignments.assign(owner=owners(timeline.assignments))
    rows["partition_name"] = rows["topic"] + "-" + rows["partition"].astype(str)
    names = list(rows.sort_values(["topic", "partition"])["partition_name"].drop_duplicates())
    styles = _owner_styles(rows)
    legend = [
        Patch(facecolor=colour, hatch=hatch, edgecolor=PALE_INK, linewidth=0.3, label=shortened(owner, 30))
        for owner, (colour, hatch) in styles.items()
    ]
    heights = [min(max(0.3 * len(names), 0.6), 14.0)]
    size = f"{_count(len(names), 'partition')}, {_count(len(styles), 'owner')}"
    figure, (panel,) = framed(timeline, "who owned which partition", size, heights, legend)
    _draw_bars(panel, _bars(rows, names, timeline), styles, timeline)
    set_lanes(panel, names)
    if not names:
        panel.text(0.5, 0.5, "no assignment is known", transform=panel.transAxes, ha="center", color=PALE_INK)
    return figure


def owners(assignments: pd.DataFrame) -> pd.Series:
    """The name of each assignment's owner: group.instance.id, else client.id, with the host where that is ambiguous."""
    client = assignments["client_id"].fillna(assignments["member_id"])
    hosts = assignments.groupby(client)["client_host"].transform("nunique")
    named = client.where(hosts <= 1, client + " " + assignments["client_host"].fillna(""))
    return assignments["group_instance_id"].fillna(named)


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
    set_lanes(panel, ["generation"], positions=[0.5])
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
    at = rebalanced_at(timeline.generations)
    for lane, trigger in enumerate(triggers):
        rows = timeline.generations[timeline.generations["trigger"] == trigger]
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


def _owner_styles(rows: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """A colour and a hatch for each owner, in order of first appearance."""
    names = list(rows.sort_values(["valid_from", "owner"])["owner"].drop_duplicates())
    return {
        name: (
            OWNER_COLOURS[place % len(OWNER_COLOURS)],
            OWNER_HATCHES[place // len(OWNER_COLOURS) % len(OWNER_HATCHES)],
        )
        for place, name in enumerate(names)
    }


def _bars(rows: pd.DataFrame, names: Sequence[str], timeline: GroupTimeline) -> pd.DataFrame:
    """The rows with the place of their bars: starts_at, ends_at, y (upper edge), height.

    Bars of a lane that overlap in time lie in lines of their own, which divide the height of the lane.
    """
    bars = rows.sort_values(["valid_from", "owner"]).assign(
        starts_at=rows["valid_from"], ends_at=rows["valid_to"].fillna(timeline.until), y=0.0, height=0.0
    )
    for name, of_lane in bars.groupby("partition_name"):
        ends: list[pd.Timestamp] = []
        lines = []
        for bar in of_lane.itertuples():
            free = next((line for line, end in enumerate(ends) if end <= bar.starts_at), len(ends))
            ends[free : free + 1] = [bar.ends_at]
            lines.append(free)
        height = 0.8 / len(ends)
        bars.loc[of_lane.index, "height"] = height
        bars.loc[of_lane.index, "y"] = [names.index(str(name)) - 0.4 + line * height for line in lines]
    return bars


def _draw_bars(panel: Axes, bars: pd.DataFrame, styles: dict[str, tuple[str, str]], timeline: GroupTimeline) -> None:
    """Draw the assignments, and write the owner into those that have room for it."""
    for (owner, y, height), of_owner in bars.groupby(["owner", "y", "height"]):
        colour, hatch = styles[owner]
        panel.broken_barh(
            extents(of_owner["starts_at"], of_owner["ends_at"]),
            (y, height),
            facecolor=colour,
            hatch=hatch,
            # The outline keeps an assignment of a millisecond visible as a hairline.
            edgecolor=PALE_INK if hatch else colour,
            linewidth=0.5,
            label=owner,
            zorder=2,
        )
    for bar in bars[bars["height"] > 0.3].itertuples():
        start, end = days(bar.starts_at), days(bar.ends_at)
        if end - start > days_for_text(bar.owner, timeline):
            place = ((start + end) / 2, bar.y + bar.height / 2)
            field = {"facecolor": styles[bar.owner][0], "edgecolor": "none", "pad": 0.6}
            style = {"fontsize": FONT_POINTS - 1, "color": INK, "clip_on": True, "zorder": 4, "bbox": field}
            panel.text(*place, bar.owner, ha="center", va="center", **style)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
