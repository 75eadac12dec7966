"""Kills runs at random moments, and compares the tables that the next ones end in with those of undisturbed runs.

    python -m tests.benchmarks.bench_crashes [--kills 50] [--seed 1] [--capture kafka-4.2.0]

A capture's logs come in parts. While each is taken in, runs are killed (SIGKILL) one after the other: all their
processes, or the JVM, or the Python workers, after a time by chance; then one is let through. Another lake takes in
the same parts undisturbed. Prints how many runs were killed in which step, and every table that differs, with
some of its rows.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.support.captures import capture
from tests.support.lakes import arguments, comparable, rows_of
from tests.support.package import ROOT

PARTS = 5
WHOM = ("all", "jvm", "workers")
_LONGEST_S = 600.0
_SHOWN = 5


def begun(root: Path, evidence: Path, said: Path) -> subprocess.Popen[bytes]:
    """Start a run of the pipeline, in a process group of its own."""
    command = [sys.executable, "-m", "jobs.run_pipeline", *arguments(root, evidence)]
    with said.open("wb") as out:
        return subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, start_new_session=True)


def kill(process: subprocess.Popen[bytes], whom: str) -> None:
    """Kill a run, or some of its processes; those that lose them end by themselves, or go on."""
    if whom == "all":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        wanted = "java" if whom == "jvm" else "pyspark.daemon"
        listed = subprocess.run(
            ["pgrep", "-s", str(process.pid), "-f", wanted], capture_output=True, text=True, check=False
        )
        for found in listed.stdout.split():
            os.kill(int(found), signal.SIGKILL)
    try:
        process.wait(_LONGEST_S)
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()


def whole(root: Path, evidence: Path, said: Path) -> None:
    """Let a run through."""
    if begun(root, evidence, said).wait():
        raise SystemExit(said.read_text())


def parts_of(folder: Path, to: Path) -> list[Path]:
    """Cut a capture's logs into parts that come one after the other; each has what those before it have."""
    found = []
    for number in range(1, PARTS + 1):
        part = Path(shutil.copytree(folder, to / str(number)))
        for log in (part / "broker_logs").rglob("*.log*"):
            lines = log.read_bytes().splitlines(keepends=True)
            log.write_bytes(b"".join(lines[: len(lines) * number // PARTS]))
        found.append(part)
    return found


def put(part: Path, at: Path) -> None:
    """Put the logs of a part in the place of those of the one before, as a broker does that went on writing."""
    at.mkdir(exist_ok=True)
    for file in part.rglob("*"):
        if file.is_file():
            place = at / file.relative_to(part)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--capture", default="kafka-4.2.0")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), given.kills, given.seed, given.capture)


def measure(folder: Path, kills: int, seed: int, name: str) -> None:
    """Fill two lakes, one of them with runs that are killed, and compare them."""
    draw, killed = random.Random(seed), Counter[str]()
    parts = parts_of(capture(name, folder / "whole"), folder / "parts")
    disturbed, quiet, evidence, said = folder / "disturbed", folder / "quiet", folder / "evidence", folder / "said"
    for number, part in enumerate(parts):
        put(part, evidence)
        began = time.monotonic()
        whole(quiet, evidence, said)
        longest = time.monotonic() - began
        for _ in range(kills * (number + 1) // PARTS - kills * number // PARTS):
            process, whom = begun(disturbed, evidence, said), draw.choice(WHOM)
            time.sleep(draw.uniform(3, longest))
            if process.poll() is None:
                steps = said.read_text(errors="replace").count("✓")
                kill(process, whom)
                killed[f"{whom} after {steps} steps"] += 1
        whole(disturbed, evidence, said)
    sys.stdout.write("".join(f"{count:4} × {what}\n" for what, count in sorted(killed.items())))
    _compare(disturbed, quiet)


def _compare(disturbed: Path, quiet: Path) -> None:
    ours, theirs = rows_of(disturbed), rows_of(quiet)
    different = []
    for name in theirs:
        ours_here, theirs_here = Counter(comparable(ours[name])), Counter(comparable(theirs[name]))
        if ours_here != theirs_here:
            different.append(name)
            _show(f"{name}, killed", ours_here - theirs_here)
            _show(f"{name}, undisturbed", theirs_here - ours_here)
    rows = sum(map(len, theirs.values()))
    sys.stdout.write(f"{len(theirs)} tables, {rows:,} rows; different: {', '.join(different) or 'none'}\n")


def _show(where: str, rows: Counter[str]) -> None:
    sys.stdout.write(f"{where}: {rows.total()} rows that the other has not\n")
    sys.stdout.writelines(f"    {row}\n" for row in list(rows)[:_SHOWN])


if __name__ == "__main__":
    main()
