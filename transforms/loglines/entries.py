"""Lines of a log file to entries: a line with a time stamp and the lines that belong to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone, tzinfo
from zoneinfo import ZoneInfo

from transforms.loglines.layouts import LAYOUTS, Layout

MAX_LINES = 2000
MAX_CHARACTERS = 1 << 20

_BACKWARDS = 60_000
"""Entries of different threads may be out of order by milliseconds; a minute back means the clock went back."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a log.

    Attributes:
        line_number: number of its first line in the file, from 1.
        logged_at: epoch milliseconds of its time stamp; None for text before the first time stamp of the file.
        text: its lines, joined by newlines.
    """

    line_number: int
    logged_at: int | None
    text: str


class _Clock:
    """Turns the time stamps of one file into epoch milliseconds.

    log4j prints local time without a zone, so the hour that daylight saving time repeats can only be told by order:
    within it a step back means that the second pass has begun.
    """

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._second = ""
        self._epoch = 0
        self._last = 0

    def read(self, stamp: str) -> int | None:
        """Return epoch milliseconds of `yyyy-MM-dd HH:mm:ss,SSS`, or None for a moment that no calendar has."""
        second = stamp[:19]
        if second != self._second:
            try:
                self._epoch = self._seconds(second) * 1000
            except (ValueError, OverflowError):
                return None
            self._second = second
        self._last = self._epoch + int(stamp[20:])
        return self._last

    def _seconds(self, second: str) -> int:
        day, clock = second[:10], second[11:]
        local = datetime(
            int(day[:4]),
            int(day[5:7]),
            int(day[8:]),
            int(clock[:2]),
            int(clock[3:5]),
            int(clock[6:]),
            tzinfo=self._zone,
        )
        if self._zone is timezone.utc:
            return int(local.timestamp())
        first = int(local.timestamp())
        again = int(local.replace(fold=1).timestamp())
        return again if again > first and first * 1000 < self._last - _BACKWARDS else first


def entries(
    lines: Iterable[str],
    time_zone: str = "UTC",
    *,
    max_lines: int = MAX_LINES,
    max_characters: int = MAX_CHARACTERS,
) -> Iterator[Entry]:
    """Yield the entries of one log file, in order; no line is lost.

    Args:
        lines: the file's lines, with or without their newlines.
        time_zone: name of the time zone that the broker logs in, e.g. Europe/Berlin.
        max_lines: an entry that grows beyond this many lines goes on in a new entry of the same time.
        max_characters: likewise.

    Raises:
        zoneinfo.ZoneInfoNotFoundError: there is no such time zone.
    """
    clock = _Clock(timezone.utc if time_zone == "UTC" else ZoneInfo(time_zone))
    begin, logged_at = 1, None
    held: list[str] = []
    size = 0
    layout: Layout | None = None
    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip("\r\n")
        if line.startswith("\0"):  # a log truncated while it was being written begins with a hole
            line = line.lstrip("\0")
        stamped = None
        if line[:1] in _FIRST_CHARACTERS:
            layout, stamped = _time(line, layout, clock)
        if stamped is not None or len(held) >= max_lines or size >= max_characters:
            if held:
                yield Entry(begin, logged_at, "\n".join(held))
            begin, held, size = number, [], 0
            if stamped is not None:
                logged_at = stamped
        held.append(line)
        size += len(line)
    if held:
        yield Entry(begin, logged_at, "\n".join(held))


_FIRST_CHARACTERS = frozenset({*"0123456789", *(layout.before[0] for layout in LAYOUTS if layout.before)})


def _time(line: str, known: Layout | None, clock: _Clock) -> tuple[Layout | None, int | None]:
    """Return the layout of the file as far as it is known, and the time of `line` if it begins an entry."""
    for layout in LAYOUTS if known is None else (known,):
        stamp = layout.stamp(line)
        if stamp is not None:
            logged_at = clock.read(stamp)
            return (known if logged_at is None else layout), logged_at
    return known, None
