"""What a chart of the report is made of: lanes over one axis of time, and what lies in them.

A colour is a name, `state-Stable` or `owner-3-0`; the page's style sheet says what it looks like, in light and in dark.
An end that is not known yet is None: such a bar is drawn to the end of the data, wherever that is by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

OWNER_COLOURS = 8
OWNER_HATCHES = 4


class Bar(TypedDict):
    """A stretch of time in a lane."""

    lane: int
    begin: float
    end: float | None
    colour: str
    label: str
    tip: list[str]
    slot: int
    slots: int


class Mark(TypedDict):
    """A moment in a lane; `link` is the anchor of its row."""

    lane: int
    at: float
    colour: str
    tip: list[str]
    link: str


class Panel(TypedDict):
    """Lanes that belong together."""

    name: str
    lanes: list[str]
    bars: list[Bar]
    marks: list[Mark]
    note: str


class Band(TypedDict):
    """A stretch of time that is shaded through all panels."""

    begin: float
    end: float | None
    label: str
    colour: str


def bar(lane: int, begin: float, end: float | None, colour: str, label: str, tip: Sequence[str]) -> Bar:
    """Return a bar that has its lane to itself."""
    return Bar(lane=lane, begin=begin, end=end, colour=colour, label=label, tip=list(tip), slot=0, slots=1)


def panel(
    name: str, lanes: Sequence[str], bars: Sequence[Bar] = (), marks: Sequence[Mark] = (), note: str = ""
) -> Panel:
    """Return a panel, its bars set beside each other where they overlap in a lane."""
    return Panel(name=name, lanes=list(lanes), bars=side_by_side(list(bars)), marks=list(marks), note=note)


def side_by_side(bars: list[Bar]) -> list[Bar]:
    """Share a lane's height among bars that overlap in time: two owners at once must both be seen."""
    by_lane: dict[int, list[Bar]] = {}
    for each in bars:
        by_lane.setdefault(each["lane"], []).append(each)
    for of_lane in by_lane.values():
        cluster: list[Bar] = []
        until = float("-inf")
        for each in sorted(of_lane, key=lambda item: item["begin"]):
            if each["begin"] >= until:
                _share(cluster)
                cluster, until = [], float("-inf")
            cluster.append(each)
            until = max(until, _end(each))
        _share(cluster)
    return bars


def owner_colour(place: int) -> str:
    """Return the colour of the n-th owner: hues first, then the same hues hatched."""
    return f"owner-{place % OWNER_COLOURS}-{place // OWNER_COLOURS % OWNER_HATCHES}"


def _share(cluster: list[Bar]) -> None:
    """Give overlapping bars, in the order of their begin, the first row that is free."""
    ends: list[float] = []
    for each in cluster:
        free = next((row for row, end in enumerate(ends) if end <= each["begin"]), len(ends))
        ends[free : free + 1] = [_end(each)]
        each["slot"] = free
    for each in cluster:
        each["slots"] = len(ends)


def _end(each: Bar) -> float:
    return float("inf") if each["end"] is None else each["end"]


Chart = dict[str, Any]
