"""A log4j pattern such as `%d{ISO8601} [%t] %-5p %c - %m%n`, turned into a reader of its lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from transforms.errors import LayoutError
from transforms.loglines.entries.json_layouts import read_moment

AUTO = "auto"


class Head(NamedTuple):
    """Time of an entry: `yyyy-MM-dd HH:mm:ss,SSS` and its offset from UTC in seconds, None where it has none."""

    stamp: str
    offset: int | None


_WORD, _NAME, _ANY = r"\S*?", r"[\w.$]+", r".*?"

_CONVERSIONS: dict[str, tuple[str, str]] = {
    "p": ("level", r"\w+"),
    "c": ("logger", _NAME),
    "m": ("message", ""),
    "n": ("", ""),
    "t": ("", _ANY),
    "C": ("", _NAME),
    "F": ("", _WORD),
    "L": ("", r"[\d?]*"),
    "M": ("", _WORD),
    "l": ("", _ANY),
    "r": ("", r"\d+"),
    "x": ("", _ANY),
    "X": ("", _ANY),
    "N": ("", r"\d+"),
    "T": ("", r"\d+"),
    "u": ("", _WORD),
    "sn": ("", r"\d+"),
    "ex": ("", ""),
    "%": ("", "%"),
}
"""log4j's conversion to the part that it prints and the regular expression of that."""

_SYNONYMS: dict[str, str] = {
    "level": "p", "le": "p", "logger": "c", "lo": "c", "msg": "m", "message": "m", "thread": "t", "tn": "t",
    "threadName": "t", "class": "C", "file": "F", "line": "L", "method": "M", "location": "l", "relative": "r",
    "NDC": "x", "mdc": "X", "MDC": "X", "K": "X", "map": "X", "nano": "N", "tid": "T", "threadId": "T", "uuid": "u",
    "sequenceNumber": "sn", "exception": "ex", "throwable": "ex", "xEx": "ex", "xThrowable": "ex", "rEx": "ex",
    "rException": "ex", "wEx": "ex", "date": "d",
}  # fmt: skip

_DATES: dict[str, str] = {
    "": "yyyy-MM-dd HH:mm:ss,SSS",
    "DEFAULT": "yyyy-MM-dd HH:mm:ss,SSS",
    "DEFAULT_PERIOD": "yyyy-MM-dd HH:mm:ss.SSS",
    "ISO8601": "yyyy-MM-dd[T ]HH:mm:ss,SSS",
    "ISO8601_PERIOD": "yyyy-MM-dd'T'HH:mm:ss.SSS",
    "ISO8601_OFFSET_DATE_TIME_HH": "yyyy-MM-dd'T'HH:mm:ss,SSSX",
    "ISO8601_OFFSET_DATE_TIME_HHMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXX",
    "ISO8601_OFFSET_DATE_TIME_HHCMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXXX",
    "ISO8601_BASIC": "yyyyMMdd'T'HHmmss,SSS",
    "DATE": "dd MMM yyyy HH:mm:ss,SSS",
    "COMPACT": "yyyyMMddHHmmssSSS",
}
"""log4j's names of date formats. Its older versions print ISO8601 with a space, later ones with a T."""

_DATE_LETTERS: dict[str, tuple[str, str]] = {
    "y": ("year", r"\d{4}"),
    "u": ("year", r"\d{4}"),
    "M": ("month", r"\d{2}"),
    "d": ("day", r"\d{2}"),
    "H": ("hour", r"\d{2}"),
    "m": ("minute", r"\d{2}"),
    "s": ("second", r"\d{2}"),
    "S": ("fraction", r"\d"),
    "n": ("fraction", r"\d"),
    "X": ("zone", r"Z|[+-]\d\d:?(?:\d\d)?"),
    "x": ("zone", r"[+-]\d\d:?(?:\d\d)?"),
    "Z": ("zone", r"[+-]\d{4}"),
}
"""Letter of a date format to the part of the moment and its regular expression, of a fraction for each digit."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NEEDED = ("year", "month", "day", "hour", "minute", "second")

_CONVERSION = re.compile(r"%(?:(%)|-?\d*(?:\.-?\d+)?([A-Za-z]+)((?:\{[^{}]*\})*))")
_LETTERS = re.compile(r"'([^']*)'|([A-Za-z])\2*|\[T \]|.")
_SPACES = re.compile(r"(?:\\ )+")
_TRACE = re.compile(r"\n(?=[\w.$]+(?:Exception|Error|Throwable)\b|\tat |Caused by: )")


@dataclass(frozen=True)
class PatternLayout:
    """Reader of one pattern.

    Attributes:
        pattern: log4j's pattern.
        zone: offset of the time zone that the pattern itself names (UTC only), in seconds.
    """

    pattern: str
    zone: int | None
    _head: Callable[[str], re.Match[str] | None]
    _tail: re.Pattern[str] | None

    def head(self, line: str) -> Head | None:
        """Return the time of an entry if `line` begins one."""
        found = self._head(line)
        if found is None:
            return None
        part = found.groupdict()
        month = part["month"]
        if not month.isdecimal():
            month = f"{_MONTHS.index(month) + 1:02}"
        moment = read_moment(
            f"{part['year']}-{month}-{part['day']}T{part['hour']}:{part['minute']}:{part['second']}"
            f".{part.get('fraction') or '0'}{part.get('zone') or ''}"
        )
        if moment is None:
            return None
        return Head(moment[0], self.zone if moment[1] is None else moment[1])

    def as_kafka_prints(self, text: str) -> str:
        """Return an entry in Kafka's own layout; one that does not begin as the pattern does is left as it is."""
        head, time = self._head(text), self.head(text)
        if head is None or time is None:
            return text
        part = head.groupdict()
        rest = text[head.end() :]
        tail = None if self._tail is None else self._tail.search(rest)
        if tail is None:
            cut = _TRACE.search(rest)
            message, trailer = (rest, "") if cut is None else (rest[: cut.start()], rest[cut.start() :])
        else:
            part.update(tail.groupdict())
            message, trailer = rest[: tail.start()], rest[tail.end() :]
        logger = part.get("logger") or "unknown"
        return f"[{time.stamp}] {part.get('level') or 'INFO'} {message} ({logger}){trailer}"


def compile_layout(pattern: str) -> PatternLayout:
    """Build the reader of a log4j pattern.

    Raises:
        LayoutError: the pattern prints no whole date and time before the message, or no message, or holds a
            conversion that is not known here.
    """
    head, zone, end = _compile(pattern, 0)
    if end is None:
        raise LayoutError(f"layout {pattern!r} has no %m: nothing in its lines is the message")
    missing = [name for name in _NEEDED if f"(?P<{name}>" not in head]
    if missing:
        raise LayoutError(
            f"layout {pattern!r} prints no {missing[0]} before the message: it needs a whole date and time"
        )
    tail, _, _ = _compile(pattern, end)
    expression = re.compile(rf"{tail}\r?$", re.MULTILINE) if tail else None
    return PatternLayout(pattern, zone, re.compile(head).match, expression)


def _compile(pattern: str, begin: int) -> tuple[str, int | None, int | None]:
    """Return the expression of a pattern up to its message or its end, its zone, and where the message ends."""
    regex, zone, at = "", None, begin
    while at < len(pattern):
        conversion = _CONVERSION.match(pattern, at)
        if conversion is None:
            regex += re.escape(pattern[at])
            at += 1
            continue
        at = conversion.end()
        percent, name, options = conversion.groups()
        if percent:
            regex += "%"
            continue
        name, options, at = _known(pattern, name, options, at)
        if name == "m":
            return _SPACES.sub(" +", regex), zone, at
        if name == "d":
            regex += _date(pattern, options)
            zone = 0 if re.search(r"\{(?:UTC|GMT|Z)\}", options or "") else zone
            continue
        part, expression = _CONVERSIONS[name]
        group = f"?P<{part}>" if part and f"?P<{part}>" not in regex else "?:"
        regex += f" *({group}{expression}) *" if expression else ""  # padded on either side
    return _SPACES.sub(" +", regex), zone, None


def _known(pattern: str, name: str, options: str, at: int) -> tuple[str, str, int]:
    """Return the conversion that `name` begins with: `%mfoo` is `%m` and the text foo."""
    for length in range(len(name), 0, -1):
        known = _SYNONYMS.get(name[:length], name[:length])
        if known == "d" or known in _CONVERSIONS:
            rest = len(name) - length
            return (known, options, at) if not rest else (known, "", at - rest - len(options))
    raise LayoutError(f"layout {pattern!r}: %{name} is not known")


def _date(pattern: str, options: str) -> str:
    name = re.match(r"\{([^}]*)\}", options or "")
    text = name.group(1) if name else ""
    regex = ""
    for letters in _LETTERS.finditer(_DATES.get(text, text)):
        quoted, letter = letters.groups()
        run = letters.group()
        if quoted is not None:
            regex += re.escape(quoted or "'")
        elif run == "[T ]":
            regex += run
        elif letter is None:
            regex += "[,.]" if run in ",." else re.escape(run)
        elif run == "MMM":
            regex += f"(?P<month>{'|'.join(_MONTHS)})"
        elif letter in _DATE_LETTERS:
            part, expression = _DATE_LETTERS[letter]
            regex += f"(?P<{part}>{expression * len(run) if part == 'fraction' else expression})"
        else:
            raise LayoutError(f"layout {pattern!r}: {run} in its date is not known")
    return regex
