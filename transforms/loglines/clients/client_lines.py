"""One log entry of a Java consumer to a row of `silver.client_events`.

Consumers log by the layout of whatever application they are part of. What their lines have in common is the prefix, so
the message is found by that, whatever stands before it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from transforms.loglines.clients.fields import empty_row
from transforms.loglines.clients.tables import GROUP_CLASSES, LOGGERS, PREFIXES, candidates
from transforms.loglines.entries.layouts import Parts
from transforms.loglines.templates.blocks import IGNORED
from transforms.loglines.templates.matching import Row

_PREFIX_WITHIN = 400
"""The prefix begins this near to the beginning of an entry: behind time, level, thread and logger."""

_PREFIX = re.compile(r"\[(?:Consumer|Worker) (?:instanceId=(.*?), )?clientId=(.*?), groupId=(.*?)\] ", re.DOTALL)
_GROUP_CLASS = re.compile(rf"(?:{'|'.join(GROUP_CLASSES)})\b")
_IS_DETAIL = re.compile(r"\b(?:DEBUG|TRACE)\b")
_NO_ID = ("<no ID>", "Optional.empty")


def is_client_line(text: str) -> bool:
    """Tell whether an entry carries the prefix of a consumer; cheap."""
    return any(text.find(prefix, 0, _PREFIX_WITHIN) >= 0 for prefix in PREFIXES)


def is_of_old_client(parts: Parts) -> bool:
    """Tell whether an entry is of a consumer before 1.0, which has no prefix."""
    return parts.logger in LOGGERS


def read_client_line(parts: Parts) -> Row | None:
    """Return what an entry says of a consumer's membership; None if it says nothing.

    A line about the group that is not in the pattern tables gives a row of event `unrecognised`.
    """
    prefix = _PREFIX.search(parts.message, 0, _PREFIX_WITHIN * 4)
    begin = 0 if prefix is None else prefix.end()
    row = _match(parts.message[begin:].rstrip())
    if row is None:
        if not _is_about_a_group(parts, begin):
            return None
        row = empty_row()
        row["event"], row["reason"] = "unrecognised", parts.message[begin:].rstrip()
    if row["event"] == IGNORED:
        return None
    if prefix is not None:
        if prefix[3] == "null":
            return None
        _identify(row, *_texts(prefix.group()))
    if row["member_id"] in _NO_ID:
        row["member_id"] = ""
    if row["reason"] == "null":  # a cause without a text
        row["reason"] = None
    return row


@lru_cache(maxsize=4096)
def _texts(prefix: str) -> tuple[str | None, str, str]:
    """Return instance, client and group of a prefix."""
    found = _PREFIX.fullmatch(prefix)
    assert found is not None
    return found[1], found[2], found[3]


def _identify(row: Row, instance: str | None, client_id: str, group_id: str) -> None:
    row["client_id"], row["group_id"] = client_id, group_id
    if instance is not None:
        row["group_instance_id"] = instance


def _match(message: str) -> Row | None:
    """Return the row of a message; one that does not match whole may have a stack trace behind its first line."""
    for text in (message, message.partition("\n")[0]) if "\n" in message else (message,):
        for pattern in candidates(text):
            row = pattern.read(text)
            if row is not None:
                return row
    return None


def _is_about_a_group(parts: Parts, begin: int) -> bool:
    """Tell whether a line is of a class that writes of groups, and not one of the details of debugging."""
    before = f"{parts.level} {parts.message[:begin]} {parts.logger}"
    return _GROUP_CLASS.search(before) is not None and _IS_DETAIL.search(before) is None
