"""One entry of a log to the facts that it tells; the only door into this package for what reads logs."""

from __future__ import annotations

from collections.abc import Sequence

from transforms.errors import LineError, NoTimestamp
from transforms.loglines.broker.broker_lines import (
    CLASS_PATH_MARKER,
    GROUP_SETTINGS_MARKER,
    SETTINGS_MARKER,
    VERSION_MARKER,
    read_broker_line,
)
from transforms.loglines.broker.coordinator_lines import read_coordinator_line
from transforms.loglines.broker.dialects import COMMIT_DETAILS, MARKER, dialect_of
from transforms.loglines.clients.client_lines import PREFIXES, is_client_line, is_of_old_client, read_client_line
from transforms.loglines.clients.library_lines import MARKERS as LIBRARY_MARKERS
from transforms.loglines.clients.library_lines import read_library_line
from transforms.loglines.entries.layouts import head_length, take_apart
from transforms.loglines.facts import Fact, Rejected
from transforms.loglines.requests.request_log import api_of_request, begin_of_request, read_request_line

_MARKERS = (
    MARKER,
    SETTINGS_MARKER,
    GROUP_SETTINGS_MARKER,
    VERSION_MARKER,
    CLASS_PATH_MARKER,
    *PREFIXES,
    *(each for each in LIBRARY_MARKERS if MARKER not in each),
)
"""An entry that holds none of these and is no request tells nothing, whatever else it holds."""

_NO_REQUEST = -1
"""In the place of the key of an API: an entry of another log."""


def may_tell(text: str, logged_at: int | None) -> bool:
    """Tell, cheaply, whether some reader may make something of an entry.

    Of any other entry `parse_entry` returns nothing, by the very same look at it: not even that it cannot be read.

    Args:
        text: the entry.
        logged_at: its time in epoch milliseconds.
    """
    if logged_at is None:
        return bool(text.strip())
    known = _first_look(text, begin_of_request(text))
    return known is not None and not (known == _NO_REQUEST and _is_commit_detail(text, head_length(text)))


def parse_entry(text: str, logged_at: int | None) -> Sequence[Fact]:
    """Read one entry of a log.

    Args:
        text: the entry, see `transforms.loglines.entries.entries`.
        logged_at: its time in epoch milliseconds; None for text before the first time stamp of a file.

    Returns:
        Facts of one kind; none for an entry that tells nothing of groups. Never more than one `Rejected`.
    """
    if logged_at is None:
        return [_rejected(NoTimestamp("text before the first time stamp of the file"), text)] if text.strip() else []
    begin = begin_of_request(text)
    key = _first_look(text, begin)
    if key is None:
        return []
    head = head_length(text)
    if head < 0:  # an overlong entry goes on in further ones, which have no head
        return []
    if key != _NO_REQUEST:
        try:
            return read_request_line(text, begin, key, logged_at)
        except LineError as problem:
            return [_rejected(problem, text)]
    return [] if _is_commit_detail(text, head) else _events(text, head, logged_at)


def _first_look(text: str, begin: int) -> int | None:
    """Return the key of the API of a request, `_NO_REQUEST` for another entry that may tell something, None for none.

    Args:
        text: the entry.
        begin: where the message of a request begins; negative = it is no request.
    """
    if begin >= 0:
        return api_of_request(text, begin)
    return _NO_REQUEST if any(map(text.__contains__, _MARKERS)) else None


def _is_commit_detail(text: str, head: int) -> bool:
    return head >= 0 and text.startswith("DEBUG", head) and any(map(text.__contains__, COMMIT_DETAILS))


def _events(text: str, head: int, logged_at: int) -> Sequence[Fact]:
    parts = take_apart(text, head)
    if is_client_line(text) or is_of_old_client(parts):
        said = read_client_line(parts)
        if said is None:
            return []
        said.logged_at = logged_at
        return [said]
    of_broker = read_broker_line(parts)
    events = [of_broker] if of_broker is not None else read_coordinator_line(parts)
    if not events and dialect_of(parts.logger) is None:
        is_of_librdkafka = text.startswith("%")  # its level stands before the time, and says what the line is
        told = read_library_line(text if is_of_librdkafka else text[head:], parts)
        if told is not None:
            told.logged_at = logged_at
            return [told]
    for event in events:
        event.logged_at = logged_at
    return events


def _rejected(problem: LineError, text: str) -> Rejected:
    return Rejected(problem.code, str(problem), text.encode("utf-8", "backslashreplace"))
