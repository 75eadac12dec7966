"""The golden cases of the what-if: a folder each, with a history, a question, the answer, and why.

input.txt    the history of one group, as `tests.support.drawn_history` reads it
ask.txt      the change, as the job's command line has it
expect.json  what the answer must hold; of the price the keys that are drawn
why.md       what happens, what must come out, and which rule says so
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.drawn_history import CLUSTER, GROUP_ID, PARTITION_COUNT, History
from tests.support.drawn_history import read as read_history
from transforms.coordinator.replay import replay_group
from transforms.whatif.change import Change, change_of
from transforms.whatif.evidence import Evidence, evidence
from transforms.whatif.outcome import answer

FOLDER = Path(__file__).resolve().parents[2] / "golden" / "what_if"


@dataclass(frozen=True)
class Case:
    """One golden case."""

    name: str
    history: History
    change: Change
    expected: dict[str, Any]
    why: str

    @property
    def evidence(self) -> Evidence:
        """The history, replayed."""
        history = self.history
        gold = replay_group(CLUSTER, GROUP_ID, history.records, history.events, history.requests, PARTITION_COUNT)
        tables = (gold[name] for name in ("generations", "generation_members", "assignments", "member_sessions"))
        return evidence(*tables, requests=history.requests, events=history.events)

    def answer(self) -> dict[str, Any]:
        """What is predicted, cut down to what the case draws."""
        return _cut(answer(self.evidence, self.change), self.expected)


def _cut(found: Any, drawn: Any) -> Any:
    if isinstance(drawn, dict):
        return {name: _cut(found[name], value) for name, value in drawn.items()}
    if isinstance(drawn, list) and len(found) == len(drawn):
        return [_cut(each, value) for each, value in zip(found, drawn, strict=True)]
    return found


@cache
def cases() -> list[Case]:
    """All cases, by name."""
    found = []
    for folder in sorted(each for each in FOLDER.iterdir() if each.is_dir()):
        asked = shlex.split((folder / "ask.txt").read_text(encoding="utf-8"))
        settings = [each for each in asked if not each.startswith("--")]
        found.append(
            Case(
                folder.name,
                read_history(folder / "input.txt"),
                change_of(settings, "--static" in asked),
                json.loads((folder / "expect.json").read_text(encoding="utf-8")),
                (folder / "why.md").read_text(encoding="utf-8"),
            )
        )
    return found
