"""What those who show or ship the lines of a log put in front of each: a time, or the name of who printed it.

Taken off is what stands before the beginning of an entry alone: applications print much that looks alike.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ENTRY = r"(?=\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d|\{)"
"""Entries of Kafka's layout, of Strimzi's, of applications, and JSON."""

_PROGRAM = r"\S+ [^\s:\[]+(?:\[\d+\])?: "

_TIMED = re.compile(
    r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d))[ \t]+"
    rf"(?:[\w.-]+\t|{_PROGRAM})?{_ENTRY}",
    re.ASCII,
)
"""`kubectl logs --timestamps`, `docker logs -t`, `journalctl -o short-iso`, Fluentd's files, exports of clouds."""

_NAMED = re.compile(
    r"(?:(?P<name>[\w.-]+ *\| |\[pod/[^\]\s]+\] )"
    rf"|(?:<\d{{1,3}}>)?[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d {_PROGRAM}"
    rf"|<\d{{1,3}}>1 \S+ \S+ \S+ \S+ \S+ (?:-|\[[^\]]*\]) ?){_ENTRY}",
    re.ASCII,
)
"""`docker compose logs`, `kubectl logs --prefix`, journalctl and syslog, the latter in its old form and its new one."""


_BEGINS = re.compile(_ENTRY, re.ASCII)


class Peeled(NamedTuple):
    """A line without what stood in front of it.

    Attributes:
        text: the rest.
        collected: the time that stood in front, as it was printed; empty = none did.
        name: what stood in front, if it stands in front of each line of its printer; else empty.
    """

    text: str
    collected: str = ""
    name: str = ""


def peeled(line: str) -> Peeled | None:
    """Take off what stands in front of the beginning of an entry; None where nothing does. Cheap for most lines."""
    first = line[:1]
    if first == "[" and line[1:2] != "p":
        return None
    if first.isdecimal():
        found = _TIMED.match(line) if line[10:11] == "T" else None
        return None if found is None else Peeled(line[found.end() :], collected=found["at"])
    found = _NAMED.match(line)
    return None if found is None else Peeled(line[found.end() :], name=found["name"] or "")


def begins_entry(line: str) -> bool:
    """Tell whether a line looks like the beginning of an entry."""
    return _BEGINS.match(line) is not None
