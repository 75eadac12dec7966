"""One entry of a log to rows of the silver tables; the only door into this package for what reads logs."""

from __future__ import annotations

from typing import Any, NamedTuple

from transforms.loglines.broker.broker_lines import SETTINGS_MARKER, VERSION_MARKER, read_broker_line
from transforms.loglines.broker.coordinator_lines import read_coordinator_line
from transforms.loglines.broker.tables import COMMIT_DETAILS
from transforms.loglines.clients.client_lines import is_client_line, is_of_old_client, read_client_line
from transforms.loglines.clients.tables import PREFIXES
from transforms.loglines.entries.layouts import Parts, head_length, take_apart
from transforms.loglines.requests.request_log import (
    BadRequestLineError,
    begin_of_request,
    is_group_request,
    read_request_line,
)

COORDINATOR_MARKER = "oordinator"

_MARKERS = (COORDINATOR_MARKER, SETTINGS_MARKER, VERSION_MARKER, *PREFIXES)
"""An entry that holds none of these and is no request gives no row, whatever else it holds."""


class Parsed(NamedTuple):
    """A row and the table that it belongs to.

    `row` holds the table's columns without those that only the reader of the file knows (cluster, broker,
    source_file, line_number, loaded_at; of `rejected` also source, position, seen_at). Times are epoch milliseconds.
    """

    table: str
    row: dict[str, Any]


def parse_entry(text: str, logged_at: int | None) -> list[Parsed]:
    """Read one entry of a log.

    Args:
        text: the entry, see `transforms.loglines.entries.entries`.
        logged_at: its time in epoch milliseconds; None for text before the first time stamp of a file.

    Returns:
        Rows of `coordinator_events`, `group_requests`, `client_events` or `rejected`; none for an entry that tells
        nothing of groups. Never more than one row of `rejected`.
    """
    if logged_at is None:
        return [_rejected("no_timestamp", "text before the first time stamp of the file", text)] if text.strip() else []
    begin = begin_of_request(text)
    if begin >= 0 and not is_group_request(text, begin):
        return []
    if begin < 0 and not any(map(text.__contains__, _MARKERS)):
        return []
    head = head_length(text)
    if head < 0:  # an overlong entry goes on in further ones, which have no head
        return []
    if begin >= 0:
        return _request(text, begin, logged_at)
    if text.startswith("DEBUG", head) and any(detail in text for detail in COMMIT_DETAILS):
        return []
    parts = take_apart(text, head)
    if is_client_line(text) or is_of_old_client(parts):
        return _client(parts, logged_at)
    broker_row = read_broker_line(parts)
    rows = [broker_row] if broker_row is not None else read_coordinator_line(parts)
    for row in rows:
        row["logged_at"] = logged_at
    return [Parsed("coordinator_events", row) for row in rows]


def _client(parts: Parts, logged_at: int) -> list[Parsed]:
    row = read_client_line(parts)
    if row is None:
        return []
    row["logged_at"] = logged_at
    return [Parsed("client_events", row)]


def _request(text: str, begin: int, logged_at: int) -> list[Parsed]:
    try:
        return [Parsed("group_requests", row) for row in read_request_line(text, begin, logged_at)]
    except BadRequestLineError as problem:
        return [_rejected(problem.code, str(problem), text)]


def _rejected(reason_code: str, detail: str, text: str) -> Parsed:
    raw = text.encode("utf-8", "backslashreplace")
    return Parsed("rejected", {"reason_code": reason_code, "detail": detail, "raw": raw})
