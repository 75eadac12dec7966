"""Kills runs at random moments, and compares the tables that the next ones end in with those of undisturbed runs.

    python -m tests.benchmarks.bench_crashes [--kills 50] [--seed 1] [--capture kafka-4.2.0 | --groups 500]

Evidence comes in parts, the logs of a capture or what brokers write of groups that rebalance without a pause, and a run
goes over each, which is killed (SIGKILL) after a time by chance: all of its processes, or the JVM, or one of its Python
processes. What it leaves, the run over the next part finds; after the last part one is let through. Another lake takes
in the same parts undisturbed. Prints how many runs were killed in which step, how those ended that lost a process of
theirs, and every table that differs, with some of its rows.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schemas.catalog import TABLES
from schemas.tables.gold import REPLAY_SNAPSHOTS
from tests.benchmarks.bench_load import sources
from tests.benchmarks.load_workload import STORIES, story, write
from tests.support.captures import capture
from tests.support.lakes import CLUSTER, OF_THE_RUN, arguments, comparable, rows_of
from tests.support.package import ROOT

Given = Callable[[Path], list[str]]
"""Tells the command line of a run into a lake that lies below a folder."""

ALL, JVM, WORKER = "all", "jvm", "worker"
_PROCESSES = {JVM: "java", WORKER: "pyspark.daemon|multiprocessing.spawn"}
"""What the command lines of a run's other processes hold."""

_BY_BATCHES = REPLAY_SNAPSHOTS
"""Where replays are put down is as the batches were; what goes on from there is in all other tables."""

_BUT = OF_THE_RUN | {"finding_id"}
"""A finding's id is that under which it was first seen, and what of it was to be seen then is as the batches were."""

_GENERATIONS = 100
_SOONEST_S, _LONGEST_S = 2.0, 600.0
_SHOWN = 5


@dataclass
class Disturbed:
    """A lake whose runs are killed.

    Attributes:
        root: of the lake.
        said: file into which a run writes.
        draw: when who is killed.
        killed: how many runs, by who was killed in which step.
        ended: how many of those that lost a process ended with which exit code.
    """

    root: Path
    said: Path
    draw: random.Random
    killed: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)

    def run(self, given: Given, longest_s: float) -> None:
        """Start a run, and kill it, or one of its processes; one that loses it ends by itself, or goes on."""
        process, whom = begun(given(self.root), self.said), self.draw.choice((ALL, JVM, WORKER))
        try:
            time.sleep(self.draw.uniform(_SOONEST_S, max(longest_s, _SOONEST_S)))
            step_count = self._told().count("✓")
            is_hit = process.poll() is None and _killed(process, whom, self.draw)
            code = process.wait(_LONGEST_S)
        finally:
            _end(process)
        if is_hit:
            self.killed[f"{whom} after {step_count} steps"] += 1
        if is_hit and whom != ALL:
            *_, last = self._told().splitlines()
            self.ended[f"exit code {code} without {whom}: {last}"] += 1

    def _told(self) -> str:
        return self.said.read_text(errors="replace")


def begun(given: Sequence[str], said: Path) -> subprocess.Popen[bytes]:
    """Start a run of the pipeline, in a process group of its own."""
    command = [sys.executable, "-m", "jobs.run_pipeline", *given]
    with said.open("wb") as out:
        return subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, start_new_session=True)


def _killed(process: subprocess.Popen[bytes], whom: str, draw: random.Random) -> bool:
    """Kill a run, or one of its processes; return whether there was one."""
    if whom == ALL:
        os.killpg(process.pid, signal.SIGKILL)
        return True
    asked = ["pgrep", "-s", str(process.pid), "-f", _PROCESSES[whom]]
    found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split()
    if found:
        os.kill(int(draw.choice(found)), signal.SIGKILL)
    return bool(found)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def whole(given: Given, root: Path, said: Path) -> float:
    """Let a run through; return its seconds."""
    began = time.monotonic()
    if begun(given(root), said).wait():
        raise SystemExit(said.read_text())
    return time.monotonic() - began


def of_a_capture(name: str, evidence: Path, parts: int) -> Iterator[Given]:
    """Cut a capture's logs into parts, and put one behind the other, as a broker does that goes on writing.

    Returns:
        for each part, as soon as it is there, what tells the command line of a run over it.
    """
    evidence = capture(name, evidence)
    logs = {log: log.read_bytes().splitlines(keepends=True) for log in (evidence / "broker_logs").rglob("*.log*")}
    for number in range(1, parts + 1):
        for log, lines in logs.items():
            log.write_bytes(b"".join(lines[: len(lines) * number // parts]))
        # A file's last entry is kept in any case, as it may go on.
        yield lambda root: [*arguments(root, evidence), "--logs.keep=all"]


def of_groups(count: int, seed: int, evidence: Path, parts: int) -> Iterator[Given]:
    """Write what there is of groups that rebalance without a pause in parts, as `of_a_capture` does."""
    stories = [story(number, _GENERATIONS, seed) for number in range(STORIES)]
    spans = sorted(set().union(*stories))
    for number in range(parts):
        of_part = spans[len(spans) * number // parts : len(spans) * (number + 1) // parts]
        write(evidence, stories, range(count), of_part, is_rotated=False)
        yield lambda root: [f"--cluster={CLUSTER}", f"--lake.root={root}", *sources(evidence)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--capture", default="kafka-4.2.0")
    parser.add_argument("--groups", type=int)
    parser.add_argument("--scratch", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        evidence = Path(folder) / "evidence"
        if given.groups:
            parts = of_groups(given.groups, given.seed, evidence, given.kills)
        else:
            parts = of_a_capture(given.capture, evidence, given.kills)
        measure(Path(folder), parts, given.seed)


def measure(folder: Path, parts: Iterator[Given], seed: int) -> None:
    """Fill two lakes, one of them with runs that are killed, and compare them."""
    quiet, said = folder / "quiet", folder / "said"
    disturbed = Disturbed(folder / "disturbed", said, random.Random(seed))
    for given in parts:
        disturbed.run(given, whole(given, quiet, said))
    whole(given, disturbed.root, said)
    for what, count in [*sorted(disturbed.killed.items()), *sorted(disturbed.ended.items())]:
        sys.stdout.write(f"{count:4} × {what}\n")
    _compare(disturbed.root, quiet)


def _compare(disturbed: Path, quiet: Path) -> None:
    compared, different, count = [spec.name for spec in TABLES if spec is not _BY_BATCHES], [], 0
    for name in compared:
        ours, theirs = (Counter(comparable(rows_of(root, name)[name], _BUT)) for root in (disturbed, quiet))
        count += theirs.total()
        if ours != theirs:
            different.append(name)
            _show(f"{name}, killed", ours - theirs)
            _show(f"{name}, undisturbed", theirs - ours)
    sys.stdout.write(f"{len(compared)} tables, {count:,} rows; different: {', '.join(different) or 'none'}\n")


def _show(where: str, rows: Counter[str]) -> None:
    sys.stdout.write(f"{where}: {rows.total()} rows that the other has not\n")
    sys.stdout.writelines(f"    {row}\n" for row in list(rows)[:_SHOWN])


if __name__ == "__main__":
    main()
