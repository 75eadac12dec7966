"""Lines that are JSON: events as log4j2's JSON layouts print them, and lines that a collector wrapped.

Both come out as lines of Kafka's own layout, so that everything further on knows one form only. Adding a layout or a
collector means adding a row to a table.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, NamedTuple

from transforms.loglines.entries.prefixes import begins_entry

Json = dict[str, Any]


class Unwrapped(NamedTuple):
    """What a line of JSON holds.

    Attributes:
        text: the original line, or the event as Kafka's default layout prints it.
        stamp: local time of an event, `yyyy-MM-dd HH:mm:ss,SSS`; None for an original line, which has its own.
        offset: seconds east of UTC of that time; None = not said.
        is_part: the original line goes on in the next one.
        is_open: it has no line end where Docker prints one: it goes on, or comes from one who prints none.
        collected: when the collector took an original line, as it prints it; empty = not said.
    """

    text: str
    stamp: str | None = None
    offset: int | None = None
    is_part: bool = False
    collected: str = ""
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """Where the parts of an event stand; a dot leads into an object, unless the name itself has one.

    Attributes:
        name: who prints it.
        time: moment as ISO 8601 text, as log4j's Instant, or as a number of seconds or milliseconds.
        level: log level.
        logger: name of the logger; what tells an event from a wrapped line.
        thrown: stack trace.
        message: what was logged.
    """

    name: str
    time: str
    level: str
    logger: str
    thrown: str
    message: str = "message"


LAYOUTS: tuple[JsonLayout, ...] = (
    JsonLayout("EcsLayout", "@timestamp", "log.level", "log.logger", "error.stack_trace"),
    JsonLayout("LogstashJsonEventLayoutV1", "@timestamp", "level", "logger_name", "exception.stacktrace"),
    JsonLayout("logstash-logback-encoder", "@timestamp", "level", "logger_name", "stack_trace"),
    JsonLayout("JSONEventLayoutV1", "@timestamp", "level", "logger_name", "exception.stacktrace"),
    JsonLayout("JsonLayout", "instant", "level", "loggerName", "thrown.extendedStackTrace"),
    JsonLayout("JsonLayout before 2.11", "timeMillis", "level", "loggerName", "thrown.extendedStackTrace"),
    JsonLayout("JsonLayout with text for time", "timestamp", "level", "loggerName", "thrown"),
    JsonLayout("GcpLayout", "timestamp", "severity", "_logger", "_exception.stackTrace"),
    JsonLayout("GelfLayout", "timestamp", "level", "_logger", "full_message", message="short_message"),
    JsonLayout("names of your own", "timestamp", "level", "logger", "stack_trace"),
    JsonLayout("names of your own", "@timestamp", "level", "logger", "stack_trace"),
    JsonLayout("names of your own", "time", "level", "logger", "stack_trace"),
    JsonLayout("zap", "ts", "level", "logger", "stacktrace", message="msg"),
    JsonLayout("python-json-logger", "asctime", "levelname", "name", "exc_info"),
)
"""Layouts in the order in which they are tried: the first whose time, logger and message are there."""

_NAMELESS = (
    ("time", "@timestamp", "timestamp", "ts", "asctime"),
    ("level", "levelname", "severity", "lvl"),
    ("msg", "message", "event"),
)
"""Fields of events that name no logger: time, level, message."""

ORIGINALS = ("log", "message", "msg", "line", "MESSAGE", "textPayload", "@message")
"""Fields that collectors put the original line in: Docker, Fluent Bit; Filebeat, Fluentd; ...; journald; clouds."""

_COLLECTED = ("time", "@timestamp", "timestamp")
"""Fields that collectors put the time in at which they took a line."""

_TAGS = ("logtag", "_p")
"""Fields that say whether the line of a container is whole (F), or goes on (P)."""

_SYSLOG_LEVELS = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "INFO", "INFO", "DEBUG")
_DECODER = json.JSONDecoder()
_CONTAINER = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) std(?:out|err) ([FP])(?:[:\w]*) ")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))? ?(Z|UTC|[+-]\d\d:?(?:\d\d)?)?")
_SECONDS_END = 1e11
_DEEPEST = 3


def may_be_wrapped(line: str) -> bool:
    """Tell whether a line is worth a call of `unwrap`; cheap."""
    return line[:1] == "{" or (line[10:11] == "T" and " std" in line[19:45])


def unwrap(line: str) -> Unwrapped | None:
    """Return what a line of JSON, or one of a container's log (CRI), holds; None if it is neither."""
    found: Unwrapped | None = None
    for _ in range(_DEEPEST):
        inner = _json(line) if line[:1] == "{" else _container(line)
        if inner is None:
            break
        found = inner if found is None or inner.collected else inner._replace(collected=found.collected)
        line = inner.text
        if inner.stamp is not None:
            break
    return found


def _container(line: str) -> Unwrapped | None:
    head = _CONTAINER.match(line)
    if head is None:
        return None
    return Unwrapped(line[head.end() :], is_part=head[1] == "P", collected=head[0].partition(" ")[0])


def _json(line: str) -> Unwrapped | None:
    try:
        fields, _ = _DECODER.raw_decode(line)
    except (ValueError, RecursionError):
        return None
    for layout in LAYOUTS:
        event = _event(layout, fields)
        if event is not None:
            return event
    if (event := _nameless_event(fields)) is not None:
        return event
    for name in ORIGINALS:
        original = fields.get(name)
        if isinstance(original, str):
            tag = next((tag for each in _TAGS if (tag := fields.get(each)) is not None), None)
            # Docker cuts long lines into pieces; only the last one ends in a newline.
            is_open = name == "log" and "stream" in fields and tag is None and not original.endswith("\n")
            collected = next((at for name in _COLLECTED if isinstance(at := fields.get(name), str)), "")
            return Unwrapped(original.rstrip("\r\n"), None, None, tag == "P", collected, is_open)
    return None


def _event(layout: JsonLayout, fields: Json) -> Unwrapped | None:
    time, logger, message = (_get(fields, name) for name in (layout.time, layout.logger, layout.message))
    if time is None or not isinstance(logger, str) or not isinstance(message, str):
        return None
    moment = _moment(time)
    if moment is None:
        return None
    stamp, offset = moment
    text = f"[{stamp}] {_level(_get(fields, layout.level))} {message} ({logger})"
    thrown = _get(fields, layout.thrown)
    if isinstance(thrown, str) and thrown and thrown != message:
        text += "\n" + thrown.rstrip("\r\n")
    return Unwrapped(text, stamp, offset)


def _nameless_event(fields: Json) -> Unwrapped | None:
    """Return an event that names no logger, as applications print them: what has a time, a level and a message.

    A line that a collector took may have got a time and a level from it: it begins like an entry.
    """
    time, level, message = (next((fields[name] for name in names if name in fields), None) for names in _NAMELESS)
    if time is None or not isinstance(level, (str, int)) or not isinstance(message, str) or begins_entry(message):
        return None
    moment = _moment(time)
    return None if moment is None else Unwrapped(f"[{moment[0]}] {_level(level)} {message}", *moment)


def _get(fields: Json, name: str) -> Any:
    """Return a field by its name, dots and all, or by the path that its name is."""
    if name in fields or "." not in name:
        return fields.get(name)
    first, _, rest = name.partition(".")
    below = fields.get(first)
    return _get(below, rest) if isinstance(below, dict) else None


def _level(value: Any) -> str:
    if isinstance(value, int) and 0 <= value < len(_SYSLOG_LEVELS):
        return _SYSLOG_LEVELS[value]
    return value.upper() if isinstance(value, str) and value.isalpha() else "INFO"


def _moment(value: Any) -> tuple[str, int | None] | None:
    """Return a moment as local time, and how far east of UTC that is."""
    if isinstance(value, str):
        return read_moment(value)
    if isinstance(value, dict):
        value = _number(value.get("epochSecond")) * 1000 + _number(value.get("nanoOfSecond")) // 1_000_000
    number = _number(value)
    milliseconds = round(number * 1000 if number < _SECONDS_END else number)
    try:
        second = datetime.fromtimestamp(milliseconds // 1000, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None
    return (f"{second:%Y-%m-%d %H:%M:%S},{milliseconds % 1000:03}", 0) if milliseconds > 0 else None


def _number(value: Any) -> float | int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and abs(value) < 1e15 else 0  # which NaN is not


def read_moment(text: str) -> tuple[str, int | None] | None:
    """Read ISO 8601 into `yyyy-MM-dd HH:mm:ss,SSS` and the offset in seconds, None where it has none."""
    found = _MOMENT.match(text)
    if found is None:
        return None
    day, clock, fraction, zone = found.groups()
    return f"{day} {clock},{(fraction or '0').ljust(3, '0')[:3]}", None if zone is None else _offset(zone)


def _offset(zone: str) -> int:
    if zone in ("Z", "UTC"):
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if zone[0] == "-" else seconds
