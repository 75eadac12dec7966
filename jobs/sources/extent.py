"""How much a job has to read, as far as this machine can tell before anything is started."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import Path

from jobs.settings.settings import Settings
from jobs.settings.sources import is_local, local_path


def bytes_to_read(settings: Settings, sections: tuple[str, ...]) -> int | None:
    """Return the size of what a job reads: its sources, or of one that reads no source the lake.

    Args:
        settings: the settings.
        sections: sections of the settings (`offsets`, `logs`) whose sources the job reads.

    Returns:
        Bytes as they lie there, compressed or not; None where it is not on this machine's disk.
    """
    if "offsets" in sections and settings.offsets.kind == "kafka":
        return None
    is_read = {"offsets": settings.offsets.kind != "none", "logs": True}
    paths = [getattr(settings, name).path for name in sections if is_read[name]] or [settings.lake.root]
    if not all(map(is_local, paths)):
        return None
    return sum(_size(file) for path in paths if path for file in _files(local_path(path)))


def _files(path: str) -> Iterator[str]:
    for each in [path] if Path(path).exists() else glob.iglob(path, recursive=True):  # noqa: PTH207
        if not os.path.isdir(each):  # noqa: PTH112 (a glob gives names)
            yield each
        for folder, _, names in os.walk(each):
            yield from (os.path.join(folder, name) for name in names)  # noqa: PTH118


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size  # noqa: PTH116
    except OSError:
        return 0  # gone meanwhile, or not to be looked at: whoever opens it says so
