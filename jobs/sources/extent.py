"""How much a job has to read, as far as this machine can tell before anything is started."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from jobs.jvm.files import LocalFiles
from jobs.lake.notes import Notes, notes_folder
from jobs.settings.settings import Settings
from jobs.settings.sources import is_local, local_path

Sizes = Mapping[str, Mapping[str, int]]
"""By section of the settings (`offsets`, `logs`), bytes of each file of its sources, compressed or not."""

_NOTE = "extent"


def sizes_of(settings: Settings, sections: tuple[str, ...]) -> Sizes | None:
    """Return the sizes of what a job reads: its sources, or of one that reads no source (section "") the lake.

    Args:
        settings: the settings.
        sections: sections of the settings whose sources the job reads.

    Returns:
        The sizes; None where it is not on this machine's disk.
    """
    if "offsets" in sections and settings.offsets.kind == "kafka":
        return None
    is_read = {"offsets": settings.offsets.kind != "none", "logs": True}
    paths = {name: getattr(settings, name).path for name in sections if is_read[name]} or {"": settings.lake.root}
    if not all(map(is_local, paths.values())):
        return None
    files = {name: _files(local_path(path)) if path else () for name, path in paths.items()}
    return {name: {file: _size(file) for file in of_section} for name, of_section in files.items()}


def unread(settings: Settings, sizes: Sizes) -> int:
    """Return how many bytes are new since whole runs noted what they had found; a file that shrank is new."""
    before = _noted(settings)
    return sum(
        size - known if (known := before.get(name, {}).get(file, 0)) <= size else size
        for name, of_section in sizes.items()
        for file, size in of_section.items()
    )


def note_read(sizes: Sizes, notes: Notes) -> None:
    """Note in the lake's notes that what was there is read."""
    of_sources = {name: of_section for name, of_section in sizes.items() if name}
    if of_sources:
        notes.put(_NOTE, {**(notes.get(_NOTE) or {}), **of_sources})


def _noted(settings: Settings) -> Sizes:
    """Return what was noted; nothing where the lake is not on this machine's disk."""
    root = settings.lake.root
    if not is_local(root):
        return {}
    return Notes(LocalFiles(Path(local_path(root))), notes_folder(settings.cluster)).get(_NOTE) or {}


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
