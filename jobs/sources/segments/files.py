"""Segment files of `__consumer_offsets`: finding them, and cutting them into shares for tasks.

A broker at work compacts segments and removes them. One that is gone once it was found is left out: what stays of its
records stands in another, which has a mark of its own.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from pyspark.sql.datasource import InputPartition

from transforms.errors import SourceError
from transforms.wire.segments import batch_before, split_points

SHARE_BYTES = 64 << 20
"""Bytes of segment files that one task reads, about."""

_TAIL_BYTES = 4096

_FOLDER = re.compile(r"__consumer_offsets-(\d+)")


@dataclass(frozen=True)
class SegmentFile:
    """A segment file as it was found.

    Attributes:
        topic_partition: partition of `__consumer_offsets`.
        path: where it lies.
        source: its path below the root, with its folder, which names the partition.
        size: its bytes.
        modified_ns: when it changed, in nanoseconds of the epoch.
        start: byte from which it is read; what lies before was read by an earlier run.
    """

    topic_partition: int
    path: str
    source: str
    size: int
    modified_ns: int
    start: int = 0

    @property
    def unread(self) -> int:
        """Bytes that are read of it."""
        return self.size - self.start

    def mark(self) -> str:
        """Return what changes with the file."""
        seen = (self.source, self.size, self.modified_ns)
        return hashlib.blake2b(repr(seen).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()

    def tail(self, size: int) -> str:
        """Return what changes with the last of its first `size` bytes.

        Brokers append to a segment until they compact it, and then write it anew without some of its records: all that
        stands behind these stands elsewhere. So where a tail is the same, all before it is the same. Empty: it is gone.
        """
        with opened(self.path) as file:
            if file is None:
                return ""
            file.seek(max(size - _TAIL_BYTES, 0))
            return hashlib.blake2b(file.read(min(size, _TAIL_BYTES)), digest_size=8).hexdigest()

    def read_on(self, size: int, tail: str) -> SegmentFile:
        """Leave out what was read when it had a size and a tail, but for the last batch: it may have been cut short."""
        if not 0 < size <= self.size or self.tail(size) != tail:
            return self
        with opened(self.path) as file:
            return replace(self, start=(file and batch_before(file, size)) or 0)


@dataclass(frozen=True)
class Range:
    """Part of a segment file that begins at a batch."""

    topic_partition: int
    path: str
    source: str
    start: int
    end: int


@dataclass
class Share(InputPartition):
    """What one task reads."""

    ranges: tuple[Range, ...]


@contextmanager
def opened(path: str, read_ahead: int = -1) -> Iterator[BinaryIO | None]:
    """Open a segment file; None if it is gone by now.

    Args:
        path: where it lies.
        read_ahead: bytes that are read at once; -1 = few, for those who look at batches here and there.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(path).open("rb", buffering=read_ahead))
        except FileNotFoundError:
            yield None
        else:
            yield file


def find_segments(path: str) -> list[SegmentFile]:
    """List the segment files below a folder, in a stable order.

    Args:
        path: folder that holds `__consumer_offsets-N` folders, at any depth, or is one.

    Raises:
        SourceError: there is no such folder, or no segment in it, or one that may not be read.
    """
    root = Path(path)
    if not root.is_dir():
        raise SourceError(f"offsets.path {path} is not a folder: give the one that holds __consumer_offsets-N folders.")
    root = root.resolve()
    found = []
    for file in root.rglob("*.log"):
        folder = _FOLDER.fullmatch(file.parent.name)
        if folder and file.is_file():
            found.append((int(folder[1]), file))
    if not found:
        raise SourceError(
            f"offsets.path {path} holds no __consumer_offsets-N/*.log: point it at the broker's log.dirs."
        )
    for _, file in found:
        if not os.access(file, os.R_OK) and file.exists():
            raise SourceError(f"{file} may not be read: give this user read access to it.")
    as_found = (_found(topic_partition, file, root) for topic_partition, file in sorted(found))
    return [file for file in as_found if file is not None]


def _found(topic_partition: int, file: Path, root: Path) -> SegmentFile | None:
    # With its folder's name even where the path is that folder: the source must say which partition it is.
    source = file.relative_to(root if file.parent != root else root.parent).as_posix()
    try:
        status = file.stat()
    except FileNotFoundError:
        return None
    return SegmentFile(topic_partition, str(file), source, status.st_size, status.st_mtime_ns)


def newest(files: Sequence[SegmentFile]) -> list[SegmentFile]:
    """Return the last segment of each folder: the one that brokers append to."""
    last = {Path(file.path).parent: file for file in sorted(files, key=lambda file: Path(file.path).name)}
    return list(last.values())


def is_unique(files: Sequence[SegmentFile]) -> bool:
    """Say whether no record can come twice: one folder for each partition, not copies of several brokers."""
    folders = {(file.topic_partition, Path(file.path).parent) for file in files}
    return len(folders) == len({topic_partition for topic_partition, _ in folders})


def plan(files: Sequence[SegmentFile], share_bytes: int = SHARE_BYTES) -> list[Share]:
    """Cut segment files into shares of about `share_bytes`."""
    shares: list[Share] = []
    held: list[Range] = []
    size = 0
    for each in _ranges(files, share_bytes):
        if held and size + each.end - each.start > share_bytes:
            shares.append(Share(tuple(held)))
            held, size = [], 0
        held.append(each)
        size += each.end - each.start
    return [*shares, Share(tuple(held))] if held else shares


def _ranges(files: Sequence[SegmentFile], share_bytes: int) -> Iterator[Range]:
    for file in files:
        with opened(file.path) as there:
            if there is None:
                continue
            starts = split_points(there, share_bytes, file.start)
        # Not beyond the size it was found with: what comes later is the next run's.
        ends = [*starts[1:], max(file.size, starts[-1])]
        for start, end in zip(starts, ends, strict=True):
            yield Range(file.topic_partition, file.path, file.source, start, end)
