"""Whether a scheduled run costs what is new: live logs and segments grow, and the whole pipeline comes by.

    python -m tests.benchmarks.bench_growing [times]

Fifty groups with a history, and the same groups with as many times more of it, in logs that are not rotated and
segments that are still appended to. They are jobs that run every three hours, with some ten generations each time, so
that the longer history is one of weeks. Then the same next runs of theirs come to both, one by one: the time of the
whole pipeline, a process of its own, from the sources to the summary.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.bench_load import run
from tests.benchmarks.load_workload import CLOSINGS_OF_A_RUN, SPAN_MS, STORIES, Written, story, write

GROUPS, RUNS = 50, 10
"""Runs of each group, in the shorter history: some 100,000 lines and records."""

BATCHES = 4
REST_MS = 3 * 3_600_000
LATENESS_MS = 60_000
SEED = 7

Spans = Sequence[int]


def played(runs: int) -> tuple[list[dict[int, Written]], list[Spans]]:
    """Play so many runs of all groups; return what was written, and the spans of time of each run."""
    stories = [story(number, runs * CLOSINGS_OF_A_RUN * 2, SEED, REST_MS) for number in range(STORIES)]
    found: list[list[int]] = []
    for span in sorted(set().union(*stories)):
        if not found or span - found[-1][-1] > REST_MS // SPAN_MS // 2:
            found.append([])
        found[-1].append(span)
    return stories, found[:-1]  # of the last one there is but the beginning


def grow(root: Path, stories: list[dict[int, Written]], runs: Sequence[Spans]) -> int:
    """Write what came of some runs behind what is there; return how many lines and records these are."""
    return write(root, stories, range(GROUPS), [span for spans in runs for span in spans], is_rotated=False)


def measured(root: Path, stories: list[dict[int, Written]], before: Sequence[Spans], new: Sequence[Spans]) -> float:
    """Fill a lake with a history, and return the seconds of a run that comes behind it."""
    _say(f"{grow(root, stories, before):,} pieces: {run(root, LATENESS_MS)[0]:.0f} s")
    seconds = []
    for spans in new:
        more = grow(root, stories, [spans])
        took, steps = run(root, LATENESS_MS)
        _say(f"  {more:,} more: {took:.1f} s ({steps})")
        seconds.append(took)
    return statistics.median(seconds[1:])


def main(times: int) -> None:
    stories, runs = played(times * RUNS + BATCHES)
    until = len(runs) - BATCHES
    with tempfile.TemporaryDirectory() as scratch:
        long = measured(Path(scratch) / "long", stories, runs[:until], runs[until:])
        short = measured(Path(scratch) / "short", stories, runs[until - RUNS : until], runs[until:])
    _say(f"a run behind the shorter history {short:.1f} s, behind {times}× of it {long:.1f} s: {long / short:.2f}×")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*[int(each) for each in sys.argv[1:]] or [20])
