"""Who owned which partition when, as a drawing: rows of gold in, a matplotlib figure out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from notebooks.canvas import (
    FONT_POINTS,
    INK,
    LANE,
    PALE_INK,
    days,
    days_for_text,
    extents,
    framed,
    height_of_lanes,
    set_lanes,
    shortened,
)
from notebooks.lanes import beside_each_other, owner_styles, owners
from notebooks.timeline import GroupTimeline
from schemas.words import INITIALISED
from transforms.report.words import count

MARKS = {
    "nobody, though Stable": ("#D55E00", "xxxx"),
    "share state not ready": ("#0072B2", "...."),
}
"""What marks a lane besides bars, with its ink and hatch: nobody had the partition, or could be given it yet."""

NOBODY, NOT_READY = MARKS

LOOKS: dict[str, tuple[str, str, float]] = {
    "held": ("held", "-", 1.0),
    "revoking": ("to be given back", "--", 0.35),
    "standby": ("standby task", "-", 0.0),
    "warmup": ("warm-up task", ":", 0.0),
}
"""Ways of having a partition: its words, the line around it, and how full its colour is.

Only what is held, as an active task where there are tasks, has its full colour: that is what is read.
"""

_LINE = 0.1
"""Height of a bar that shares its lane with others, at least, in inches."""


def draw_ownership(timeline: GroupTimeline) -> Figure:
    """Draw who owned which partition when: one lane for each partition, one bar for each assignment.

    An owner is a group.instance.id, else a client.id (with its host where one client.id is on several). Where a lane is
    empty nobody owned the partition; where several did at the same time, as share groups let them, they share the
    height of the lane. A lane of a streams group is a task: its subtopology and partition. Partitions of share groups
    whose share state is being made, or deleted, are marked: nobody can be given them.
    """
    rows = timeline.assignments.assign(owner=owners(timeline.assignments), look=_looks(timeline.assignments))
    rows = _named(rows).assign(starts_at=rows["valid_from"], ends_at=rows["valid_to"].fillna(timeline.until))
    marked = _marked(timeline)
    places = pd.concat([each[["topic", "partition", "lane"]] for each in (rows, marked)])
    names = list(places.sort_values(["topic", "partition"])["lane"].drop_duplicates())
    in_order = rows.sort_values(["valid_from", "owner"])
    styles = owner_styles(list(in_order["owner"].drop_duplicates()))
    bars = beside_each_other(in_order, "lane", names)
    lane = max(LANE, _LINE / bars["height"].min()) if len(bars) else LANE
    heights = [height_of_lanes(len(names), lane)]
    what = "task" if timeline.group_types == ["streams"] else "partition"
    size = f"{count(len(names), what)}, {count(len(styles), 'owner')}"
    legend = list(_legend(styles, set(rows["look"]), set(marked["mark"])))
    figure, (panel,) = framed(timeline, f"who owned which {what}", size, heights, legend)
    _draw_bars(panel, bars, styles, timeline)
    _draw_marks(panel, marked, names)
    set_lanes(panel, names, if_none="no assignment is known")
    return figure


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(lane=rows["topic"] + "-" + rows["partition"].astype(str))


def _marked(timeline: GroupTimeline) -> pd.DataFrame:
    """What marks lanes: topic, partition, lane, mark, starts_at, ends_at."""
    shares = timeline.shares[timeline.shares["state"] != INITIALISED]
    rows = pd.concat([timeline.orphans.assign(mark=NOBODY), shares.assign(mark=NOT_READY)], join="inner")
    return _named(rows).assign(starts_at=rows["from_at"], ends_at=rows["to_at"].fillna(timeline.until))


def _looks(rows: pd.DataFrame) -> pd.Series:
    """In which way each row's member has its partition, a word of LOOKS."""
    held = rows["hold"].where(rows["hold"] == "revoking", "held")
    return rows["role"].where(rows["role"].isin(list(LOOKS)), held)


def _legend(styles: Mapping[str, tuple[str, str]], looks: set[str], marks: set[str]) -> Iterator[Patch]:
    """Ways of having a partition come first: the list of owners may be cut."""
    for look, (words, line, fullness) in LOOKS.items():
        if look in looks and look != "held":
            face = (0.5, 0.5, 0.5, fullness)
            yield Patch(facecolor=face, edgecolor=INK, linestyle=line, linewidth=1, label=words)
    for mark, (ink, hatch) in MARKS.items():
        if mark in marks:
            yield Patch(facecolor="white", edgecolor=ink, hatch=hatch, label=mark)
    for owner, (colour, hatch) in styles.items():
        yield Patch(facecolor=colour, hatch=hatch, edgecolor=PALE_INK, linewidth=0.3, label=shortened(owner, 30))


def _draw_bars(panel: Axes, bars: pd.DataFrame, styles: Mapping[str, tuple[str, str]], timeline: GroupTimeline) -> None:
    """Draw the assignments, and write the owner into those that have room for it."""
    for (owner, look, y, height), of_owner in bars.groupby(["owner", "look", "y", "height"]):
        colour, hatch = styles[owner]
        _, line, fullness = LOOKS[look]
        is_held = look == "held"
        panel.broken_barh(
            extents(of_owner["starts_at"], of_owner["ends_at"]),
            (y, height),
            facecolor=(colour, fullness),
            hatch=hatch,
            # The outline keeps an assignment of a millisecond visible as a hairline.
            edgecolor=PALE_INK if is_held and hatch else colour,
            linewidth=0.5 if is_held else 1.2,
            linestyle=line,
            label=owner if is_held else f"{owner}: {look}",
            zorder=2,
        )
    for bar in bars[(bars["height"] > 0.3) & (bars["look"] == "held")].itertuples():
        start, end = days(bar.starts_at), days(bar.ends_at)
        if end - start > days_for_text(bar.owner, timeline):
            place = ((start + end) / 2, bar.y + bar.height / 2)
            field = {"facecolor": styles[bar.owner][0], "edgecolor": "none", "pad": 0.6}
            style = {"fontsize": FONT_POINTS - 1, "color": INK, "clip_on": True, "zorder": 4, "bbox": field}
            panel.text(*place, bar.owner, ha="center", va="center", **style)


def _draw_marks(panel: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    """Draw what a target gave to a member and nobody had, although the group was Stable, and what none could have."""
    for (mark, lane), of_lane in rows.groupby(["mark", "lane"]):
        ink, hatch = MARKS[mark]
        panel.broken_barh(
            extents(of_lane["starts_at"], of_lane["ends_at"]),
            (names.index(str(lane)) - 0.4, 0.8),
            facecolor="none",
            edgecolor=ink,
            hatch=hatch,
            linewidth=0.8,
            label=mark,
            zorder=3,
        )
