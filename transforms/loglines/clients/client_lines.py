"""One log entry of a Java consumer to a fact of `silver.client_events`.

Consumers log by the layout of whatever application they are part of. What their lines have in common is the prefix, so
the message is found by that, whatever stands before it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from transforms.loglines.clients.refusals import name_refusal
from transforms.loglines.clients.tables import LINES
from transforms.loglines.entries.layouts import Parts
from transforms.loglines.facts import ClientEvent
from transforms.loglines.templates.matching import IGNORED

_CLIENTS = ("Consumer", "ShareConsumer", "Worker")  # the last of Connect, whose coordinator is the same class

PREFIXES = tuple(f"[{client} " for client in _CLIENTS)
"""Beginnings of the prefix (log context) that lines of clients carry."""

_PREFIX_WITHIN = 400
"""The prefix begins this near to the beginning of an entry: behind time, level, thread and logger."""

_PREFIX = re.compile(rf"\[(?:{'|'.join(_CLIENTS)}) (?:instanceId=(.*?), )?clientId=(.*?), groupId=(.*?)\] ", re.DOTALL)

_INTERNALS = "org.apache.kafka.clients.consumer.internals."
_LOGGERS = frozenset({_INTERNALS + "AbstractCoordinator", _INTERNALS + "ConsumerCoordinator"})
"""Loggers of lines that have no prefix (0.11)."""

_GROUP_CLASSES = (
    "AbstractCoordinator",
    "ConsumerCoordinator",
    "WorkerCoordinator",
    "ConsumerRebalanceListenerInvoker",
    "MembershipManager",
    "MembershipManagerImpl",
    "HeartbeatRequestManager",
)
"""Classes, by the ends of their names, that write of nothing but their group: lines that no template fits count."""

_GROUP_CLASS = re.compile(rf"(?:{'|'.join(_GROUP_CLASSES)})\b")
_IS_DETAIL = re.compile(r"\b(?:DEBUG|TRACE)\b")
_NO_ID = ("<no ID>", "Optional.empty")


def is_client_line(text: str) -> bool:
    """Tell whether an entry carries the prefix of a consumer; cheap."""
    return any(text.find(prefix, 0, _PREFIX_WITHIN) >= 0 for prefix in PREFIXES)


def is_of_old_client(parts: Parts) -> bool:
    """Tell whether an entry is of a consumer before 1.0, which has no prefix."""
    return parts.logger in _LOGGERS


def read_client_line(parts: Parts) -> ClientEvent | None:
    """Return what an entry says of a consumer's membership; None if it says nothing.

    A line about the group that no template fits gives an event `unrecognised`.
    """
    prefix = _PREFIX.search(parts.message, 0, _PREFIX_WITHIN * 4)
    begin = 0 if prefix is None else prefix.end()
    message = parts.message[begin:].rstrip()
    event = _match(message)
    if event is None:
        if not _is_about_a_group(parts, begin):
            return None
        event = ClientEvent("unrecognised", reason=message, client_software="java")
    if event.event == IGNORED:
        return None
    if prefix is not None:
        if prefix[3] == "null":
            return None
        _identify(event, *_texts(prefix.group()))
    if event.member_id in _NO_ID:
        event.member_id = ""
    if event.reason == "null":  # a cause without a text
        event.reason = None
    name_refusal(event, message)
    return event


@lru_cache(maxsize=4096)
def _texts(prefix: str) -> tuple[str | None, str, str]:
    """Return instance, client and group of a prefix."""
    found = _PREFIX.fullmatch(prefix)
    assert found is not None
    return found[1], found[2], found[3]


def _identify(event: ClientEvent, instance: str | None, client_id: str, group_id: str) -> None:
    event.client_id, event.group_id = client_id, group_id
    if instance is not None:
        event.group_instance_id = instance


def _match(message: str) -> ClientEvent | None:
    """Read a message; one that no template fits whole may have a stack trace behind its first line."""
    event = LINES.read(message)
    if event is None and "\n" in message:
        event = LINES.read(message.partition("\n")[0])
    return event


def _is_about_a_group(parts: Parts, begin: int) -> bool:
    """Tell whether a line is of a class that writes of groups, and not one of the details of debugging."""
    before = f"{parts.level} {parts.message[:begin]} {parts.logger}"
    return _GROUP_CLASS.search(before) is not None and _IS_DETAIL.search(before) is None
