"""A run that is killed loses nothing and doubles nothing: the next one ends in the tables of an undisturbed run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from jobs.frame.exit_codes import ExitCode
from schemas.tables.gold import CLIENT_TIMELINE, REPLAYED

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = "kafka-4.2.0"
LONGEST_S = 300
KILLED_AFTER = (12, 3, 8)
"""Commits of a run to tables of gold after which it is killed; ten of the first make tables, nine of each fill them."""


def commits(gold: Path) -> int:
    return sum(1 for _ in gold.glob("*/_delta_log/*.json"))


def killed(root: Path, command: list[str], after: int) -> None:
    """Start a run, and kill it and its JVM once it has made some commits."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    nowhere, before = subprocess.DEVNULL, commits(root / "gold")
    process = subprocess.Popen(command, env=environment, stdout=nowhere, stderr=nowhere, start_new_session=True)
    try:
        deadline = time.monotonic() + LONGEST_S
        while commits(root / "gold") - before < after:
            assert process.poll() is None, "the run ended before it was killed"
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_replay_that_is_killed_time_and_again_ends_in_the_same_tables(
    spark: Any,
    lake: Callable[[str], Path],
    lake_rows: Any,
    capture_dir: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    from jobs import rebuild_timelines
    from tests.support.lakes import arguments, rows_of

    root = Path(shutil.copytree(lake(CAPTURE), tmp_path / "lake"))
    shutil.rmtree(root / "gold")
    given = arguments(root, capture_dir(CAPTURE))
    properties = f"--spark.properties={ROOT / 'conf' / 'spark-defaults-demo.conf'}"
    for after in KILLED_AFTER:
        killed(root, [sys.executable, "-m", "jobs.rebuild_timelines", *given, properties], after)
    assert rebuild_timelines.main(given) == 0
    rows = rows_of(root)
    for spec in REPLAYED:
        if spec is not CLIENT_TIMELINE:
            assert _told(rows[spec.name]) == _told(lake_rows(CAPTURE)[spec.name]), spec.full_name


def _told(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, rows))


def test_a_replay_of_everything_that_was_cut_short_is_made_good(
    spark: Any, copy: Path, lake_rows: Any, capture_dir: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing new for the run after it, but tables of which some are as an earlier release had them."""
    from jobs import rebuild_timelines
    from jobs.lake.lake import Lake
    from tests.support.lakes import arguments, rows_of

    given = arguments(copy, capture_dir(CAPTURE))
    for name in ("generations", "transitions"):
        DeltaTable(str(copy / "gold" / name)).delete("generation = 2")

    def cut_short(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Lake, "replace", cut_short)
        assert rebuild_timelines.main([*given, "--all"]) == ExitCode.INTERRUPTED
    assert rebuild_timelines.main(given) == 0
    rows = rows_of(copy, "generations", "transitions")
    for name in rows:
        assert _told(rows[name]) == _told(lake_rows(CAPTURE)[name]), name
