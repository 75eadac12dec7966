"""A whole cluster: how long it takes to build its tables, and what one per cent more of evidence costs.

    python -m tests.benchmarks.bench_load [--groups 10000] [--generations 100] [--rest HOURS] [--scratch FOLDER]

Writes what brokers would have written (`load_workload`), and runs the pipeline as a process of its own: over all but
the last hundredth of it; again without silver and gold, so that these are built from bronze; with the rest, which is of
nearly all groups; with about as much of one group in a hundred, which has as many generations once more; and with
commits alone, hours later, of all groups. Without a rest all groups rebalance every five
seconds from their beginning to their end, within minutes; with one they are jobs that run for ten generations each
time, as most groups of a cluster have more of a history than of a present.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.load_workload import BEGIN, SPAN_MS, STORIES, Written, parted, story, write, write_commits
from tests.benchmarks.whole_process import pipeline
from tests.support.incidents.service import SECOND

HOUR = 3_600 * SECOND

_LATER_MS = (2.5 * HOUR, 2.7 * HOUR)
"""So long after their last generation groups commit; the first time what was open is settled, too."""

_OF_ALL = 0.01
"""So much of the evidence comes behind the rest of it."""

_OF_FEW, _FEW = 0.5, 0.01
"""So much of what is played is told of so many groups alone: a hundredth of what was told of all before."""

LATENESS_MS = 5 * SECOND
"""A group's hundred generations follow each other within minutes; what is waited for late lines is shorter likewise."""

_USUAL_LATENESS_MS = 60 * SECOND
"""Of groups that rest for hours, as by the settings' default."""


def arguments(root: Path, lateness_ms: int) -> list[str]:
    """Return the command line of a pipeline that reads a workload's folder into a lake beside it."""
    return [
        "--cluster=load",
        f"--lake.root={root / 'lake'}",
        *sources(root),
        f"--replay.lateness_ms={lateness_ms}",
    ]


def sources(root: Path) -> list[str]:
    """Return what of a command line says where a workload's folder has its evidence."""
    return [
        "--offsets.kind=segments",
        f"--offsets.path={root / 'segments'}",
        f"--logs.path={root / 'logs'}",
        "--logs.broker={dir}",
    ]


def run(root: Path, lateness_ms: int = LATENESS_MS, more: Sequence[str] = ()) -> tuple[float, str]:
    """Run the pipeline, with more settings if need be; return its seconds, and those of its steps."""
    return pipeline([*arguments(root, lateness_ms), *more])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--generations", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rest", type=float, default=0.0)
    parser.add_argument("--scratch", type=Path)
    given = parser.parse_args()
    stories = [story(number, 2 * given.generations, given.seed, given.rest * HOUR) for number in range(STORIES)]
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        measure(Path(folder), stories, given.groups, _USUAL_LATENESS_MS if given.rest else LATENESS_MS)


def measure(root: Path, stories: list[dict[int, Written]], groups: int, lateness_ms: int) -> None:
    """Write the workload, and print what the runs take."""
    begun, following = parted(stories, _OF_FEW)
    first, last = parted(stories, _OF_ALL, begun)
    began = time.monotonic()
    most = write(root, stories, range(groups), first)
    _say(f"{groups:,} groups: {most:,} lines and records, written in {time.monotonic() - began:.0f} s")
    _tell("from the sources", most, *run(root, lateness_ms))
    for layer in ("silver", "gold"):
        shutil.rmtree(root / "lake" / layer)
    _tell("from bronze", most, *run(root, lateness_ms))
    more = write(root, stories, range(groups), last)
    _tell("with more of all", more, *run(root, lateness_ms))
    few = max(1, round(groups * _FEW))
    more = write(root, stories, range(few), following)
    _tell(f"with more of {few:,} groups", more, *run(root, lateness_ms))
    _tell("without news", 0, *run(root, lateness_ms))
    for later_ms in _LATER_MS:
        commits = write_commits(root, range(groups), BEGIN + following[-1] * SPAN_MS + later_ms)
        _tell(f"with commits alone, {later_ms / HOUR:.1f} h later", commits, *run(root, lateness_ms))


def _tell(what: str, pieces: int, seconds: float, steps: str) -> None:
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    _say(
        f"{what}: {pieces:,} pieces in {seconds:.0f} s, {pieces / seconds:,.0f}/s ({steps}); "
        f"largest process so far {peak:,} MiB"
    )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
