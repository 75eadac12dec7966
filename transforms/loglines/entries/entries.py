"""Lines of a log file to entries: a line with a time stamp and the lines that belong to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone, tzinfo
from typing import cast
from zoneinfo import ZoneInfo

from transforms.foreign_text import storable
from transforms.loglines.entries.application_heads import FIRST_CHARACTERS, begin_of, begins_without_time
from transforms.loglines.entries.entry import Entry
from transforms.loglines.entries.json_layouts import may_be_wrapped, unwrap
from transforms.loglines.entries.layouts import KAFKA, LAYOUTS, Layout, stamp_of
from transforms.loglines.entries.lines import Numbered, Run
from transforms.loglines.entries.log4j_pattern import AUTO, compile_layout

MAX_LINES = 2000
MAX_CHARACTERS = 1 << 20

_BACKWARDS = 60_000
"""Entries of different threads may be out of order by milliseconds; a minute back means the clock went back."""


class _Clock:
    """Turns the time stamps of one file into epoch milliseconds.

    log4j prints local time without a zone, so the hour that daylight saving time repeats can only be told by order:
    within it a step back means that the second pass has begun.

    Attributes:
        second: the second that was read last, `yyyy-MM-dd HH:mm:ss`.
        epoch: epoch milliseconds of that second.
        last: epoch milliseconds read last.
    """

    def __init__(self, zone: tzinfo) -> None:
        self.second = ""
        self.epoch = 0
        self.last = 0
        self._zone = zone

    def read(self, stamp: str, offset: int | None = None) -> int | None:
        """Return epoch milliseconds of `yyyy-MM-dd HH:mm:ss,SSS`, or None for a moment that no calendar has.

        Args:
            stamp: local time.
            offset: its seconds east of UTC; None = that of the time zone.
        """
        second = stamp[:19]
        if second != self.second or offset is not None:
            try:
                self.epoch = self._seconds(second, offset) * 1000
            except (ValueError, OverflowError):
                self.second = ""
                return None
            self.second = second if offset is None else ""
        self.last = self.epoch + int(stamp[20:])
        return self.last

    def _seconds(self, second: str, offset: int | None) -> int:
        day, clock = second[:10], second[11:]
        local = datetime(
            int(day[:4]),
            int(day[5:7]),
            int(day[8:]),
            int(clock[:2]),
            int(clock[3:5]),
            int(clock[6:]),
            tzinfo=self._zone if offset is None else timezone.utc,
        )
        if offset is not None:
            return int(local.timestamp()) - offset
        if self._zone is timezone.utc:
            return int(local.timestamp())
        first = int(local.timestamp())
        again = int(local.replace(fold=1).timestamp())
        return again if again > first and first * 1000 < self.last - _BACKWARDS else first


class _Heads:
    """Finds where entries begin in the lines of one file, and takes lines out of what a collector put around them."""

    def __init__(self, clock: _Clock, layout: str) -> None:
        self.pattern = None if layout == AUTO else compile_layout(layout)
        self._clock = clock
        self._known: Layout | None = None
        self._part = ""
        self._part_begin = 0

    @property
    def is_inside(self) -> bool:
        """A collector has cut a line, and its end has not come yet."""
        return self._part_begin > 0

    def read(self, number: int, line: str) -> tuple[int, str, int | None] | None:
        """Take a line.

        Returns:
            The number of the line, the line, and its time if it begins an entry; None for a piece of a line that a
            collector has cut.
        """
        stamped = None
        if line[:1] == "\0":  # a log truncated while it was being written begins with a hole
            line = line.lstrip("\0")
        found = unwrap(line) if may_be_wrapped(line) else None
        if found is not None:
            line = found.text
            if found.stamp is not None:
                stamped = self._clock.read(found.stamp, found.offset)
            elif found.is_part:
                self._part_begin = self._part_begin or number
                self._part += line
                return None
        is_unwrapped = found is not None or self.is_inside
        if self.is_inside:
            number, line = self._part_begin, self._part + line
            self._part, self._part_begin = "", 0
        if stamped is None:
            stamped = self.time(line)
        if stamped is None and found is not None and found.collected and begins_without_time(line):
            line = f"{found.collected} {line}"
            stamped = self.time(line)
        return number, storable(line) if is_unwrapped else line, stamped

    def rest(self) -> tuple[int, str]:
        """Return the pieces of a line whose end has not come."""
        return self._part_begin, storable(self._part)

    def time(self, line: str) -> int | None:
        """Return the time of `line` if it begins an entry."""
        if self.pattern is not None:
            head = self.pattern.head(line)
            return None if head is None else self._clock.read(head.stamp, head.offset)
        if line[:1] not in FIRST_CHARACTERS:
            return None
        for layout in LAYOUTS if self._known is None else (self._known,):
            stamp = layout.stamp(line)
            if stamp is not None:
                logged_at = self._clock.read(stamp)
                if logged_at is not None:
                    self._known = layout
                return logged_at
        begin = None if self._known is KAFKA else begin_of(line)  # applications mix what their parts print
        return None if begin is None else self._clock.read(*begin.head)


def entries(
    lines: Iterable[str],
    time_zone: str = "UTC",
    layout: str = AUTO,
    *,
    max_lines: int = MAX_LINES,
    max_characters: int = MAX_CHARACTERS,
) -> Iterator[Entry]:
    """Yield the entries of one log file, in order; no line is lost.

    Args:
        lines: the file's lines, with or without their newlines.
        time_zone: name of the time zone that the broker logs in, e.g. Europe/Berlin.
        layout: log4j's pattern of the lines, or `auto`: Kafka's own and Strimzi's layout, log4j2's JSON layouts, what
            applications print (`application_heads`), and all of these wrapped by a collector.
        max_lines: an entry that grows beyond this many lines goes on in a new entry of the same time.
        max_characters: likewise.

    Raises:
        zoneinfo.ZoneInfoNotFoundError: there is no such time zone.
        LayoutError: lines cannot be read by such a pattern.
    """
    found = skimmed(enumerate(lines, start=1), time_zone, layout, max_lines=max_lines, max_characters=max_characters)
    return cast("Iterator[Entry]", found)


def skimmed(
    lines: Numbered,
    time_zone: str,
    layout: str = AUTO,
    *,
    since: int | None = None,
    max_lines: int = MAX_LINES,
    max_characters: int = MAX_CHARACTERS,
) -> Iterator[Entry | Run]:
    """Yield the entries of one log file like `entries`, and the runs of lines that were skimmed, in their places.

    Args:
        lines: the file's lines.
        time_zone: see `entries`.
        layout: see `entries`.
        since: where the lines begin with an entry that was read before, its time (epoch ms).
        max_lines: see `entries`.
        max_characters: see `entries`.

    Raises:
        zoneinfo.ZoneInfoNotFoundError: there is no such time zone.
        LayoutError: lines cannot be read by such a pattern.
    """
    clock = _Clock(timezone.utc if time_zone == "UTC" else ZoneInfo(time_zone))
    clock.last = since or 0
    heads = _Heads(clock, layout)
    found = _entries(lines, clock, heads, max_lines, max_characters)
    pattern = heads.pattern
    if pattern is None:
        return found
    return (each if isinstance(each, Run) else each._replace(text=pattern.as_kafka_prints(each.text)) for each in found)


def _entries(
    lines: Numbered, clock: _Clock, heads: _Heads, max_lines: int, max_characters: int
) -> Iterator[Entry | Run]:
    begin, logged_at = 1, None
    held: list[str] = []
    size = 0
    is_plain = heads.pattern is None
    for number, raw in lines:
        if isinstance(raw, Run):
            yield from _ended(begin, logged_at, held)
            yield raw
            begin, held, size = raw.line_number + 1, [], 0
            continue
        line = raw.rstrip("\r\n")
        at, stamped = number, None
        first = line[:1]
        if first == "[" and is_plain and line[1:20] == clock.second and line[24:26] == "] " and line[21:24].isdecimal():
            stamped = clock.last = clock.epoch + int(line[21:24])  # most lines: Kafka's layout, the same second
        elif first == "\t":
            pass  # of a stack trace, or of the broker's settings
        else:
            read = heads.read(number, line)
            if read is None:
                continue
            at, line, stamped = read
        if stamped is not None or len(held) >= max_lines or size >= max_characters:
            yield from _ended(begin, logged_at, held)
            begin, held, size = at, [], 0
            if stamped is not None:
                logged_at = stamped
        held.append(line)
        size += len(line)
    if heads.is_inside:
        held.append(heads.rest()[1])
    yield from _ended(begin, logged_at, held)


def _ended(begin: int, logged_at: int | None, held: Sequence[str]) -> Sequence[Entry]:
    """Return the entry of some lines, if there are any."""
    return (Entry(begin, logged_at, "\n".join(held)),) if held else ()


def first_stamp(lines: Iterable[str], layout: str = AUTO) -> str | None:
    """Return the first time stamp of a log as its lines print it, `yyyy-MM-dd HH:mm:ss,SSS`; None = there is none."""
    for entry in entries(lines, "UTC", layout):
        if entry.logged_at is not None:
            return stamp_of(entry.text)
    return None
