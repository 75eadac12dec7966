"""Runs all pairs on a real broker with Kafka's own clients, and keeps what the unchanged groups left behind.

    python -m tests.pairs.record 4.2.0 FOLDER [SEED]

A minute or two for the groups, as long again for those pairs whose change is the broker's. Written to FOLDER: the logs
and records of the groups as they were, and `observed.json`: what was asked, and what really happened in both.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.pairs.plans import END_S, Pair, PlannedLife, Rules, pairs
from tests.support.evidence_of import evidence_of
from tests.support.kafka_broker import Brokers
from tests.support.kafka_capture import write_capture
from tests.support.kafka_driver import create_topic
from transforms.whatif.figures import Figures, Window, observed

MEMBERS = Path(__file__).with_name("GroupMembers.java")
JVM = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
SEED = 20_261_121
TOPIC, PARTITIONS = "orders", 7
DELAY_MS = 1_000
START_UP_S = 25.0
"""Until all Java processes have read their plans and made their first consumers."""

AFTER_S = 14.0
"""The longest session of the unchanged groups, so that the last deaths are noticed too."""

CHANGED = "-changed"


@dataclass(frozen=True)
class Run:
    """One broker's run: what it left behind, when the plan began, and where the broker lived."""

    folder: Path
    zero_ms: float
    home: str


def record(version: str, folder: Path, seed: int = SEED) -> None:
    """Run all pairs on one release of Kafka."""
    drawn = pairs(seed)
    of_broker = [pair for pair in drawn if pair.after.initial_delay_ms is not None]
    with tempfile.TemporaryDirectory() as scratch:
        groups = [(pair.name, pair, pair.before) for pair in drawn]
        groups += [(pair.name + CHANGED, pair, pair.after) for pair in drawn if pair not in of_broker]
        first = _run(version, Path(scratch) / "first", groups, DELAY_MS)
        told = {name: _figures(first, name) for name, _, _ in groups}
        for pair in of_broker:
            changed = pair.name + CHANGED
            delay_ms = pair.after.initial_delay_ms or 0
            other = _run(version, Path(scratch) / pair.name, [(changed, pair, pair.after)], delay_ms)
            told[changed] = _figures(other, changed)
        _keep(first, [pair.name for pair in drawn], folder)
    summary = {
        "kafka": version,
        "clients": "Java",
        "seed": seed,
        "begins_at": first.zero_ms,
        "ends_at": first.zero_ms + END_S * 1000,
        "pairs": {
            pair.name: {
                "asked": pair.asked,
                "before": asdict(told[pair.name]),
                "after": asdict(told[pair.name + CHANGED]),
            }
            for pair in drawn
        },
    }
    (folder / "observed.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


def _run(version: str, folder: Path, groups: list[tuple[str, Pair, Rules]], delay_ms: int) -> Run:
    settings = {"group.initial.rebalance.delay.ms": str(delay_ms), "offsets.topic.num.partitions": "50"}
    with Brokers(version, settings=settings) as brokers:
        asyncio.run(create_topic(brokers.bootstrap_servers, TOPIC, PARTITIONS))
        zero_ms = (time.time() + START_UP_S) * 1000
        with _members(brokers, groups, zero_ms) as processes:
            for at, what, client in sorted(_signals(groups)):
                time.sleep(max(0.0, zero_ms / 1000 + at - time.time()))
                processes[client].send_signal(what)
            for process in processes.values():
                assert process.wait(END_S + AFTER_S + START_UP_S) == 0
        time.sleep(AFTER_S)
        brokers.stop(1)
        write_capture(brokers, folder)
    return Run(folder, zero_ms, str(brokers.log_dir().parents[1]))


@contextmanager
def _members(
    brokers: Brokers, groups: list[tuple[str, Pair, Rules]], zero_ms: float
) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Start the members; those of one name that are to be paused live in a process of their own, by that name."""
    lines: dict[str, list[str]] = {"": []}
    for group, pair, rules in groups:
        for life in pair.plan.lives:
            home = f"{pair.name}/{life.client}" if life.client in pair.plan.pauses else ""
            lines.setdefault(home, []).append(_line(group, pair, rules, life))
    processes: dict[str, subprocess.Popen[str]] = {}
    command = ["java", *JVM, "-cp", brokers.class_path, str(MEMBERS), brokers.bootstrap_servers[0], str(int(zero_ms))]
    try:
        for home, plan in lines.items():
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            processes[home] = process
            assert process.stdin is not None
            process.stdin.write("\n".join(plan) + "\n")
            process.stdin.close()
        yield processes
    finally:
        for process in processes.values():
            process.kill()
            process.wait()


def _line(group: str, pair: Pair, rules: Rules, life: PlannedLife) -> str:
    instance = life.client if rules.is_static else "-"
    times = [rules.session_ms, pair.heartbeat_ms, rules.poll_ms]
    stalls = ",".join(f"{begin * 1000:.0f}:{end * 1000:.0f}" for begin, end in life.stalls)
    how = "crash" if life.is_crash else "leave"
    span = [f"{life.begin * 1000:.0f}", f"{life.end * 1000:.0f}"]
    return "\t".join([life.client, group, TOPIC, instance, *map(str, times), rules.strategy, *span, how, stalls])


def _signals(groups: Iterable[tuple[str, Pair, Rules]]) -> set[tuple[float, signal.Signals, str]]:
    found = set()
    for _, pair, _ in groups:
        for client, pauses in pair.plan.pauses.items():
            for begin, end in pauses:
                found.add((begin, signal.SIGSTOP, f"{pair.name}/{client}"))
                found.add((end, signal.SIGCONT, f"{pair.name}/{client}"))
    return found


def _figures(run: Run, group: str) -> Figures:
    evidence = evidence_of(run.folder, group)
    return observed(evidence, Window(run.zero_ms, run.zero_ms + END_S * 1000))


def _keep(run: Run, groups: list[str], folder: Path) -> None:
    """Keep of a capture what is not about the changed groups."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(run.folder / "consumer_offsets", folder / "consumer_offsets")
    logs = folder / "broker_logs"
    logs.mkdir()
    with (run.folder / "broker_logs" / "server.log").open(encoding="utf-8") as log:
        kept = [line.replace(run.home, "/kafka") for line in log if CHANGED not in line]
    (logs / "server.log").write_text("".join(kept), encoding="utf-8")
    names = [f'"groupId":"{group}"' for group in groups]
    with (run.folder / "broker_logs" / "kafka-request.log").open(encoding="utf-8") as log:
        asked = [line for line in log if any(name in line for name in names)]
    (logs / "kafka-request.log").write_text("".join(asked), encoding="utf-8")


def main(arguments: list[str]) -> Any:
    """Record, as a program."""
    os.umask(0o022)
    record(arguments[0], Path(arguments[1]), *map(int, arguments[2:]))


if __name__ == "__main__":
    main(sys.argv[1:])
