"""What a command takes from its start to its end, with all the processes that it starts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_STEP = re.compile(r"✓ (\w+(?: \w+)?)\s+([\d.]+) s")
_PAUSE_S = 0.25
"""Between two looks at the processes."""


@dataclass(frozen=True)
class Taken:
    """What it took.

    Attributes:
        seconds: from start to end.
        cpu_seconds: of all processes, as they were seen last.
        peak_bytes: greatest resident size of all of them together, what several share counted once.
    """

    seconds: float
    cpu_seconds: float
    peak_bytes: int

    def __str__(self) -> str:
        """Say it in words."""
        return f"{self.seconds:.1f} s, {self.cpu_seconds:.0f} CPU-s, {self.peak_bytes / (1 << 20):,.0f} MiB"


def pipeline(arguments: Sequence[str]) -> tuple[float, str]:
    """Run the pipeline, which must succeed; return its seconds, and those of its steps in words."""
    command = [sys.executable, "-m", "jobs.run_pipeline", *arguments]
    began = time.monotonic()
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    if ended.returncode:
        raise SystemExit(ended.stdout[-2000:] + ended.stderr[-3000:])
    return seconds, ", ".join(f"{name} {took}" for name, took in _STEP.findall(ended.stdout))


def taken_by_job(module: str, *arguments: str) -> Taken:
    """Run a job as `python -m` does."""
    return taken_by([sys.executable, "-m", module, *arguments])


def taken_by(command: Sequence[str]) -> Taken:
    """Run a command that must succeed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    begin, peak, used = time.perf_counter(), 0, dict[int, float]()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        there = list(tree(process.pid))
        peak = max(peak, sum(map(_bytes, there)))
        used |= {each: seconds for each in there if (seconds := cpu_seconds(each))}
        time.sleep(_PAUSE_S)
    seconds = time.perf_counter() - begin
    assert process.returncode == 0, f"{command} ended with exit code {process.returncode}"
    return Taken(seconds, sum(used.values()), peak)


def cpu_seconds(process_id: int) -> float:
    """Return the CPU time of a process so far; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tree(process_id: int) -> Iterator[int]:
    """Yield a process and all below it."""
    yield process_id
    try:
        of_threads = Path(f"/proc/{process_id}/task").glob("*/children")
        children = [int(each) for file in of_threads for each in file.read_text(encoding="ascii").split()]
    except OSError:  # it has ended
        return
    for each in children:
        yield from tree(each)


def _bytes(process_id: int) -> int:
    try:
        lines = Path(f"/proc/{process_id}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)
