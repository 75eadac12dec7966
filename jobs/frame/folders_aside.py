"""Folders for what a run puts aside on this machine, each with the name of the process that it belongs to.

A process that is killed leaves its folder where it is; the next one that needs such a folder takes it away.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from jobs.lake.processes import is_alive, machine, process_start

_PREFIX = "rebalance-analytics-"
_UNKNOWN = "unknown"
_NAME = re.compile(rf"{_PREFIX}(\w+)-(\d+)-(\d+)-.*")


def new_folder(place: Path) -> tempfile.TemporaryDirectory[str]:
    """Return a new folder in a place, once those are gone that nobody has any more."""
    for folder in place.glob(f"{_PREFIX}*"):
        if _is_left(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
    start = process_start(os.getpid()) or 0
    return tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{_machine()}-{os.getpid()}-{start}-", dir=place)


def _is_left(name: str) -> bool:
    """Tell whether a folder is that of a process of this machine that has ended."""
    owner = _NAME.fullmatch(name)
    return bool(owner and owner[1] == _machine() != _UNKNOWN and not is_alive(int(owner[2]), int(owner[3])))


def _machine() -> str:
    """Return a name of this machine, this boot and this process namespace."""
    return hashlib.blake2b(machine().encode(), digest_size=4).hexdigest() if machine() else _UNKNOWN
