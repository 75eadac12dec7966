"""The members of a group, what each was about on its way to its target, and who waited for whom, as a drawing."""

from __future__ import annotations

import matplotlib.dates as mdates
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from notebooks.canvas import INK, PALE_INK, extents, framed, height_of_lanes, set_lanes
from notebooks.lanes import owners
from notebooks.timeline import GroupTimeline
from schemas.words import AWAY, UNREVOKED, WAITING_STATES
from transforms.report.words import count

MEMBER, STABLE, WAITS = "member", "STABLE", "waits for"

LOOKS = {
    MEMBER: ("#D4D4D4", ""),
    STABLE: ("#56B4E9", ""),
    **{state: ("#D55E00", "") if state in UNREVOKED else ("#F0E442", "////") for state in WAITING_STATES},
    AWAY: ("#CC79A7", ".."),
}
"""Colour and hatch of what a member is about; member = it is one, and its protocol has no states for members."""

_STATELESS = ("classic", "share")


def draw_members(timeline: GroupTimeline) -> Figure:
    """Draw each member's stays, and in groups of epochs what it was about: one lane for each member.

    A member is UNREVOKED while it is to give something up, UNRELEASED while it waits until others have: then a line
    leads to whom it waits for. A static member that left for a while is AWAY, and keeps what it has. In all other time
    a member has what it was told, and is STABLE.
    """
    rows = timeline.sessions
    stays = rows.assign(
        starts_at=rows["joined_at"].fillna(timeline.life_begins(rows["life"])),
        ends_at=rows["ended_at"].fillna(timeline.until),
        look=rows["group_type"].map(lambda name: MEMBER if pd.isna(name) or name in _STATELESS else STABLE),
    )
    stays = stays.assign(lane=_lanes(stays)).sort_values(["starts_at", "lane"])
    names = list(stays["lane"].drop_duplicates())
    waits = _waits(timeline, stays)
    looks = [look for look in LOOKS if look in {*stays["look"], *waits["state"]}]
    legend = [
        Patch(facecolor=LOOKS[look][0], hatch=LOOKS[look][1], edgecolor=PALE_INK, linewidth=0.3, label=look)
        for look in looks
    ]
    has_lines = any(len(holders) for holders in waits["holders"])
    legend += [Line2D([], [], color=INK, marker="o", markersize=4, linewidth=0.8, label=WAITS)] * has_lines
    what = "members" if looks == [MEMBER] else "members on their way to their targets"
    figure, (panel,) = framed(timeline, what, count(len(names), "member"), [height_of_lanes(len(names))], legend)
    _draw_bars(panel, stays, names, "look")
    _draw_bars(panel, waits, names, "state")
    _draw_lines(panel, waits, names)
    set_lanes(panel, names, if_none="no member is known")
    return figure


def _lanes(sessions: pd.DataFrame) -> pd.Series:
    """What each stay's member is called: as an owner is, with the end of its id where others of that name are there."""
    named, ends = owners(sessions), sessions["ends_at"]
    order = pd.DataFrame({"name": named, "begin": sessions["starts_at"], "end": ends}).sort_values("begin")
    until = order.groupby("name")["end"].cummax()
    before = until.groupby(order["name"]).shift()
    at_once = set(order.loc[order["begin"] < before, "name"])
    return named.where(~named.isin(at_once), named + " …" + sessions["member_id"].str[-4:])


def _waits(timeline: GroupTimeline, stays: pd.DataFrame) -> pd.DataFrame:
    """What members were about: lane, state, starts_at, ends_at, holders (lanes of those that it waited for)."""
    lanes = {(row.life, row.member_id): row.lane for row in stays.itertuples()}
    rows = timeline.reconciliations
    rows = rows.assign(
        lane=[lanes.get(of) for of in zip(rows["life"], rows["member_id"], strict=True)],
        holders=[_holders(lanes, row.life, row.waits_for_member_ids) for row in rows.itertuples()],
        starts_at=rows["from_at"].fillna(timeline.since),
        ends_at=rows["to_at"].fillna(timeline.until),
    )
    return rows[rows["lane"].notna()]


def _holders(lanes: dict[tuple[int, str], str], life: int, waited_for: object) -> list[str]:
    ids = [] if waited_for is None or isinstance(waited_for, float) else list(waited_for)  # type: ignore[call-overload]
    return [lanes[life, name] for name in ids if (life, name) in lanes]


def _draw_bars(panel: Axes, rows: pd.DataFrame, names: list[str], by: str) -> None:
    is_stay = by == "look"
    for (look, lane), of_lane in rows.groupby([by, "lane"]):
        colour, hatch = LOOKS[str(look)]
        panel.broken_barh(
            extents(of_lane["starts_at"], of_lane["ends_at"]),
            (names.index(str(lane)) - (0.3 if is_stay else 0.4), 0.6 if is_stay else 0.8),
            facecolor=colour,
            hatch=hatch,
            # The outline keeps a state of a millisecond visible as a hairline.
            edgecolor=PALE_INK if hatch else colour,
            linewidth=0.5,
            label=str(look),
            zorder=2 if is_stay else 3,
        )


def _draw_lines(panel: Axes, waits: pd.DataFrame, names: list[str]) -> None:
    """Draw a line from who waits to each one that it waits for, with a dot at that end, when the wait began."""
    lines = [
        (mdates.date2num(row.starts_at), names.index(row.lane), names.index(holder))
        for row in waits.itertuples()
        for holder in row.holders
    ]
    if lines:
        at, waiters, holders = zip(*lines, strict=True)
        panel.vlines(at, waiters, holders, color=INK, linewidth=0.8, zorder=4, label=WAITS)
        panel.plot(at, holders, linestyle="", marker="o", markersize=4, color=INK, zorder=5, label=WAITS)
