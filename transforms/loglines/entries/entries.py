"""Lines of a log file to entries: a line with a time stamp and the lines that belong to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timezone
from typing import cast
from zoneinfo import ZoneInfo

from transforms.loglines.entries.entry import Entry
from transforms.loglines.entries.heads import MAX_CHARACTERS, Clock, Heads, Read
from transforms.loglines.entries.layouts import stamp_of
from transforms.loglines.entries.lines import Numbered, Run
from transforms.loglines.entries.log4j_pattern import AUTO

MAX_LINES = 2000


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
    clock = Clock(timezone.utc if time_zone == "UTC" else ZoneInfo(time_zone))
    clock.last = since or 0
    heads = Heads(clock, layout)
    found = _entries(lines, clock, heads, max_lines, max_characters)
    pattern = heads.pattern
    if pattern is None:
        return found
    return (each if isinstance(each, Run) else each._replace(text=pattern.as_kafka_prints(each.text)) for each in found)


def _entries(lines: Numbered, clock: Clock, heads: Heads, max_lines: int, max_characters: int) -> Iterator[Entry | Run]:
    begin, logged_at = 1, None
    held: list[str] = []
    size = 0
    for read in _whole_lines(lines, clock, heads):
        if isinstance(read, Run):
            yield from _ended(begin, logged_at, held)
            yield read
            begin, held, size = read.line_number + 1, [], 0
            continue
        at, line, stamped = read
        if stamped is not None or len(held) >= max_lines or size >= max_characters:
            yield from _ended(begin, logged_at, held)
            begin, held, size = at, [], 0
            if stamped is not None:
                logged_at = stamped
        held.append(line)
        size += len(line)
    yield from _ended(begin, logged_at, held)


def _whole_lines(lines: Numbered, clock: Clock, heads: Heads) -> Iterator[Read | Run]:
    is_plain = heads.pattern is None
    for number, raw in lines:
        if isinstance(raw, Run):
            yield raw
            continue
        line = raw.rstrip("\r\n")
        first = line[:1]
        if first == "[" and is_plain and line[1:20] == clock.second and line[24:26] == "] " and line[21:24].isdecimal():
            clock.last = clock.epoch + int(line[21:24])  # most lines: Kafka's layout, the same second
            yield number, line, clock.last
        elif first == "\t":  # of a stack trace, or of the broker's settings
            yield number, line, None
        else:
            yield from heads.read(number, line)
    yield from heads.end()


def _ended(begin: int, logged_at: int | None, held: Sequence[str]) -> Sequence[Entry]:
    """Return the entry of some lines, if there are any."""
    return (Entry(begin, logged_at, "\n".join(held)),) if held else ()


def first_stamp(lines: Iterable[str], layout: str = AUTO) -> str | None:
    """Return the first time stamp of a log as its lines print it, `yyyy-MM-dd HH:mm:ss,SSS`; None = there is none."""
    for entry in entries(lines, "UTC", layout):
        if entry.logged_at is not None:
            return stamp_of(entry.text)
    return None
