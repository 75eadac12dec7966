"""One source of evidence is enough, from the first small run on: tables of the others are not there, or are empty."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import run_pipeline
from tests.support.lakes import CLUSTER, rows_of
from tests.support.pure_pipeline import read_silver, replay

pytestmark = pytest.mark.spark

CAPTURE = "kafka-4.2.0"
LOGS, RECORDS = "broker_logs", "consumer_offsets"
KNOWN = ("group_id", "life", "generation", "trigger", "preparing_at", "completing_at", "stable_at", "member_count")


@pytest.mark.parametrize(("source", "runs"), [("server.log", 2), ("kafka-request.log", 1), (RECORDS, 2)])
def test_one_source_is_enough(
    spark: Any, tmp_path: Path, capture_dir: Callable[[str], Path], source: str, runs: int
) -> None:
    """In runs that are small, with limits that nothing goes beyond: there are no findings at all."""
    whole, seen, root = capture_dir(CAPTURE), tmp_path / "seen", tmp_path / "lake"
    for folder in (LOGS, RECORDS):
        (seen / folder).mkdir(parents=True)
    given = [f"--cluster={CLUSTER}", f"--lake.root={root}", "--storms.min_rebalances=1000", "--bursts.min_errors=1000"]
    if source == RECORDS:
        given += ["--offsets.kind=segments", f"--offsets.path={seen / RECORDS}"]
    else:
        given += [f"--logs.path={seen / LOGS}", "--logs.broker=1"]
    for is_last in (False, True)[-runs:]:
        _arrive(whole, seen, source, is_last)
        assert run_pipeline.main(given) == 0
    found = rows_of(root, "generations", "rebalance_storms", "illegal_generation_bursts")
    assert _known(found["generations"]) == _known(replay(read_silver(seen))["generations"])
    assert found["generations"] and not found["rebalance_storms"] and not found["illegal_generation_bursts"]


def _arrive(whole: Path, seen: Path, source: str, is_last: bool) -> None:
    """Let half of a source be there, or all of it."""
    if source == RECORDS:
        folders = sorted((whole / RECORDS).iterdir())
        for folder in folders if is_last else folders[: len(folders) // 2]:
            shutil.copytree(folder, seen / RECORDS / folder.name, dirs_exist_ok=True)
        return
    lines = (whole / LOGS / source).read_text(encoding="utf-8").splitlines(keepends=True)
    (seen / LOGS / source).write_text("".join(lines if is_last else lines[: len(lines) // 2]), encoding="utf-8")


def _known(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted((tuple(row[name] for name in KNOWN) for row in rows), key=repr)
