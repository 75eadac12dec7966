"""The golden cases of the replay: a folder each, with a history, what must come of it, and why.

    input.txt    the history of one group, as `tests.support.drawn_history` reads it
    expect.txt   gold tables, as `tests.support.drawn_table` reads them, with the columns that the case is about
    why.md       what happens, what must come out, and which rule says so

Moments count from the beginning of the history. A drawn table is expected whole, in the order of its key. A case that
does not draw `replay_audit` expects that each request, if there are any, is answered by the replayed group as it was by
the broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from schemas.catalog import BY_NAME
from schemas.columns import COLUMNS
from schemas.types import TIMESTAMP
from tests.support.drawn_history import CLUSTER, GROUP_ID, ORIGIN_MS, PARTITION_COUNT, History
from tests.support.drawn_history import read as read_history
from tests.support.drawn_table import Drawing, draw
from tests.support.drawn_table import read as read_tables
from transforms.coordinator.replay import replay_group

Row = Mapping[str, Any]

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "replay"


@dataclass(frozen=True)
class Case:
    """One golden case."""

    name: str
    history: History
    expected: Drawing
    why: str

    def compare(self, found: Mapping[str, Iterable[Row]]) -> None:
        """Assert that the tables found hold what is drawn."""
        shown = {table: _drawn(table, found.get(table, ()), names) for table, names in self.expected.columns.items()}
        wanted = {table: draw(rows, self.expected.columns[table]) for table, rows in self.expected.tables.items()}
        assert shown == wanted, "\n\n".join(
            f"{table}\n{shown[table]}\nexpected:\n{wanted[table]}" for table in wanted if shown[table] != wanted[table]
        )
        if "replay_audit" not in wanted:
            names = ("at", "api", "member_id", "state_before", "observed_error", "predicted_error", "agrees", "why")
            others = [row for row in found.get("replay_audit", ()) if row["agrees"] is not True]
            assert not others, f"not answered as by the broker:\n{_drawn('replay_audit', others, names)}"

    def replayed(self, is_reversed: bool = False) -> dict[str, list[dict[str, Any]]]:
        """Replay the history without Spark; its rows also in reversed order, which must not matter."""
        order = slice(None, None, -1 if is_reversed else 1)
        return replay_group(
            CLUSTER,
            GROUP_ID,
            self.history.records[order],
            self.history.events[order],
            self.history.requests[order],
            PARTITION_COUNT,
        )


def _drawn(table: str, rows: Iterable[Row], names: Iterable[str]) -> str:
    """Draw rows in the order of their key, moments counted from the beginning of the history."""
    key = BY_NAME[table].key
    ordered = sorted(rows, key=lambda row: tuple((row[name] is not None, row[name]) for name in key))
    return draw(({name: _counted(name, row[name]) for name in names} for row in ordered), names)


def _counted(name: str, value: Any) -> Any:
    is_moment = COLUMNS[name].data_type == TIMESTAMP and value is not None
    return float(value - ORIGIN_MS) if is_moment else value


KNOWN_WRONG: dict[str, str] = {}
"""Cases whose expectation is right and not met yet: what the replay does instead."""


def judged() -> list[Any]:
    """All cases as parameters of a test; those that are known to be wrong must fail until they are right."""
    return [
        pytest.param(
            case,
            id=case.name,
            marks=[pytest.mark.xfail(reason=KNOWN_WRONG[case.name], strict=True)] if case.name in KNOWN_WRONG else [],
        )
        for case in cases()
    ]


@cache
def cases() -> list[Case]:
    """All cases, by name."""
    folders = sorted(folder for folder in FOLDER.iterdir() if folder.is_dir())
    return [
        Case(
            folder.name,
            read_history(folder / "input.txt"),
            read_tables(folder / "expect.txt"),
            (folder / "why.md").read_text(encoding="utf-8"),
        )
        for folder in folders
    ]
