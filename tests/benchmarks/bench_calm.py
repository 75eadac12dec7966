"""A cluster whose groups are calm: what a run costs by which all of them have news, and next to nothing happened.

    python -m tests.benchmarks.bench_calm [--groups 10000] [--scratch FOLDER]

Every member sends its heartbeats, and commits twice a minute, as the request log and `__consumer_offsets` tell. After
some minutes of that the pipeline comes by, as a process of its own: after a third of a minute, twice, and after a whole
one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.bench_load import run
from tests.benchmarks.load_workload import (
    BEGIN,
    COMMIT_MS,
    SPAN_MS,
    STORIES,
    Written,
    calm_story,
    write,
    write_commits,
)
from tests.support.incidents.service import SECOND

SEED = 1
LATENESS_MS = 60 * SECOND
BATCHES = {"from the sources": 240 * SECOND, "more": 20 * SECOND, "once more": 20 * SECOND, "a minute": 60 * SECOND}
"""What each run is over."""


def spans_of_batches() -> Iterator[tuple[str, range]]:
    """Yield what each run is over, in the spans in which logs are written."""
    begin = 0
    for what, length_ms in BATCHES.items():
        end = begin + round(length_ms / SPAN_MS)
        yield what, range(begin, end)
        begin = end


def grow(root: Path, stories: list[dict[int, Written]], groups: int, spans: range) -> int:
    """Write what there is in some spans; return how many lines and records these are."""
    pieces = write(root, stories, range(groups), spans)
    moments = (BEGIN + (span + 1) * SPAN_MS - SECOND for span in spans if (span + 1) * SPAN_MS % COMMIT_MS == 0)
    return pieces + sum(write_commits(root, range(groups), moment) for moment in moments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--scratch", type=Path)
    given = parser.parse_args()
    stories = [calm_story(number, SEED, BEGIN + sum(BATCHES.values())) for number in range(STORIES)]
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        for what, spans in spans_of_batches():
            pieces = grow(Path(folder), stories, given.groups, spans)
            seconds, steps = run(Path(folder), LATENESS_MS)
            sys.stdout.write(f"{what}: {pieces:,} pieces in {seconds:.1f} s, {pieces / seconds:,.0f}/s ({steps})\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
