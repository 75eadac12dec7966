"""Log files below a folder: finding them, naming them and reading their entries."""

from __future__ import annotations

import glob
import gzip
import os
import re
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from transforms.errors import SourceError
from transforms.loglines.entries import Entry, entries, first_stamp
from transforms.loglines.layouts import may_grow
from transforms.loglines.pattern_layout import AUTO

_HEAD_BYTES = 256 << 10
_GZIP_BITS = 31
_GLOB = re.compile(r"[*?[]")

# What rotation puts at the end of a name (server.log.1, server.log.2026-11-20-10, server.log-20261120.gz) or before
# its ending (server-2026-11-20-1.log.gz).
_DATE = r"\d{4}-?\d\d-?\d\d(?:-\d+)*"
_ROTATION = re.compile(rf"[.-]{_DATE}(?=\.log$)|[.-]{_DATE}(?:\.\d+)?$|\.\d{{1,5}}$")
_UNREADABLE = (EOFError, zlib.error, OSError)

_SETTLED_S = 3600
"""A file that has not changed for so long is not being written: its last line is whole."""

_TRACE_S = 5
"""A stack trace follows its line within this time."""


@dataclass(frozen=True)
class LogFile:
    """A log file.

    Attributes:
        path: where it lies.
        name: its path below the root.
        broker: name of the broker that wrote it.
    """

    path: str
    name: str
    broker: str


@dataclass(frozen=True)
class Problem:
    """A file, or the rest of a file, that cannot be read.

    Attributes:
        line_number: first line that could not be read.
        reason_code: stable name.
        detail: why, in words.
    """

    line_number: int
    reason_code: str
    detail: str


def find_log_files(path: str, broker: str) -> list[LogFile]:
    """List log files in a stable order.

    Args:
        path: a folder, read at any depth, a file, or a glob of these.
        broker: name of the broker, in which `{dir}` stands for the name of the folder that holds the file.

    Raises:
        SourceError: nothing is there, or a file may not be read.
    """
    if "://" in path and not path.startswith("file://"):
        raise SourceError(f"logs.path {path} is not a path that the executors can open: mount or copy the logs first.")
    path = os.path.abspath(path.removeprefix("file://"))  # noqa: PTH100 (a glob is not a path)
    matched = [path] if Path(path).exists() else sorted(glob.glob(path, recursive=True))  # noqa: PTH207
    files = sorted({file for each in matched for file in _files(Path(each))})
    if not files:
        raise SourceError(f"logs.path {path} holds no files: point it at the folder of the broker's server.log.")
    for file in files:
        if not os.access(file, os.R_OK):
            raise SourceError(f"{file} may not be read: give this user read access to it.")
    root = _root(path)
    return [
        LogFile(str(file), file.relative_to(root).as_posix(), broker.replace("{dir}", file.parent.name))
        for file in files
    ]


def _files(place: Path) -> Iterator[Path]:
    """Yield a file, or the files below a folder; hidden ones are not logs."""
    if place.is_file():
        yield place
        return
    for file in place.rglob("*"):
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(place).parts):
            yield file


def _root(path: str) -> Path:
    """Return the folder that names are relative to: of a glob, the part that no match can change."""
    fixed = Path(path)
    while _GLOB.search(str(fixed)) and not fixed.exists():
        fixed = fixed.parent
    return fixed if fixed.is_dir() else fixed.parent


def read_log_file(file: LogFile, time_zone: str, layout: str = AUTO) -> Iterator[tuple[str, Entry | Problem]]:
    """Yield the entries of a file, each with the file's lasting name; where reading ends early, a `Problem`.

    The lasting name is the file's without what rotation adds, and the time stamp that the file begins with: the same
    lines have the same name when the file has moved on and been compressed, and another file that takes over its name
    has another.

    The last entry of a file that is still written is held back while more of it may come: where its last line has no
    end, its message is not closed, or a stack trace may follow. It is read another time, under the same name and
    number.

    Args:
        file: where it lies.
        time_zone: time zone that its lines are written in, by name.
        layout: log4j's pattern of its lines, or `auto`.
    """
    line_number = 0
    name = file.name
    last: Entry | None = None
    try:
        head = _head(file)
        begins = first_stamp(head.decode("utf-8", "replace").split("\n"), layout)
        name = lasting_name(file.name, begins)
        if not begins and b"\0" in head.strip(b"\0"):
            yield name, Problem(1, "not_text", "the file holds no log: there are zero bytes in it")
            return
        with _open(file) as opened:
            lines = _Lines(opened)
            for entry in entries(lines, time_zone, layout):
                if last is not None:
                    yield name, last
                last = entry
                line_number = entry.line_number
        if last is not None and not (_is_written(file) and lines.may_go_on(last)):
            yield name, last
    except _UNREADABLE as problem:
        if last is not None:
            yield name, last
        # One line further than any entry that was read, so that the place is its own.
        yield name, Problem(line_number + 1, "unreadable_file", f"{type(problem).__name__}: {problem}")


def lasting_name(name: str, begins: str | None) -> str:
    """Return the name that a file keeps: without what rotation adds, and with the time stamp that it begins with."""
    base = _ROTATION.sub("", name.removesuffix(".gz"))
    return f"{base}@{begins[:10]}T{begins[11:19]}.{begins[20:]}" if begins else base


class _Lines:
    """Lines of an open file, which remember how they ended: the file may have grown by the time one asks."""

    def __init__(self, opened: IO[str]) -> None:
        self._opened = opened
        self._last = "\n"

    def __iter__(self) -> Iterator[str]:
        line = self._last
        for line in self._opened:
            yield line
        self._last = line

    def may_go_on(self, last: Entry) -> bool:
        """Tell whether more of the last entry may come."""
        if not self._last.endswith("\n"):
            return True
        return may_grow(last.text, is_fresh=_age_s(self._opened.name) < _TRACE_S)


def _is_written(file: LogFile) -> bool:
    """Tell whether a broker may still be writing a file."""
    if file.path.endswith(".gz") or _ROTATION.search(file.name):
        return False
    return _age_s(file.path) < _SETTLED_S


def _age_s(path: str) -> float:
    """Return the seconds since a file changed; 0 for one that has just been renamed."""
    try:
        return time.time() - Path(path).stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _open(file: LogFile) -> IO[str]:
    """Open a file as text; bytes that are not UTF-8 stay visible as their hexadecimal escapes."""
    if file.path.endswith(".gz"):
        return gzip.open(file.path, "rt", encoding="utf-8", errors="backslashreplace", newline="\n")
    return Path(file.path).open(encoding="utf-8", errors="backslashreplace", newline="\n", buffering=1 << 20)


def _head(file: LogFile) -> bytes:
    """Return the beginning of a file's text; of a compressed file that is cut, as much as there is."""
    with Path(file.path).open("rb") as opened:
        head = opened.read(_HEAD_BYTES)
    return zlib.decompressobj(_GZIP_BITS).decompress(head, _HEAD_BYTES) if file.path.endswith(".gz") else head
