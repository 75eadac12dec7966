"""How entries begin in the logs of applications, whose layouts nobody prescribes.

Known are the moments that common loggers print: ISO 8601 with or without a zone (Spring Boot, Python's logging, zap),
Go's package log, and librdkafka's own line on standard error. What follows is the client's own (`loglines.clients`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timezone
from typing import NamedTuple

from transforms.loglines.entries.json_layouts import read_moment
from transforms.loglines.entries.log4j_pattern import Head

_ISO = re.compile(
    r"(?P<open>\[)?"
    r"(?P<moment>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?P<fraction>[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)"
    r"(?![\w.+]|-\d\d|: \d)",
    re.ASCII,
)
_GO = re.compile(r"(?:\[[^\[\]\s]{1,40}\] )?(\d{4})/(\d\d)/(\d\d) (\d\d:\d\d:\d\d)(\.\d{1,9})?(?: |$)", re.ASCII)
_LIBRDKAFKA = re.compile(r"%[0-7]\|(\d{9,10})\.(\d{3})\|", re.ASCII)

_UNTIMED = re.compile(r"\[(?:DEBUG|INFO|WARN|ERROR)\] |(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.]+:")

FIRST_CHARACTERS = frozenset("0123456789[%")
"""What entries of applications can begin with."""


class Begin(NamedTuple):
    """Beginning of an entry.

    Attributes:
        head: its time.
        end: where the text behind the time begins.
    """

    head: Head
    end: int


def begin_of(line: str) -> Begin | None:
    """Return how an entry begins that `line` begins; None if it begins none."""
    if line[:1] not in FIRST_CHARACTERS:
        return None
    for read in _READERS:
        begin = read(line)
        if begin is not None:
            return begin
    return None


def begins_without_time(line: str) -> bool:
    """Tell whether a line is one of those that loggers begin entries with when nobody asks them for the time.

    So do `kgo.BasicLogger` and Python's logging; where a collector took the line, that one knows when.
    """
    return _UNTIMED.match(line) is not None


def _iso(line: str) -> Begin | None:
    found = _ISO.match(line)
    if found is None:
        return None
    if found["open"] and (not found["fraction"] or "T" in found["moment"]):  # brokers' lines cut short, JVMs' gc.log
        return None
    return _begin(read_moment(found["moment"]), found.end())


def _go(line: str) -> Begin | None:
    found = _GO.match(line)
    if found is None:
        return None
    year, month, day, clock, fraction = found.groups()
    return _begin(read_moment(f"{year}-{month}-{day} {clock}{fraction or ''}"), found.end())


def _librdkafka(line: str) -> Begin | None:
    found = _LIBRDKAFKA.match(line)
    if found is None:
        return None
    second = datetime.fromtimestamp(int(found[1]), timezone.utc)
    return _begin((f"{second:%Y-%m-%d %H:%M:%S},{found[2]}", 0), found.end())


def _begin(moment: tuple[str, int | None] | None, end: int) -> Begin | None:
    return None if moment is None else Begin(Head(*moment), end)


_READERS: tuple[Callable[[str], Begin | None], ...] = (_iso, _go, _librdkafka)
