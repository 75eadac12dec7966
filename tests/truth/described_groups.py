"""What a broker described of groups of epochs, and the same out of the tables of the replay at a moment."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import NamedTuple

from tests.support.pure_pipeline import Row, Tables

STATES = {
    "EMPTY": "Empty",
    "ASSIGNING": "Assigning",
    "RECONCILING": "Reconciling",
    "STABLE": "Stable",
    "NOT_READY": "NotReady",
}
_TYPES = ("CONSUMER", "SHARE", "STREAMS")
SLACK_MS = 300
"""A record's time is that of the append, a describe's those of the client that asked."""

Held = frozenset[tuple[str, str, int, str | None]]
"""Member, topic, partition and role of all that is held."""


class Standing(NamedTuple):
    """A group at a moment."""

    state: str
    epoch: int
    assignment_epoch: int
    members: frozenset[str]
    held: Held


_CATCHING_UP_S = 12
"""For so long after a broker has gone a log may wait for it; its groups are described as they were before."""

_LOSSES = ("_broker_stopped", "_broker_killed")

_SHORT_LIVED = "tx"
"""Begin of the names of topics that chaotic clients delete; a describe names no partitions of one that is gone."""


def described(folder: Path) -> Iterator[Row]:
    """Yield what was described of groups whose log waited for nobody."""
    lost_at = -inf
    with (folder / "truth.jsonl").open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["api"] in _LOSSES:
                lost_at = line["t0"]
            is_told = line["api"] == "_describe" and not line["error"] and line["gtype"] in _TYPES
            if is_told and line["t0"] > lost_at + _CATCHING_UP_S:
                yield line


def standing_told(line: Row) -> Standing:
    """What the broker told."""
    told = ((name, *part) for name, member in line["members"].items() for part in parts_told(member))
    held = {part for part in told if not part[1].startswith(_SHORT_LIVED)}
    return Standing(
        STATES[line["state"]], line["epoch"], line["assignment_epoch"], frozenset(line["members"]), frozenset(held)
    )


def parts_told(member: Row) -> Iterator[tuple[str, int, str | None]]:
    for part in member.get("parts") or ():
        topic, _, number = part.rpartition("-")
        yield topic, int(number), None
    for role, of in (member.get("tasks") or {}).items():
        for topic, numbers in of.items():
            yield from ((topic, number, role) for number in numbers)


def topics_of(folder: Path) -> dict[str, str]:
    """Names of topics by their ids, as the clients learnt them: no record need tell the name of every topic."""
    with (folder / "truth.jsonl").open(encoding="utf-8") as lines:
        return {line["topic_id"]: line["topic"] for line in map(json.loads, lines) if line["api"] == "_topic"}


class Timeline:
    """One group's rows of one type, asked for a moment; rows of the tables and nothing else."""

    def __init__(self, rows: dict[str, list[Row]], topics: dict[str, str]) -> None:
        self._rows, self._topics = rows, topics
        moments = {row[name] for row in rows["generations"] for name in ("preparing_at", "completing_at", "ended_at")}
        moments |= {row["at"] for row in rows["transitions"]}
        moments |= {row[name] for row in rows["assignments"] for name in ("valid_from", "valid_to")}
        moments |= {row[name] for row in rows["member_sessions"] for name in ("joined_at", "ended_at")}
        self.moments: list[float] = sorted(moments - {None})

    def stands_still(self, since: float, until: float) -> bool:
        return bisect_left(self.moments, since) == bisect_right(self.moments, until)

    def life_at(self, moment: float) -> int:
        return next(row["life"] for row in reversed(self._rows["transitions"]) if row["at"] <= moment)

    def at(self, moment: float) -> Standing | None:
        transitions = [row for row in self._rows["transitions"] if row["at"] <= moment]
        if not transitions or transitions[-1]["to_state"] == "Dead":
            return None
        last = transitions[-1]
        epochs = [
            row
            for row in self._rows["generations"]
            if row["life"] == last["life"] and _is_by(row["preparing_at"], moment)
        ]
        planned = [row["generation"] for row in epochs if _is_by(row["completing_at"], moment)]
        held = {
            (row["member_id"], self._topics.get(row["topic"], row["topic"]), row["partition"], row["role"])
            for row in self._rows["assignments"]
            if row["hold"] == "owned" and _covers(row["valid_from"], row["valid_to"], moment)
        }
        held = {part for part in held if not part[1].startswith(_SHORT_LIVED)}
        members = {
            row["member_id"]
            for row in self._rows["member_sessions"]
            if row["life"] == last["life"] and _covers(row["joined_at"], row["ended_at"], moment)
        }
        epoch = max((row["generation"] for row in epochs), default=0)
        return Standing(last["to_state"], epoch, max(planned, default=0), frozenset(members), frozenset(held))


def _is_by(at: float | None, moment: float) -> bool:
    return at is not None and at <= moment


def _covers(since: float, until: float | None, moment: float) -> bool:
    return since <= moment and (until is None or moment < until)


def timelines(tables: Tables, topics: dict[str, str]) -> dict[tuple[str, str], Timeline]:
    """By group and type."""
    names = ("generations", "transitions", "assignments", "member_sessions")
    found: dict[tuple[str, str], dict[str, list[Row]]] = defaultdict(lambda: {name: [] for name in names})
    for name in names:
        for row in tables[name]:
            found[row["group_id"], row["group_type"].upper()][name].append(row)
    for rows in found.values():
        rows["transitions"].sort(key=lambda row: (row["life"], row["seq"]))
    return {key: Timeline(rows, topics) for key, rows in found.items()}
