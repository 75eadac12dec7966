"""However the files of a capture come in, run by run, the tables are in the end those of one run over all of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import run_pipeline
from schemas.catalog import TABLES
from tests.support.arrivals import drawn
from tests.support.captures import CHAOTIC, FAILOVER, MODERN_CHAOTIC, OLD
from tests.support.lakes import CLUSTER, OF_THE_RUN, comparable, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long, pytest.mark.usefixtures("long_histories")]

HUNG_ON_ARRIVAL = frozenset({"rejected", "known_findings", "replay_snapshots", "standing_commits"})
"""Tables that tell of the runs: of bytes that a run found cut off, of what it was told, of how far it came."""

BUT = OF_THE_RUN | {"is_settled", "settled_at"}
"""How far a run may settle hangs on which sources it has heard of, and since when."""

NAMES = (*CHAOTIC, *FAILOVER, *MODERN_CHAOTIC, *OLD)


@pytest.mark.parametrize("seed", range(len(NAMES)))
def test_the_tables_are_those_of_one_run(
    spark: Any, capture_dir: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr("jobs.lake.passing.MANY_FILES", 2)  # of tables that are written again files are joined
    dice = random.Random(seed)
    arrivals = drawn(capture_dir(NAMES[seed]), dice)
    waits = [
        f"--replay.lateness_ms={dice.choice([0, 2_000, 60_000])}",
        f"--replay.silence_ms={dice.choice([0, 10_000, 3_600_000])}",
    ]
    for run in range(arrivals.runs):
        arrivals.arrive(run, tmp_path / "seen")
        _run(tmp_path / "piece_by_piece", arrivals.arguments(tmp_path / "seen"), waits)
    _run(tmp_path / "once", arrivals.arguments(tmp_path / "seen"), waits)
    expected, found = (rows_of(tmp_path / root) for root in ("once", "piece_by_piece"))
    for spec in TABLES:
        if spec.name not in HUNG_ON_ARRIVAL and not spec.full_name.startswith("bronze."):
            assert comparable(found[spec.name], BUT) == comparable(expected[spec.name], BUT), spec.name
    assert expected["generations"] or expected["offset_commits"], "nothing came in, so nothing was tested"


def _run(root: Path, of_files: list[str], waits: list[str]) -> None:
    limits = ["--storms.window_ms=60000", "--bursts.gap_ms=5000", "--bursts.min_errors=5"]
    assert run_pipeline.main([f"--cluster={CLUSTER}", f"--lake.root={root}", *of_files, *waits, *limits]) == 0
