"""What a million new commits cost behind a hundred million, and on an empty lake.

    python -m tests.benchmarks.bench_commits [--history 100000000] [--batch 1000000] [--scratch FOLDER]

Groups of a partition of their own commit 192 partitions each, 25 groups in a partition of `__consumer_offsets`. The
whole pipeline runs over their history; then, over a batch of one tenth of the groups, behind the history and without
it, in turn, three times each; what is said is the median.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks import commits_workload
from tests.benchmarks.whole_process import pipeline

PER_PARTITION = 500_000
"""Records of a partition's history."""

RUNS = 3


def run(root: Path) -> tuple[float, str]:
    """Run the pipeline over a folder's segments, into the lake beside them; return its seconds, and its steps'."""
    source = ["--offsets.kind=segments", f"--offsets.path={root / 'segments'}"]
    return pipeline(["--cluster=commits", f"--lake.root={root / 'lake'}", *source])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--history", type=int, default=100_000_000)
    parser.add_argument("--batch", type=int, default=1_000_000)
    parser.add_argument("--scratch", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        measure(Path(folder), given.history, given.batch)


def measure(root: Path, history: int, batch: int) -> None:
    """Write the commits, and print what the runs take."""
    partitions = range(-(-history // PER_PARTITION))
    of_batch = range(max(len(partitions) // 10, 1))
    behind, alone = root / "behind", root / "alone"
    began = time.monotonic()
    for place in (behind, alone):
        place.mkdir(parents=True)
    commits_workload.write(behind, partitions, 0, PER_PARTITION)
    _say(f"{len(partitions) * PER_PARTITION:,} records written in {time.monotonic() - began:.0f} s")
    _tell("the history", run(behind))
    for place in (behind, alone):
        commits_workload.write(place, of_batch, PER_PARTITION, batch // len(of_batch))
    (alone / "lake").mkdir()
    for place in (behind, alone):
        shutil.copytree(place / "lake", place / "before")
    taken: dict[str, list[float]] = {"behind": [], "alone": []}
    for _ in range(RUNS):
        for place in (behind, alone):
            shutil.rmtree(place / "lake")
            shutil.copytree(place / "before", place / "lake")
            seconds, steps = run(place)
            taken[place.name].append(seconds)
            _tell(f"a batch {place.name}", (seconds, steps))
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    ratio = medians["behind"] / medians["alone"]
    _say(f"{batch:,} records: behind {medians['behind']:.0f} s, alone {medians['alone']:.0f} s, {ratio:.2f} times")


def _tell(what: str, took: tuple[float, str]) -> None:
    _say(f"{what}: {took[0]:.0f} s ({took[1]})")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
