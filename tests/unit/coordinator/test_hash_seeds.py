"""Sets have another order in every process: the replay tells the same all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.package import ROOT

CAPTURES = ("kafka-4.2.0", "chaos-2.8.2", "modern-4.2.0", "modern-chaos-4.2.0", "modern-failover-4.1.1")
TELL = """
import sys
from pathlib import Path
from tests.support.pure_pipeline import read_silver, replay
for table, rows in sorted(replay(read_silver(Path(sys.argv[1]))).items()):
    for row in rows:
        print(table, row)
"""


@pytest.mark.parametrize(
    "name", ["kafka-4.2.0", "chaos-2.8.2", "modern-4.2.0", "modern-chaos-4.2.0", "modern-failover-4.1.1"]
)
def test_rows_do_not_hang_on_the_order_of_sets(name: str, capture_dir: Callable[[str], Path]) -> None:
    first, second = (told(capture_dir(name), seed) for seed in ("1", "2"))
    assert len(first) > 1000
    assert first == second


def told(capture: Path, seed: str) -> list[str]:
    """All rows of a capture's replay, in a process with hashes of its own."""
    of_the_process = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", TELL, str(capture)]
    return subprocess.run(command, env=of_the_process, capture_output=True, text=True, check=True).stdout.splitlines()
