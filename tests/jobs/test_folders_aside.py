"""What a run puts aside lies in a folder of its own, and goes with it, be it that the next run has to remove it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jobs.frame.folders_aside import new_folder
from jobs.frame.keeping import keeping

KILLED = """
import os, signal, sys
from pathlib import Path
from jobs.frame.folders_aside import new_folder
folder = new_folder(Path(sys.argv[1]))
(Path(folder.name) / "rows").touch()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_folder_of_a_process_that_was_killed_is_removed_by_the_next_one(tmp_path: Path) -> None:
    others = tmp_path / "rebalance-analytics-of-somebody-else"
    others.mkdir()
    place = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], env=place, check=False).returncode < 0
    (left,) = {*tmp_path.iterdir()} - {others}
    assert (left / "rows").exists()
    with new_folder(tmp_path) as mine, new_folder(tmp_path) as another:
        assert {*tmp_path.iterdir()} == {others, Path(mine), Path(another)}, "those of living ones stay"


@pytest.mark.parametrize("places", ["{0}", "{0},/no/such/disk", "{0} , /b"])
def test_of_several_local_folders_of_spark_the_first_is_taken(tmp_path: Path, places: str) -> None:
    conf = SimpleNamespace(get=lambda name: places.format(tmp_path))
    spark: Any = SimpleNamespace(sparkContext=SimpleNamespace(master="local[2]", getConf=lambda: conf))
    with keeping() as keep:
        folder = keep.folder(spark)
        assert folder is not None
        assert folder.parent == tmp_path
    assert not [*tmp_path.iterdir()]
