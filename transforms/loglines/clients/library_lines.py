"""One entry of an application's log to a fact of `silver.client_events`: what other libraries than Java's print."""

from __future__ import annotations

from transforms.loglines.clients import applications
from transforms.loglines.clients.libraries import LIBRARIES, Library, Message
from transforms.loglines.clients.libraries import MARKERS as OF_LIBRARIES
from transforms.loglines.clients.refusals import name_refusal
from transforms.loglines.entries.layouts import Parts
from transforms.loglines.facts import ClientEvent
from transforms.loglines.templates.matching import IGNORED, Index

MARKERS = (*OF_LIBRARIES, *applications.MARKERS)
"""An entry that holds none of these is no line of such a library, nor an application's word of it."""

_TOLD = Index(applications.APPLICATIONS)
_LONGEST = 16 << 10
"""Of an application's line so much is looked through, in characters: exceptions stand at its beginning."""


_LOGGERS = ("kafka.coordinator", "aiokafka.", "rdkafka")


def read_library_line(text: str, parts: Parts) -> ClientEvent | None:
    """Return what an entry says of a consumer's membership; None if it says nothing.

    A line about the group that no template fits gives an event `unrecognised`.

    Args:
        text: the entry behind its time.
        parts: the same, taken apart as brokers print it.
    """
    if parts.logger.startswith(_LOGGERS):
        text = f"{parts.level} {parts.logger} {_message(parts)}"  # where Python's own layouts have the logger
    for library in LIBRARIES:
        if any(map(text.__contains__, library.markers)):
            message = library.find(text)
            if message is not None:
                return _read(library, message)
    if not any(map(text.__contains__, applications.MARKERS)):
        return None
    told = (_message(parts) if parts.logger else text)[:_LONGEST].rstrip()
    event = _TOLD.read(told)
    if event is not None:
        name_refusal(event, told)
    return event


def _message(parts: Parts) -> str:
    return f"{parts.message}\n{parts.trailer}" if parts.trailer else parts.message


def _read(library: Library, message: Message) -> ClientEvent | None:
    text = message.text.rstrip("\r\n")
    event = library.lines.read(text.partition("\n")[0])  # what may follow is a stack trace
    if event is None:
        if not message.is_group:
            return None
        event = ClientEvent("unrecognised", reason=text, client_software=library.name)
    if event.event == IGNORED:
        return None
    if message.client_id is not None:
        event.client_id = message.client_id
    name_refusal(event, text)
    return event
