"""Some thousands of damaged records and segment files; `tests.benchmarks.fuzz_records` tries a million."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import fuzz_records
from tests.support.captures import CAPTURES

INPUTS = 4_000


def test_no_damage_raises_or_loses_a_record(capture_dir: Callable[[str], Path]) -> None:
    tally = fuzz_records.seeds(capture_dir(CAPTURES[0]).parent)
    tally.run(INPUTS, random.Random(1))
    assert sum(tally.outcomes.values()) == INPUTS
    assert len(tally.outcomes) >= len(fuzz_records.TABLES) + 1
