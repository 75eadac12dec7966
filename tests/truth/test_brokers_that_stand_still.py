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

from tests.support.captures import FAILOVER, FROZEN
from tests.support.pure_pipeline import Tables, run_pipeline
from tests.truth.broker_lines import broker_lines, moment
from tests.truth.checks import OF_CLASSIC_GROUPS, Check
from tests.truth.checks_contract import keys_are_unique, values_are_allowed
from transforms.coordinator.timeline.audit import WHY_OTHER_COPY

SECOND = 1_000
HEARS_WITHIN_MS = SECOND
"""By then a broker that goes on has heard of the election."""

NOTED_WITHIN_MS = 10
"""The driver notes that a broker goes on when it does already."""

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
    """The brokers that were stopped with SIGSTOP, with when that was, and when they went on."""
    since = 0.0
    for line in map(json.loads, (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()):
        if line["api"].startswith("_broker") and line["how"] == "freeze":
            at = line["t0"] * SECOND
            if line["api"] == "_broker":
                since = at
            else:
                yield str(line["node"]), since, at - NOTED_WITHIN_MS


def _of_coordinators(folder: Path, into: Path) -> int:
    """Copy the brokers' logs without what one says of groups that were another's by then; return how much that was."""
    logs = {path.parent.name: path.read_text(encoding="utf-8") for path in folder.rglob("server.log")}
    left_out = 0
    loads = [
        (broker, match[1], at)
        for broker, text in logs.items()
        for line in text.splitlines()
        if (match := _LOADED.search(line)) and (at := moment(line)) is not None
    ]
    for broker, text in logs.items():
        spans = [(since, went_on) for frozen, since, went_on in _frozen(folder) if frozen == broker]
        kept = []
        for line in text.splitlines(keepends=True):
            at, match = moment(line), _PREPARING.search(line) or _OF_GROUP.search(line)
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


@pytest.fixture(scope="module")
def truth(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What coordinators said, without what one said of groups that were another's; dated as a failover is."""
    into = tmp_path_factory.mktemp("coordinators")
    assert _of_coordinators(folder, into) >= 10
    assert len(broker_lines(into).prepared) > 150
    return SimpleNamespace(folder=into, name=FAILOVER[0])


@pytest.mark.parametrize("check", (*OF_CLASSIC_GROUPS, keys_are_unique, values_are_allowed))
def test_the_timeline_is_that_of_the_group_s_coordinators(truth: Any, tables: Tables, check: Check):
    found = check(truth, tables)
    assert not found, f"{len(found)} of {found.compared}\n" + "\n".join(found[:20])
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
        assert any(row["broker"] == node and at <= row["at"] <= at + HEARS_WITHIN_MS for node, at in went_on), row
