"""What is said of a finding does not hang on the order in which its evidence lies in the tables."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.captures import CHAOTIC, MODERN_CHAOTIC, MODERN_FAILOVER
from tests.support.pure_pipeline import run_pipeline
from tests.unit.findings import pure
from transforms.findings.storms.limits import StormLimits, Thresholds

THRESHOLDS = Thresholds(StormLimits(60_000, 5))


def _found(tables: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    found = [*pure.storms(tables, THRESHOLDS), *pure.bursts(tables, 5_000, 5)]
    return sorted(found, key=lambda row: (row["group_id"], row.get("error", ""), row["started_at"]))


@pytest.mark.parametrize("name", [*CHAOTIC, *MODERN_CHAOTIC, *MODERN_FAILOVER])
def test_findings_are_the_same_however_rows_lie(capture_dir: Callable[[str], Path], name: str) -> None:
    tables = run_pipeline(capture_dir(name))
    expected = _found(tables)
    assert len(expected) > 5
    for seed in range(3):
        dice = random.Random(seed)
        assert _found({table: dice.sample(rows, len(rows)) for table, rows in tables.items()}) == expected
