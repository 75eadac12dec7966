"""The lines of one file: taken out of what a collector put around them, each with its time if it begins an entry."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone, tzinfo
from typing import NamedTuple

from transforms.foreign_text import storable
from transforms.loglines.entries.application_heads import FIRST_CHARACTERS, begin_of, begins_without_time
from transforms.loglines.entries.json_layouts import Unwrapped, may_be_wrapped, unwrap
from transforms.loglines.entries.layouts import KAFKA, LAYOUTS, Layout
from transforms.loglines.entries.log4j_pattern import AUTO, compile_layout
from transforms.loglines.entries.prefixes import peeled

_BACKWARDS = 60_000
"""Entries of different threads may be out of order by milliseconds; a minute back means the clock went back."""

Read = tuple[int, str, "int | None"]
"""A whole line: its number, its text, and its time (epoch ms) if it begins an entry."""

_HOLES = frozenset({"\0", "\ufeff"})
"""What lines may begin with that is no text: zero bytes, and the mark of the order of bytes."""

MAX_CHARACTERS = 1 << 20
"""Pieces are put together, and entries grow, up to so many characters."""

_DOCKER_CUTS_AT = 16_000
"""Docker cuts lines after 16 KiB, none before."""

_LEVELS = tuple(f"{level} " for level in ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"))

_GOING_ON = ("Caused by: ", "... ")
_ENDS = (")", "]", "}")
"""What lines of brokers mostly end with."""


class _Held(NamedTuple):
    """Pieces of a line whose end has not come."""

    number: int
    text: str
    found: Unwrapped


class Clock:
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


class Heads:
    """Finds where entries begin in the lines of one file, and takes lines out of what a collector put around them."""

    def __init__(self, clock: Clock, layout: str) -> None:
        self.pattern = None if layout == AUTO else compile_layout(layout)
        self._clock = clock
        self._known: Layout | None = None
        self._prefix = "\0"
        self._held: _Held | None = None

    def read(self, number: int, line: str) -> Sequence[Read]:
        """Take a line; return the lines that are whole by now, none where a collector has cut it."""
        if line[:1] in _HOLES:  # a log truncated while it was being written begins with a hole
            line = line.lstrip("\0\ufeff")
        found = self._unwrapped(line)
        text, held = (line if found is None else found.text), self._held
        is_event = found is not None and found.stamp is not None
        done: Sequence[Read] = ()
        if held is not None and (is_event or (held.found.is_open and self._is_another(held.text, text))):
            done, held = self.end(), None
        if found is not None and not is_event and (found.is_part or found.is_open):
            if held is None:
                self._held = _Held(number, text, found)
            else:
                self._held = held._replace(text=held.text + text)
            return done if len(self._held.text) <= MAX_CHARACTERS else (*done, *self.end())
        if held is not None:
            self._held, number, text, found = None, held.number, held.text + text, found or held.found
        return (*done, self._whole(number, text, found))

    def end(self) -> Sequence[Read]:
        """Return the pieces of a line whose end has not come, as one."""
        held, self._held = self._held, None
        return () if held is None else (self._whole(held.number, held.text, held.found),)

    def _unwrapped(self, line: str) -> Unwrapped | None:
        """Return a line without what is around it, or stands in front of it; None where nothing does."""
        if may_be_wrapped(line):
            return unwrap(line)
        if line.startswith(self._prefix):
            line = line.removeprefix(self._prefix)
            return (unwrap(line) if may_be_wrapped(line) else None) or Unwrapped(line)
        rest = peeled(line)
        if rest is None:
            return None
        self._prefix = rest.name or "\0"
        inner = unwrap(rest.text) if may_be_wrapped(rest.text) else Unwrapped(rest.text)
        return None if inner is None else inner._replace(collected=inner.collected or rest.collected)

    def _is_another(self, before: str, text: str) -> bool:
        """Whether a line follows on one that lacks its end, as whoever printed that one prints none."""
        if len(before) >= _DOCKER_CUTS_AT:
            return self._begins(text)
        return before.endswith(_ENDS) or text[:1].isspace() or text.startswith(_GOING_ON) or self._begins(text)

    def _begins(self, line: str) -> bool:
        if self.pattern is not None:
            return self.pattern.head(line) is not None
        return any(layout.stamp(line) for layout in LAYOUTS) or begin_of(line) is not None

    def _whole(self, number: int, line: str, found: Unwrapped | None) -> Read:
        if found is None:
            return number, line, self.time(line)
        if found.stamp is not None:
            return number, storable(line), self._clock.read(found.stamp, found.offset)
        stamped = self.time(line)
        if stamped is None and found.collected and begins_without_time(line):
            line = f"{found.collected} {line}"
            stamped = self.time(line)
        return number, storable(line), stamped

    def time(self, line: str) -> int | None:
        """Return the time of `line` if it begins an entry."""
        if self.pattern is not None:
            head = self.pattern.head(line)
            return None if head is None else self._clock.read(head.stamp, head.offset)
        if line[:1] not in FIRST_CHARACTERS:
            return None
        for layout in LAYOUTS:
            stamp = layout.stamp(line)
            if stamp is not None and self._may_be(layout, line):
                logged_at = self._clock.read(stamp)
                if logged_at is not None:
                    self._known = layout
                return logged_at
        begin = None if self._known is KAFKA else begin_of(line)  # applications mix what their parts print
        return None if begin is None else self._clock.read(*begin.head)

    def _may_be(self, layout: Layout, line: str) -> bool:
        """Whether a line may be in a layout: what runs beside a broker may print another, whose level shows it."""
        return self._known in (None, layout) or line.startswith(_LEVELS, layout.head_length)
