"""The layouts that a log file can be printed in: where an entry begins and which part of its text is what.

A layout tells, of a line, whether it begins an entry and at which local time, and of an entry, its level, message
and logger. Adding a layout means adding a row to `LAYOUTS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from transforms.loglines.entries.application_heads import begin_of

_STAMP = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}[,.][0-9]{3}"
_STAMP_LENGTH = 23

# The message ends where a logger in parentheses ends a line. What may follow there is a line number (Connect) or
# the name of the thread (Strimzi).
_LOGGER_TAIL = re.compile(r" ?\(([\w.$]+)(?::\d+)?\)(?: \[[^\]\n]*\])?[ \t\r]*$", re.MULTILINE)


_LEVELS_WITH_TRACE = frozenset({"WARN", "ERROR", "FATAL"})


@dataclass(frozen=True, slots=True)
class Layout:
    """How an entry begins, up to its level.

    Attributes:
        name: log4j's conversion pattern.
        before: characters before the time stamp.
        after: characters between the time stamp and the level.
        head_length: characters before the level.
    """

    name: str
    before: str
    after: str
    head_length: int = field(init=False)
    _match: Callable[[str], re.Match[str] | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the head of an entry."""
        head = re.compile(f"{re.escape(self.before)}({_STAMP}){re.escape(self.after)}")
        object.__setattr__(self, "_match", head.match)
        object.__setattr__(self, "head_length", len(self.before) + _STAMP_LENGTH + len(self.after))

    def stamp(self, line: str) -> str | None:
        """Return the time stamp if `line` begins an entry in this layout, else None."""
        match = self._match(line)
        return None if match is None else match.group(1)


KAFKA = Layout("[%d] %p %m (%c)%n", before="[", after="] ")
STRIMZI = Layout("%d{ISO8601} %p %m (%c) [%t]%n", before="", after=" ")

LAYOUTS = (KAFKA, STRIMZI)
"""Layouts in the order in which they are tried: Kafka's own, and the one of Strimzi's images."""


class Parts(NamedTuple):
    """An entry taken apart.

    Attributes:
        level: log level, e.g. INFO.
        message: what was logged.
        logger: name of the logger; empty where the entry shows none.
        trailer: lines after the one that ends the message, e.g. a stack trace.
    """

    level: str
    message: str
    logger: str
    trailer: str


def head_length(text: str) -> int:
    """Return where the level begins in an entry, of an application what follows its time; -1 if it begins with none."""
    if text[:1] == "[" and text[24:26] == "] " and text[5:6] == "-" and text[20:21] in ",.":
        return KAFKA.head_length
    for layout in LAYOUTS:
        if layout.stamp(text) is not None:
            return layout.head_length
    begin = begin_of(text)
    return -1 if begin is None else begin.end


def stamp_of(text: str) -> str:
    """Return the time stamp that an entry begins with, as `yyyy-MM-dd HH:mm:ss,SSS`; empty if it begins with none."""
    for layout in LAYOUTS:
        stamp = layout.stamp(text)
        if stamp is not None:
            return stamp
    begin = begin_of(text)
    return "" if begin is None else begin.head.stamp


def take_apart(text: str, head: int) -> Parts:
    """Split an entry into its parts; `head` is where its level begins."""
    if text.endswith(")") and "\n" not in text:  # most entries
        begin = text.rfind(" (")
        logger = text[begin + 2 : -1]
        space = text.find(" ", head)
        if head < space < begin and " " not in logger and ":" not in logger:
            return Parts(text[head:space], text[space:begin].lstrip(" "), logger, "")
    level, _, rest = text[head:].lstrip(" ").partition(" ")
    rest = rest.lstrip(" ")  # %-5p pads the level
    end = rest.find("\n")
    first = rest if end < 0 else rest[:end]
    if first.endswith(")"):
        begin = first.rfind(" (")
        logger = first[begin + 2 : -1]
        if begin >= 0 and " " not in logger and ":" not in logger:
            return Parts(level, first[:begin], logger, "" if end < 0 else rest[end + 1 :])
    tail = _LOGGER_TAIL.search(rest)
    if tail is None:
        return Parts(level, rest, "", "")
    return Parts(level, rest[: tail.start()], tail.group(1), rest[tail.end() :].lstrip("\r\n"))


def may_grow(text: str, is_fresh: bool) -> bool:
    """Tell whether further lines may belong to an entry that ends a file.

    Args:
        text: the entry.
        is_fresh: it was written just now.
    """
    if not text.startswith(KAFKA.before):
        return False  # its layout need not close a message with the logger
    closed = _LOGGER_TAIL.search(text)
    if closed is None:
        return KAFKA.stamp(text) is not None
    level = text[KAFKA.head_length :].partition(" ")[0]
    return is_fresh and level in _LEVELS_WITH_TRACE
