"""Whether a scheduled run costs what is new: live logs and segments grow, and the whole pipeline comes by.

    python -m tests.benchmarks.bench_growing [times]

Fifty groups with a history, and the same groups with as many times more of it, in logs that are not rotated and
segments that are still appended to. Then the same few generations come to both, three times: the time of the whole run,
each a process of its own, from the sources to the summary.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.bench_load import run
from tests.benchmarks.load_workload import STORIES, Written, story, write

GROUPS, GENERATIONS = 50, 100
"""Generations of each group, in the shorter history: some 100,000 lines and records."""

BATCHES, SPANS_OF_BATCH = 4, 3
SEED = 7


def measured(root: Path, stories: list[dict[int, Written]], until: int, spans: range) -> tuple[float, int]:
    """Fill a lake with a history that ends with a span, and return the seconds and the pieces of a batch behind it."""
    groups = range(GROUPS)
    _say(f"{write(root, stories, groups, spans, is_rotated=False):,} pieces: {run(root)[0]:.0f} s")
    seconds, new = [], 0
    for number in range(BATCHES):
        begin = until + number * SPANS_OF_BATCH
        new = write(root, stories, groups, range(begin, begin + SPANS_OF_BATCH), is_rotated=False)
        took, steps = run(root)
        _say(f"  {new:,} more: {took:.1f} s ({steps})")
        seconds.append(took)
    return statistics.median(seconds[1:]), new


def main(times: int) -> None:
    stories = [story(number, times * GENERATIONS, SEED) for number in range(STORIES)]
    until = min(max(each) for each in stories) + 1 - BATCHES * SPANS_OF_BATCH
    with tempfile.TemporaryDirectory() as scratch:
        long, new = measured(Path(scratch) / "long", stories, until, range(until))
        short, _ = measured(Path(scratch) / "short", stories, until, range(until - until // times, until))
    _say(f"{new:,} new pieces: {short:.1f} s on the shorter history, {long:.1f} s on {times}×: {long / short:.2f}×")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*[int(each) for each in sys.argv[1:]] or [20])
