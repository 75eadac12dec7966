"""What several processes of one test run have in common: folders that the first of them makes and the others find."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

WORKER = "PYTEST_XDIST_WORKER"
"""Environment variable that pytest-xdist sets in each process that runs tests."""


def common_folder(factory: pytest.TempPathFactory) -> Path:
    """Return a folder of this test run that all its processes share."""
    own = factory.getbasetemp()
    return own.parent if WORKER in os.environ else own


def made_once(folder: Path, make: Callable[[Path], object]) -> Path:
    """Have a folder made, unless another process has; who comes meanwhile waits.

    Args:
        folder: the folder.
        make: makes it; called in one process only.

    Returns:
        The folder, whole.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    done = folder.with_name(f"{folder.name}.done")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make(folder)
            done.touch()
    return folder
