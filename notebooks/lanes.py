"""Lanes of the drawings: what an owner is called and looks like, and bars that lie beside each other in one lane."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

OWNER_COLOURS = ("#77AADD", "#EE8866", "#EEDD88", "#44BB99", "#99DDFF", "#BBCC33", "#DDDDDD", "#AAAA00")
"""Paul Tol's light set, fit for colour-blind eyes."""

OWNER_HATCHES = ("", "////", "....", "xxxx", "oo")


def owners(rows: pd.DataFrame) -> pd.Series:
    """The name of each row's member: group.instance.id, else client.id, with the host where that is ambiguous."""
    client = rows["client_id"].fillna(rows["member_id"])
    hosts = rows.groupby(client)["client_host"].transform("nunique")
    named = client.where(hosts <= 1, client + " " + rows["client_host"].fillna(""))
    return rows["group_instance_id"].fillna(named)


def owner_styles(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A colour and a hatch for each owner, in the order given."""
    return {
        name: (
            OWNER_COLOURS[place % len(OWNER_COLOURS)],
            OWNER_HATCHES[place // len(OWNER_COLOURS) % len(OWNER_HATCHES)],
        )
        for place, name in enumerate(names)
    }


def beside_each_other(rows: pd.DataFrame, lane: str, names: Sequence[str]) -> pd.DataFrame:
    """Add the place of each row's bar.

    Args:
        rows: those of bars, in the order in which they take their places, with starts_at and ends_at.
        lane: column with the name of the lane.
        names: the lanes from top to bottom.

    Returns:
        The rows with y (upper edge) and height. Bars of a lane that overlap in time lie in lines of their own, which
        divide the height of the lane.
    """
    bars = rows.assign(y=0.0, height=0.0)
    for name, of_lane in bars.groupby(lane):
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
