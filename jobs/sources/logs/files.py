"""Log files below a folder: finding them, naming them and reading their entries."""

from __future__ import annotations

import glob
import hashlib
import io
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from jobs.sources.logs.packed import DAMAGE, ENDINGS, Head, chunks, head_of, what_else
from transforms.errors import SourceError
from transforms.loglines.entries.entries import first_stamp, skimmed
from transforms.loglines.entries.entry import Entry
from transforms.loglines.entries.layouts import may_grow
from transforms.loglines.entries.lines import BEGIN, Lines, Place, Places, Run
from transforms.loglines.entries.log4j_pattern import AUTO

_TOLD_BY = 64
"""First bytes by which files without a time stamp are told apart."""

_GLOB = re.compile(r"[*?[]")

# What rotation puts at the end of a name (server.log.1, server.log.2026-11-20-10, server.log-20261120.gz) or before
# its ending (server-2026-11-20-1.log.gz).
_DATE = r"\d{4}-?\d\d-?\d\d(?:-\d+)*"
_ROTATION = re.compile(rf"[.-]{_DATE}(?=\.log$)|[.-]{_DATE}(?:\.\d+)?$|\.\d{{1,5}}$")

_SETTLED_S = 3600
"""A file that has not changed for so long is not being written: its last line is whole."""

_TRACE_S = 5
"""A stack trace follows its line within this time."""


@dataclass(frozen=True)
class LogFile:
    """A log file as it was found.

    Attributes:
        path: where it lies.
        name: its path below the root.
        broker: name of the broker that wrote it.
        lasting_name: `name` without what rotation adds, and the time stamp that the file begins with: the same lines
            have the same name when the file has moved on and been compressed, and another file that takes over its
            name has another. Where there is no time stamp, a hash of its first bytes stands for it.
        size: its bytes.
        modified_ns: when it changed, in nanoseconds of the epoch.
        is_whole: nobody writes it any more, as far as one can tell, so nothing of it is held back.
        counted_to: line up to which an earlier run has counted the entries that are left out.
        read_from: line from which it is read; what stands before it was read by an earlier run.
        read_at: time of the entry that begins there (epoch ms); None = it is read from its beginning.
        read_bytes: its bytes when that was, about.
        place: where a line begins, that one or one before it: what stands before it need not be passed over.
    """

    path: str
    name: str
    broker: str
    lasting_name: str
    size: int
    modified_ns: int
    is_whole: bool
    counted_to: int = 0
    read_from: int = 1
    read_at: int | None = None
    read_bytes: int = 0
    place: Place = BEGIN

    @property
    def unread(self) -> int:
        """Bytes that are new, about."""
        return max(self.size - self.read_bytes, 0)

    def mark(self, *how: str) -> str:
        """Return what changes with the file and with how it is read."""
        seen = (self.lasting_name, self.broker, self.size, self.modified_ns, *how)
        return hashlib.blake2b(repr(seen).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


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


def find_log_files(path: str, broker: str, layout: str = AUTO) -> list[LogFile]:
    """List log files in a stable order.

    Args:
        path: a folder, read at any depth, a file, or a glob of these.
        broker: name of the broker, in which `{dir}` stands for the name of the folder that holds the file.
        layout: log4j's pattern of the lines, or `auto`.

    Raises:
        SourceError: nothing is there, or a file may not be read.
        LayoutError: lines cannot be read by such a pattern.
    """
    if "://" in path and not path.startswith("file://"):
        raise SourceError(f"logs.path {path} is not a path that the executors can open: mount or copy the logs first.")
    path = os.path.abspath(path.removeprefix("file://"))  # noqa: PTH100 (a glob is not a path)
    matched = [path] if Path(path).exists() else sorted(glob.glob(path, recursive=True))  # noqa: PTH207
    files = sorted({file for each in matched for file in _files(Path(each))})
    if not files:
        raise SourceError(f"logs.path {path} holds no files: point it at the folder of the broker's server.log.")
    for file in files:
        if not os.access(file, os.R_OK) and file.exists():  # one that has just been rotated is nobody's fault
            raise SourceError(f"{file} may not be read: give this user read access to it.")
    root = _root(path)
    return [found for file in files if (found := _found(file, root, broker, layout)) is not None]


def _found(file: Path, root: Path, broker: str, layout: str) -> LogFile | None:
    """Return what a file is now; None if it is gone."""
    name = file.relative_to(root).as_posix()
    try:
        status = file.stat()  # before it is opened: if it grows, it is another one next time
        with file.open("rb") as opened:
            head = head_of(opened, name)
    except FileNotFoundError:
        return None
    except OSError:
        head = Head(b"", b"")
    return LogFile(
        path=str(file),
        name=name,
        broker=broker.replace("{dir}", file.parent.name),
        lasting_name=_lasting_name(name, head, _begins(head.text, layout)),
        size=status.st_size,
        modified_ns=status.st_mtime_ns,
        is_whole=_is_whole(name, status),
    )


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


def read_log_file(
    file: LogFile, time_zone: str, layout: str = AUTO, skimming: re.Pattern[bytes] | None = None
) -> Iterator[Entry | Run | Problem | Places]:
    """Yield the entries of a file; where reading ends early, a `Problem`; of a long one at last places to read on from.

    The last entry of a file that is still written is held back while more of it may come: where its last line has no
    end, its message is not closed, or a stack trace may follow. It is read another time, under the same number.

    A file that is another one by now, because its broker has just rotated it, is left for another time.

    Args:
        file: what was found.
        time_zone: time zone that its lines are written in, by name.
        layout: log4j's pattern of its lines, or `auto`.
        skimming: lines that it matches, see `Lines`, are only counted.
    """
    last: Entry | Run | None = None
    try:
        with Path(file.path).open("rb") as opened:
            head = head_of(opened, file.name)
            begins = _begins(head.text, layout)
            if _lasting_name(file.name, head, begins) != file.lasting_name:
                return
            odd = what_else(head, is_dated=bool(begins))
            if odd is not None:
                yield Problem(1, "not_text", f"{file.name} {odd}")
                return
            begin = _gone_to(opened, file) if head.packing is None else BEGIN
            lines = Lines(chunks(opened, head.packing), skimming, file.read_from, begin)
            for entry in skimmed(lines, time_zone, layout, since=file.read_at):
                if last is not None:
                    yield last
                last = entry
            status = os.fstat(opened.fileno())
            if last is not None and (_is_whole(file.name, status) or not _may_go_on(lines, last, _age_s(status))):
                yield last
            if lines.places.are_several:
                yield lines.places
    except FileNotFoundError:
        return
    except DAMAGE as problem:
        if last is not None:
            yield last
        # One line further than any entry that was read, so that the place is its own.
        number = file.read_from if last is None else last.line_number + 1
        yield Problem(number, "unreadable_file", f"{file.name}: {type(problem).__name__}: {problem}")


def _gone_to(opened: IO[bytes], file: LogFile) -> Place:
    """Go to where a line is known to begin, and say where that is; the begin of the file where none does any more."""
    if file.place.byte > 0 and file.place.line_number <= file.read_from:
        opened.seek(file.place.byte - 1)
        if opened.read(1) == b"\n":
            return file.place
        opened.seek(0)
    return BEGIN


def _lasting_name(name: str, head: Head, begins: str | None) -> str:
    """Return the name that a file keeps: without what rotation adds, and with what it begins with."""
    base = _ROTATION.sub("", name.removesuffix(_packed_ending(name)))
    if begins:
        return f"{base}@{begins[:10]}T{begins[11:19]}.{begins[20:]}"
    first = (head.text or head.raw)[:_TOLD_BY]
    return f"{base}@{hashlib.blake2b(first, digest_size=4).hexdigest()}" if first else base


def _may_go_on(lines: Lines, last: Entry | Run, age_s: float) -> bool:
    """Tell whether more of the last entry may come."""
    if isinstance(last, Run):
        return False
    return not lines.is_closed or may_grow(last.text, is_fresh=age_s < _TRACE_S)


def _is_whole(name: str, status: os.stat_result) -> bool:
    """Tell whether nobody writes a file any more: it was rotated or compressed, or has not changed for long."""
    return bool(_packed_ending(name)) or _ROTATION.search(name) is not None or _age_s(status) > _SETTLED_S


def _packed_ending(name: str) -> str:
    return next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")


def _age_s(status: os.stat_result) -> float:
    """Return the seconds since a file changed."""
    return time.time() - status.st_mtime


def _begins(head: bytes, layout: str) -> str | None:
    return first_stamp(io.StringIO(head.decode("utf-8", "replace")), layout)
