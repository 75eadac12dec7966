"""Whatever of a capture is there, when a run looks: the rows break no law, so that the batch is published.

Files that have come in part are every run's lot; a source that lacks a stretch, or a broker's, is an incident's.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.arrivals import drawn
from tests.support.captures import (
    ALL,
    FROZEN,
    MODERN,
    MODERN_CHAOTIC,
    MODERN_EARLIER,
    MODERN_FAILOVER,
    MODERN_POLICIES,
)
from tests.support.laws import critical_laws_broken
from tests.support.pure_pipeline import Tables, read_silver, replay

NAMES = (*ALL, FROZEN, *MODERN, *MODERN_EARLIER, *MODERN_CHAOTIC, *MODERN_POLICIES, *MODERN_FAILOVER)
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 25))]

WRITTEN = {
    "group_metadata": ("recorded_at", "topic_partition_of_record"),
    "modern_group_records": ("recorded_at", "topic_partition_of_record"),
    "coordinator_events": ("logged_at", "broker"),
    "group_requests": ("answered_at", "broker"),
}
"""By table, when a row was written, and by whom."""

FOR_EVER_MS = 1e12
STRETCHES_MS = (50.0, 1_000.0, 5_000.0, 20_000.0, FOR_EVER_MS)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_files_that_have_come_in_part_break_no_law(
    name: str, seed: int, capture_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    arrivals = drawn(capture_dir(name), random.Random(f"{name} {seed}"))
    for run in range(arrivals.runs - 1):
        folder = tmp_path / str(run)
        arrivals.arrive(run, folder)
        assert not _broken(read_silver(folder)), f"run {run} of {arrivals.sizes}"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_sources_that_lack_a_stretch_break_no_law(name: str, seed: int, capture_dir: Callable[[str], Path]) -> None:
    whole = read_silver(capture_dir(name))
    lacking = _lacking(whole, random.Random(f"{name} {seed}"))
    assert any(len(lacking[table]) < len(whole[table]) for table in WRITTEN), "nothing lacks, so nothing was tested"
    assert not _broken(lacking)


@pytest.mark.parametrize("name", NAMES)
def test_all_that_there_is_breaks_no_law(name: str, pure_tables: Callable[[str], Tables]) -> None:
    assert not critical_laws_broken(pure_tables(name))


def _broken(silver: Tables) -> dict[str, str]:
    return critical_laws_broken({**silver, **replay(silver)})


def _lacking(silver: Tables, dice: random.Random) -> Tables:
    """Let tables lack a stretch: of all that write, or of one; from the beginning, in between, or to the end."""
    there = [table for table in WRITTEN if silver[table]]
    lacking = dict(silver)
    for table in dice.sample(there, dice.randint(1, len(there))):
        at, by = WRITTEN[table]
        first = dice.choice([row for row in silver[table] if row[at] is not None])
        begin, end = first[at], first[at] + dice.choice(STRETCHES_MS)
        if dice.random() < 0.2:
            begin, end = 0.0, first[at]
        writer = dice.choice([None, first[by]])
        lacking[table] = [
            row for row in silver[table] if not (begin <= (row[at] or 0.0) <= end and writer in (None, row[by]))
        ]
    return lacking
