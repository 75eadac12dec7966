"""A lake of an earlier release is taken over: it ends as one that today's pipeline filled from the start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas.catalog import TABLES
from schemas.table import Layer
from tests.support.captures import capture

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LAKES = Path(__file__).resolve().parents[1] / "data" / "lakes"
CAPTURE = "kafka-4.2.0"


def test_a_lake_of_the_first_release_gives_the_answers_of_a_new_one(
    spark: Any, lake_rows: Any, capture_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    from jobs import detect_findings, ingest_logs, ingest_offsets, rebuild_timelines
    from tests.support.lakes import arguments, comparable, rows_of

    root = capture("0.1.0", tmp_path, archives=LAKES)
    bronze = {path.name for path in (root / "bronze" / "log_lines").rglob("*.parquet")}
    for job in (ingest_offsets, ingest_logs, rebuild_timelines, detect_findings):
        assert job.main(arguments(root, capture_dir(CAPTURE))) == 0
    rows = rows_of(root)
    for spec in TABLES:
        if spec.layer is not Layer.BRONZE:
            assert comparable(rows[spec.name]) == comparable(lake_rows(CAPTURE)[spec.name]), spec.full_name
    assert bronze <= {path.name for path in (root / "bronze" / "log_lines").rglob("*.parquet")}
    assert list((root / "_earlier" / "gold").glob("generations-*")), "what was there before is gone"
