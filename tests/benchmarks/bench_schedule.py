"""Days of small batches: whether the last is as quick as the tenth, and how many files the tables come to have.

    python -m tests.benchmarks.bench_schedule [--runs 144] [--groups 10] [--scratch FOLDER]

Ten groups are jobs that run every ten minutes, four or five generations each time; the pipeline comes by after each,
over live logs and segments that grow. All runs are in one process, so that what is timed is not Spark's start. After
each day tables are maintained, as the documentation advises. Prints for parts of the schedule the median run, and how
many files the table with the most of them has before and after it is maintained.
"""

from __future__ import annotations

import argparse
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path

from deltalake import DeltaTable

from jobs import maintain_tables, run_pipeline
from jobs.session.spark_session import spark_session
from jobs.settings.settings import SparkSettings
from tests.benchmarks.bench_load import arguments
from tests.benchmarks.load_workload import SPAN_MS, Written, story, write

RUNS_OF_A_DAY = 144
EVERY_MS = 600_000
CLOSINGS = 1
LATENESS_MS = 60_000
SEED = 11
_RUNS_OF_A_PART = 16
"""Of so many runs the median is printed."""


def played(groups: int, runs: int) -> tuple[list[dict[int, Written]], Iterator[list[int]]]:
    """Play so many runs of groups; return what was written, and the spans of time that lie between two visits."""
    stories = [story(number, (runs + 1) * CLOSINGS * 2, SEED, EVERY_MS, closings=CLOSINGS) for number in range(groups)]
    step = EVERY_MS // SPAN_MS
    return stories, (list(range(number * step, (number + 1) * step)) for number in range(runs))


def most_files(lake: Path) -> str:
    """Return which table has the most files in its newest version, and how many."""
    counts = {log.parent.name: len(DeltaTable(log.parent).file_uris()) for log in lake.rglob("_delta_log")}
    name = max(counts, key=lambda name: counts[name])
    return f"{counts[name]} files of {name}, {sum(counts.values()):,} of {len(counts)} tables"


def measure(root: Path, groups: int, runs: int) -> None:
    """Run the schedule, and print what each part of it took."""
    spark = spark_session(SparkSettings())
    stories, spans = played(groups, runs)
    seconds: list[float] = []
    for number, between in enumerate(spans, 1):
        pieces = write(root, stories, range(groups), between, is_rotated=False)
        seconds.append(_timed(run_pipeline.main, arguments(root, LATENESS_MS)))
        if number % _RUNS_OF_A_PART == 0:
            took = statistics.median(seconds[-_RUNS_OF_A_PART:])
            _say(f"until run {number}: {took:.1f} s ({pieces:,} pieces); {most_files(root / 'lake')}")
        if number % RUNS_OF_A_DAY == 0:
            took = _timed(maintain_tables.main, [f"--lake.root={root / 'lake'}", "--cluster=load"])
            _say(f"maintained in {took:.1f} s; {most_files(root / 'lake')}")
    spark.stop()
    _say(f"runs 10 to 20 {statistics.median(seconds[9:20]):.1f} s, the last ten {statistics.median(seconds[-10:]):.1f}")


def _timed(job: Callable[[Sequence[str]], int], given: list[str]) -> float:
    began, told = time.monotonic(), io.StringIO()
    with redirect_stdout(told):
        code = job(given)
    if code:
        raise SystemExit(told.getvalue()[-2000:])
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS_OF_A_DAY)
    parser.add_argument("--groups", type=int, default=10)
    parser.add_argument("--scratch", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        measure(Path(folder), given.groups, given.runs)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
