"""Small frames for drawings, and what a figure's own artists say was drawn."""

from __future__ import annotations

from typing import Any

import matplotlib.dates as mdates
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from notebooks.timeline import FRAMES, GroupTimeline

START = pd.Timestamp("2026-11-20 10:58:11.500")


def at(seconds: float | None) -> pd.Timestamp:
    """A moment, in seconds after the start."""
    return pd.NaT if seconds is None else START + pd.Timedelta(seconds=seconds)


def frame(columns: tuple[str, ...], rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows as Spark hands them over: every column is there, times are times even where all are null."""
    table = pd.DataFrame(rows, columns=list(columns))
    for name in columns:
        if name.endswith("_at") or name in ("at", "valid_from", "valid_to"):
            table[name] = pd.to_datetime(table[name])
    return table


def timeline(until: float = 100, **tables: list[dict[str, Any]]) -> GroupTimeline:
    return GroupTimeline(
        cluster="demo",
        group_id="shop",
        **{name: frame(spec.columns, tables.get(name, [])) for name, spec in FRAMES.items()},
        until=at(until),
    )


def generation(number: int, begin: float | None, **more: Any) -> dict[str, Any]:
    return {"life": 1, "generation": number, "preparing_at": at(begin), "trigger": "member_joined", **more}


def transition(seq: int, seconds: float, state: str, life: int = 1) -> dict[str, Any]:
    return {"life": life, "seq": seq, "at": at(seconds), "to_state": state}


def assignment(partition: int, client: str, begin: float, end: float | None, **more: Any) -> dict[str, Any]:
    return {
        "topic": "orders",
        "partition": partition,
        "member_id": f"{client}-1",
        "client_id": client,
        "client_host": "/10.0.0.1",
        "valid_from": at(begin),
        "valid_to": at(end),
        **more,
    }


def bars(panel: Axes, label: str) -> list[tuple[float, float, float, float]]:
    """The bars of a label: from and to in seconds after the start, lower and upper edge."""
    found = []
    for collection in panel.collections:
        if collection.get_label() == label:
            for path in collection.get_paths():
                box = path.get_extents()
                edges = ((mdates.num2date(x).replace(tzinfo=None) - START).total_seconds() for x in (box.x0, box.x1))
                found.append((*(round(edge, 3) for edge in edges), round(box.y0, 3), round(box.y1, 3)))
    return sorted(found)


def spans(panel: Axes, label: str) -> list[tuple[float, float]]:
    return [bar[:2] for bar in bars(panel, label)]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for panel in figure.axes for text in panel.texts]
