"""What Kafka 4.2's own coordinator answered to each request in each state, as plain values.

The two texts in `tests/data/oracle` were printed by a driver around `GroupMetadataManager` of the Java coordinator:
a group was brought into a state, one request was put to it, and the answer and the state afterwards were printed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ORACLE = Path(__file__).resolve().parents[1] / "data" / "oracle"

_SITUATION = re.compile(r"(\w+)#(\d+) n=(\d+)")
_FIELD = re.compile(r"(\w+)=('[^']*'|\w+)")


@dataclass(frozen=True)
class Situation:
    """State, generation and number of members of a group."""

    state: str
    generation: int
    member_count: int


@dataclass(frozen=True)
class Answer:
    """An answer.

    Attributes:
        error: name of the error, the first that is not NONE; "PARKED" where the answer is held back.
        generation: generation told in a successful JoinGroup, else None.
        members_told: members told in a successful JoinGroup, else None.
        is_leader: the joiner is told that it leads; None where nothing is said of it.
        skips_assignment: the leader is told not to assign (JoinGroup v9).
        has_assignment: a SyncGroup's answer carries an assignment; None where there is none to carry.
        writes_record: a GroupMetadata record was written.
    """

    error: str
    generation: int | None = None
    members_told: int | None = None
    is_leader: bool | None = None
    skips_assignment: bool | None = None
    has_assignment: bool | None = None
    writes_record: bool = False


@dataclass(frozen=True)
class Case:
    """One probe in one state; `answer` is None where the driver itself failed (it had no member to speak for)."""

    probe: str
    fixture: str
    before: Situation
    answer: Answer | None
    after: Situation

    @property
    def name(self) -> str:
        """Probe and state, as a test is called."""
        return f"{self.probe} | {self.fixture}"


def _situation(text: str) -> Situation:
    match = _SITUATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"no situation: {text!r}")
    return Situation(match[1], int(match[2]), int(match[3]))


def _answer(text: str) -> Answer | None:
    if "java.lang." in text:
        return None
    writes_record = " rec[GM{" in text
    head = text.split(" rec[")[0].removeprefix("EX ").strip()
    names, _, detail = head.partition("(")
    error = next((name for name in names.split("/") if name not in ("NONE", "OK")), "NONE")
    told = {name: value.strip("'") for name, value in _FIELD.findall(detail)}
    return Answer(
        error=error,
        generation=int(told["gen"]) if "gen" in told else None,
        members_told=int(told["members"]) if "members" in told else None,
        is_leader=told["leaderIsMe"] == "true" if "leaderIsMe" in told else None,
        skips_assignment=told["skip"] == "true" if "skip" in told else None,
        has_assignment=told["len"] != "0" if "len" in told else None,
        writes_record=writes_record,
    )


def _cases(text: str) -> list[Case]:
    cases: list[Case] = []
    probe: str | None = None
    for line in text.splitlines():
        if line.startswith("== "):
            probe = line[3:]
        elif probe is not None and line.startswith("  ") and " => " in line:
            asked, _, after = line.strip().rpartition(" => ")
            situation, _, answer = asked.partition(" -> ")
            fixture, _, before = situation.partition(" ")
            cases.append(Case(probe, fixture, _situation(before), _answer(answer), _situation(after)))
        else:
            probe = None
    return cases


@cache
def cases() -> tuple[Case, ...]:
    """Every probe in every state, in the order of the texts."""
    names = ("state_x_request_4.2.0.txt", "scenarios_4.2.0.txt")
    return tuple(case for name in names for case in _cases((ORACLE / name).read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Scenario:
    """A run of several steps: what the coordinator logged and what the driver printed, in their order."""

    title: str
    logged: tuple[str, ...]
    printed: tuple[str, ...]


@cache
def scenarios() -> dict[str, Scenario]:
    """The runs, by their number (`S1`)."""
    found: dict[str, tuple[str, list[str], list[str]]] = {}
    number = ""
    for line in (ORACLE / "scenarios_4.2.0.txt").read_text(encoding="utf-8").splitlines():
        printed = line.strip().removeprefix(">>> ")
        is_printed = line.strip().startswith(">>>")
        if is_printed and (match := re.match(r"(S\d+b?) (.*)", printed)):
            number = match[1]
            found[number] = (match[2], [], [])
        elif is_printed:
            found[number][2].append(printed)
        elif number and line.startswith(("INFO ", "WARN ")):
            found[number][1].append(line.partition(" - ")[2])
    return {name: Scenario(title, tuple(logged), tuple(told)) for name, (title, logged, told) in found.items()}
