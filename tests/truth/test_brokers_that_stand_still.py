"""Three brokers of Kafka 3.8, of which one is killed, shut down or stopped with SIGSTOP, one after the other.

A broker that stood still for longer than its session comes back as the coordinator that it was, until it hears that
another was elected. What it does until then is nobody's but its own; what it had answered by then, clients believe.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.captures import FROZEN
from tests.support.pure_pipeline import Tables, run_pipeline
from tests.truth.broker_lines import broker_lines
from tests.truth.checks_broker import phases_reached, rebalances_started, triggers_named
from tests.truth.checks_contract import keys_are_unique, values_are_allowed
from tests.truth.checks_invariants import (
    assignments_exclusive,
    members_counted,
    outcomes_hold,
    phases_in_order,
    sessions_hold,
    transitions_hold,
)
from transforms.coordinator.timeline.audit import WHY_OTHER_COPY

SECOND = 1_000
HEARS_WITHIN_MS = SECOND
"""By then a broker that goes on has heard of the election."""

NOTED_WITHIN_MS = 10
"""The driver notes that a broker goes on when it does already."""

_STAMP = re.compile(r"\[\d{4}-\d\d-\d\d (\d\d):(\d\d):(\d\d),(\d{3})\] ")
_PREPARING = re.compile(r"Preparing to rebalance group .*\(__consumer_offsets-(\d+)\)")
_OF_GROUP = re.compile(
    r"(?:Stabilized group \S+ generation \d+|Group \S+ with generation \d+) .*\(__consumer_offsets-(\d+)\)"
)
_LOADED = re.compile(r"Finished loading offsets and group metadata from __consumer_offsets-(\d+) ")


@pytest.fixture(scope="module")
def folder(capture_dir: Callable[[str], Path]) -> Path:
    return capture_dir(FROZEN)


@pytest.fixture(scope="module")
def tables(folder: Path) -> Tables:
    return run_pipeline(folder)


def _frozen(folder: Path) -> Iterator[tuple[str, float, float]]:
    """The brokers that were stopped with SIGSTOP, with when that was, and when they went on (ms of the day)."""
    since = 0.0
    for line in map(json.loads, (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()):
        if line["api"].startswith("_broker") and line["how"] == "freeze":
            at = line["t0"] * SECOND % (86_400 * SECOND)
            if line["api"] == "_broker":
                since = at
            else:
                yield str(line["node"]), since, at - NOTED_WITHIN_MS


def _moment(line: str) -> float | None:
    match = _STAMP.match(line)
    if match is None:
        return None
    hours, minutes, seconds, ms = map(int, match.groups())
    return float(((hours * 60 + minutes) * 60 + seconds) * SECOND + ms)


def _of_coordinators(folder: Path, into: Path) -> int:
    """Copy the brokers' logs without what one says of groups that were another's by then; return how much that was."""
    logs = {path.parent.name: path.read_text(encoding="utf-8") for path in folder.rglob("server.log")}
    left_out = 0
    loads = [
        (broker, match[1], at)
        for broker, text in logs.items()
        for line in text.splitlines()
        if (match := _LOADED.search(line)) and (at := _moment(line)) is not None
    ]
    for broker, text in logs.items():
        spans = [(since, went_on) for frozen, since, went_on in _frozen(folder) if frozen == broker]
        kept = []
        for line in text.splitlines(keepends=True):
            at, match = _moment(line), _PREPARING.search(line) or _OF_GROUP.search(line)
            is_of_another = match is not None and any(
                went_on <= (at or 0.0) <= went_on + HEARS_WITHIN_MS
                and any(
                    other != broker and of == match[1] and since <= when <= (at or 0.0) for other, of, when in loads
                )
                for since, went_on in spans
            )
            left_out += is_of_another
            if not is_of_another:
                kept.append(line)
        (into / "broker_logs" / broker).mkdir(parents=True)
        (into / "broker_logs" / broker / "server.log").write_text("".join(kept), encoding="utf-8")
    return left_out


def test_every_rebalance_is_one_of_the_group_s_coordinator(folder: Path, tables: Tables, tmp_path: Path):
    assert _of_coordinators(folder, tmp_path) >= 10
    truth: Any = SimpleNamespace(folder=tmp_path, name="failover-3.9.1")
    assert len(broker_lines(tmp_path).prepared) > 150
    for check in (rebalances_started, phases_reached, triggers_named):
        found = check(truth, tables)
        assert not found, f"{check.__name__}: {len(found)} of {found.compared}\n" + "\n".join(found[:20])


CHECKS = (
    phases_in_order,
    outcomes_hold,
    members_counted,
    assignments_exclusive,
    sessions_hold,
    transitions_hold,
    keys_are_unique,
    values_are_allowed,
)


@pytest.mark.parametrize("check", CHECKS)
def test_the_timeline_is_one(folder: Path, tables: Tables, check: Callable[[Any, Tables], Any]):
    found = check(SimpleNamespace(folder=folder, name=FROZEN), tables)
    assert not found, "\n".join(found[:20])
    assert found.compared > 50


def test_every_answer_but_those_of_the_broker_that_stood_still_is_foreseen(folder: Path, tables: Tables):
    agreed = Counter(row["agrees"] for row in tables["replay_audit"])
    assert agreed[True] > 2_000
    assert agreed[False] == 0
    copies = [row for row in tables["replay_audit"] if row["why"] == WHY_OTHER_COPY and row["agrees"] is None]
    assert len(copies) > 20
    assert agreed[None] - len(copies) <= 0.005 * agreed.total()
    went_on = [(node, at) for node, _, at in _frozen(folder)]
    for row in copies:
        at = row["at"] % (86_400 * SECOND)
        assert any(row["broker"] == node and moment <= at <= moment + HEARS_WITHIN_MS for node, moment in went_on), row
