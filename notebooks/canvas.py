"""The frame around every drawing: panels over one time axis, title, legend, shaded storms, room for text.

Sizes are inches, texts points. No drawing depends on pyplot, so a figure is shown once, where a cell returns it.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.dates as mdates
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from notebooks.timeline import GroupTimeline

WIDTH = 13.0
LANE, TALLEST = 0.3, 14.0
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, GAP = 1.9, 2.1, 0.85, 0.06
DOTS_PER_INCH = 120
FONT_POINTS = 9
LEGEND_ENTRIES = 14
INK, PALE_INK = "#222222", "#666666"
STORM_COLOUR, STORM_INK = "#CC79A7", "#8F3D6B"


def framed(
    timeline: GroupTimeline, what: str, size: str, heights: Sequence[float], legend: Sequence[Patch]
) -> tuple[Figure, list[Axes]]:
    """Set up a figure over the whole time of a group.

    Args:
        timeline: the group.
        what: what is drawn, for the title.
        size: how much is drawn, for the subtitle.
        heights: heights of the panels, from top to bottom, in inches.
        legend: entries of the legend; those beyond the first few are only counted.

    Returns:
        The figure, and the empty panels with the storms shaded behind them.
    """
    entries = _legend_entries(timeline, legend)
    columns = _legend_columns(entries)
    rows = -(-len(entries) // columns)
    bottom = 0.62 + 0.2 * rows + (0 if _is_one_day(timeline) else 0.16)
    height = sum(heights) + GAP * (len(heights) - 1) + MARGIN_TOP + bottom
    figure = Figure(figsize=(WIDTH, height), dpi=DOTS_PER_INCH, facecolor="white")
    panels, y = [], height - MARGIN_TOP
    for panel_height in heights:
        y -= panel_height
        panels.append(_panel(figure, timeline, y, panel_height))
        y -= GAP
    _name_storms(panels[0], timeline)
    _label_time(panels[-1], timeline)
    _write_title(figure, timeline, what, size)
    if entries:
        figure.legend(
            handles=entries,
            loc="lower left",
            bbox_to_anchor=(MARGIN_LEFT / WIDTH, 0.04 / height),
            ncols=columns,
            frameon=False,
            fontsize=FONT_POINTS,
            handlelength=1.4,
            columnspacing=1.6,
            borderaxespad=0,
            borderpad=0,
        )
    return figure, panels


def set_lanes(panel: Axes, labels: Sequence[str], positions: Sequence[float] | None = None, if_none: str = "") -> None:
    """Name the lanes of a panel from top to bottom; of very many only as many as stay legible.

    Args:
        panel: the panel.
        labels: names of the lanes.
        positions: where they lie; None = one below the other.
        if_none: what is written in the middle of a panel without lanes.
    """
    if if_none and not labels:
        panel.text(0.5, 0.5, if_none, transform=panel.transAxes, ha="center", color=PALE_INK)
    places = list(range(len(labels))) if positions is None else list(positions)
    every = len(labels) // 60 + 1
    panel.set_yticks(places[::every], [shortened(label, 24) for label in labels[::every]])
    panel.set_ylim(max(len(labels), 1) - 0.5, -0.5)


def height_of_lanes(lanes: int, lane: float = LANE) -> float:
    """Height of a panel of lanes of some height: room for two at least, and never more than fits a page."""
    return min(max(lane * lanes, 2 * LANE), TALLEST)


def extents(starts: pd.Series, ends: pd.Series) -> list[tuple[float, float]]:
    """Begin and length of stretches of time, in matplotlib's days."""
    first, last = mdates.date2num(starts), mdates.date2num(ends)
    return [(begin, end - begin) for begin, end in zip(first, last, strict=True)]


def days(moment: pd.Timestamp) -> float:
    """A moment in matplotlib's days."""
    return float(mdates.date2num(moment))


def days_for_text(text: str, timeline: GroupTimeline) -> float:
    """The time that a text covers on the axis, with a little air."""
    first, last = _time_limits(timeline)
    return (inches(text) + 0.1) / (WIDTH - MARGIN_LEFT - MARGIN_RIGHT) * (last - first)


def shortened(text: str, length: int) -> str:
    """The text, its middle left out where it is too long: names tend to differ at their ends."""
    half = (length - 1) // 2
    return text if len(text) <= length else f"{text[:half]}…{text[-half:]}"


def inches(text: str) -> float:
    """Width of a text; a letter is 0.55 em wide on average."""
    return len(text) * 0.55 * FONT_POINTS / 72


def _legend_entries(timeline: GroupTimeline, legend: Sequence[Patch]) -> list[Patch | Line2D]:
    entries: list[Patch | Line2D] = list(legend[:LEGEND_ENTRIES])
    if len(legend) > len(entries):
        entries.append(Line2D([], [], linestyle="", label=f"and {len(legend) - len(entries)} more"))
    if len(timeline.storms):
        entries.append(Patch(facecolor=STORM_COLOUR, alpha=0.3, label="storm"))
    return entries


def _legend_columns(entries: Sequence[Patch | Line2D]) -> int:
    """As many columns as fit beside each other."""
    widest = max((inches(str(entry.get_label())) for entry in entries), default=0) + 0.5
    return max(1, min(len(entries), 8, int((WIDTH - MARGIN_LEFT) / widest)))


def _panel(figure: Figure, timeline: GroupTimeline, y: float, height: float) -> Axes:
    width = WIDTH - MARGIN_LEFT - MARGIN_RIGHT
    whole = figure.get_figheight()
    panel = figure.add_axes((MARGIN_LEFT / WIDTH, y / whole, width / WIDTH, height / whole))
    panel.set_xlim(*_time_limits(timeline))
    panel.tick_params(bottom=False, labelbottom=False, left=False, labelsize=FONT_POINTS, colors=INK)
    for spine in panel.spines.values():
        spine.set_visible(False)
    _shade_storms(panel, timeline)
    return panel


def _shade_storms(panel: Axes, timeline: GroupTimeline) -> None:
    for storm in timeline.storms.itertuples():
        edges = (days(storm.started_at), days(storm.ended_at))
        panel.axvspan(*edges, facecolor=STORM_COLOUR, alpha=0.12, linewidth=0, zorder=0, label="storm")
        for edge in edges:
            panel.axvline(edge, color=STORM_COLOUR, linewidth=1.2, zorder=5)


def _name_storms(panel: Axes, timeline: GroupTimeline) -> None:
    """Write each storm's size above the panel, one that would cover its neighbour left out."""
    right_end = float("-inf")
    for storm in timeline.storms.sort_values("started_at").itertuples():
        text = f"storm: {storm.rebalance_count} rebalances, {storm.severity}"
        start = days(storm.started_at)
        if start > right_end:
            place = {"xy": (start, 1), "xycoords": panel.get_xaxis_transform(), "textcoords": "offset points"}
            panel.annotate(text, xytext=(2, 3), fontsize=FONT_POINTS, color=STORM_INK, va="bottom", **place)
            right_end = start + days_for_text(text, timeline)


def _time_limits(timeline: GroupTimeline) -> tuple[float, float]:
    """The group's time with a little room on both sides; never empty."""
    first, last = days(timeline.since), days(timeline.until)
    room = max((last - first) * 0.005, 0.5 / 86_400)
    return first - room, last + room


def _is_one_day(timeline: GroupTimeline) -> bool:
    return bool(timeline.since.date() == timeline.until.date())


def _label_time(panel: Axes, timeline: GroupTimeline) -> None:
    """A time axis in UTC with seconds; the date stands at the axis, or at each tick where there are several."""
    is_one_day = _is_one_day(timeline)
    locator = mdates.AutoDateLocator(minticks=4, maxticks=12 if is_one_day else 8)
    panel.xaxis.set_major_locator(locator)
    panel.xaxis.set_major_formatter(mdates.DateFormatter("%H:%M:%S" if is_one_day else "%Y-%m-%d\n%H:%M:%S"))
    panel.tick_params(axis="x", bottom=True, labelbottom=True)
    panel.spines["bottom"].set_visible(True)
    panel.spines["bottom"].set_color(PALE_INK)
    panel.set_xlabel(f"{timeline.since:%Y-%m-%d}, UTC" if is_one_day else "UTC", fontsize=FONT_POINTS, color=INK)


def _write_title(figure: Figure, timeline: GroupTimeline, what: str, size: str) -> None:
    height = figure.get_figheight()
    left = MARGIN_LEFT / WIDTH
    begin, end = f"{timeline.since:%Y-%m-%d %H:%M:%S}", f"{timeline.until:%Y-%m-%d %H:%M:%S}"
    if begin[:10] == end[:10]:
        end = end[11:]
    title = {"x": left, "ha": "left", "va": "top"}
    figure.text(
        y=1 - 0.12 / height,
        s=f"{shortened(timeline.group_id, 60)}: {what}",
        fontsize=13,
        weight="bold",
        color=INK,
        **title,
    )
    subtitle = f"cluster {timeline.cluster}   ·   {begin} to {end} UTC   ·   {size}"
    figure.text(y=1 - 0.37 / height, s=subtitle, fontsize=FONT_POINTS, color=PALE_INK, **title)
