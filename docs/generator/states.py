"""State diagrams: of classic groups from the state machine's table, of modern ones from what Kafka itself did."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from docs.generator.markdown import code, codes, page, table
from transforms.coordinator.classic.machine.diagram import mermaid
from transforms.coordinator.classic.machine.transitions import TRANSITIONS
from transforms.coordinator.kafka.states import GroupState

_ORACLE = Path(__file__).resolve().parents[2] / "tests" / "data" / "oracle"
_HISTORIES = ("histories_modern_4.2.0.jsonl.gz", "histories_share_streams_4.2.0.jsonl.gz")
_MODERN = ("consumer", "share", "streams")
_ABSENT = "[*]"

Change = tuple[str, str]


def states() -> str:
    """Return the page."""
    seen = _observed()
    return page(
        "States of a group",
        "`transforms/coordinator/classic/machine/transitions.py` and `tests/data/oracle`",
        "## Classic groups\nEach arrow has the events that cause it.",
        f"```mermaid\n{mermaid()}\n```",
        "What a group does with each event. Behind a state stands the answer to the request, if the event is one and "
        "is answered at once; a request without an answer here is parked until the group moves on. An empty cell is an "
        "event that cannot happen in that state.",
        _cells(),
        "## Consumer, share and streams groups\nTheir states are stored nowhere: they follow from the epochs of group "
        "and members (see the [glossary](../GLOSSARY.md#states-of-a-modern-group)). So these diagrams are drawn from "
        f"no table but from what the coordinator of Kafka 4.2 did in {sum(_steps(seen).values()):,} steps of random "
        "histories, which our machines foresee one by one (`tests/oracle_modern`): an arrow is a change that was seen, "
        "with what brought it about.",
        *(_modern(name, seen[name]) for name in _MODERN),
    )


def _cells() -> str:
    events = list(dict.fromkeys(event for _, event in TRANSITIONS))
    rows = []
    for event in events:
        row = [code(event.value)]
        for state in GroupState:
            cell = TRANSITIONS.get((state, event))
            if cell is None:
                row.append("")
                continue
            after = f"→ {cell.next_state.value}" if cell.next_state else "stays"
            row.append(after + (f", {cell.answer.name}" if cell.answer is not None else ""))
        rows.append(row)
    return table(("event", *(state.value for state in GroupState)), rows)


def _modern(name: str, seen: dict[Change, Counter[str]]) -> str:
    steps = sum(sum(causes.values()) for causes in seen.values())
    changes = {pair: causes for pair, causes in seen.items() if pair[0] != pair[1]}
    lines = ["stateDiagram-v2"]
    for (before, after), causes in sorted(changes.items(), key=_order):
        lines.append(f"    {before} --> {after}: {', '.join(sorted(causes))}")
    rows = (
        (before, after, f"{sum(causes.values()):,}", codes(sorted(causes)))
        for (before, after), causes in sorted(changes.items(), key=_order)
    )
    diagram = "\n".join(lines)
    return f"### {name.capitalize()} groups\n{steps:,} steps.\n\n```mermaid\n{diagram}\n```\n\n" + table(
        ("from", "to", "times seen", "by"), rows
    )


def _order(item: tuple[Change, Counter[str]]) -> tuple[int, int]:
    order = [_ABSENT, "Empty", "NotReady", "Assigning", "Reconciling", "Stable"]
    return order.index(item[0][0]), order.index(item[0][1])


def _observed() -> dict[str, dict[Change, Counter[str]]]:
    """Return what brought about each change of state, and how often, by type of group."""
    seen: dict[str, dict[Change, Counter[str]]] = {name: {} for name in _MODERN}
    for file in _HISTORIES:
        for _, steps in groupby(_lines(_ORACLE / file), itemgetter("history")):
            group: dict[str, Any] = {"type": "absent"}
            for step in steps:
                before, group = group, group if step["group"] == "same" else step["group"]
                kinds = {before["type"], group["type"]} & set(_MODERN)
                if len(kinds) == 1 and {before["type"], group["type"]} <= kinds | {"absent"}:
                    pair = (_state(before), _state(group))
                    seen[kinds.pop()].setdefault(pair, Counter())[_cause(step)] += 1
    return seen


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _state(group: dict[str, Any]) -> str:
    return _ABSENT if group["type"] == "absent" else str(group["state"])


def _cause(step: dict[str, Any]) -> str:
    op = step["op"]
    if "api" in op:
        return "".join(word.capitalize() for word in str(op["api"]).split("_"))
    return f"topics {op['what']}" if "what" in op else str(op["kind"])


def _steps(seen: dict[str, dict[Change, Counter[str]]]) -> Counter[str]:
    return Counter({name: sum(sum(causes.values()) for causes in pairs.values()) for name, pairs in seen.items()})
