"""All that is known of one group, in one order.

Three depths of evidence meet here: records of `__consumer_offsets`, lines of broker logs, and the request log with
its answers. None of them carries the moment at which the coordinator did the thing; each shows it a little off:

* a request was taken up when its time in the queue was over, but the time of its log line is late by up to a few ms;
  the order of requests on one connection is exact, since a broker answers one before it reads the next;
* a line has whole milliseconds, so it stands half a millisecond later in the order;
* a record or line can look up to 5 ms older than the request that caused it: records come as confirmation, late.

Input rows are those of the silver tables, times as epoch ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from operator import attrgetter
from typing import Any

from transforms.coordinator.answers import Error
from transforms.coordinator.requests import Leaver, Request

Row = Mapping[str, Any]

LINE_DELAY_MS = 0.5
"""A line's whole millisecond began up to one before it was written; its middle is the best guess."""

RECORD_DELAY_MS = 10.0
"""How late a record is applied, so that what caused it has been handled by then."""

STORE_MS = 5.0
"""An answer that was held back longer waited for something: for the leader, or for the log."""

CLASSIC_APIS = frozenset(
    {"JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "TxnOffsetCommit", "DeleteGroups"}
)
MODERN_HEARTBEATS = frozenset({"ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat"})
_REPLAYED_APIS = CLASSIC_APIS | MODERN_HEARTBEATS


class Kind(IntEnum):
    """Kinds of evidence, in the order in which those of one moment are taken."""

    REQUEST = 0
    ANSWER = 1
    LINE = 2
    RECORD = 3


@dataclass(slots=True)
class Exchange:
    """A request and the broker's answer to it.

    Attributes:
        handled_at: estimate of when the coordinator took it up (epoch ms).
        observed_generation: generation in the answer of a successful JoinGroup.
        row: the silver row.
    """

    request: Request
    handled_at: float
    answered_at: float
    observed_error: int
    observed_generation: int | None
    parked_ms: float
    row: Row


@dataclass(slots=True)
class Item:
    """One piece of evidence: when it takes its place in the order, and what it is.

    Attributes:
        order: place among those of one moment and kind: that of its source.
        holds: how often it was put off because its cause had not been handled yet.
    """

    at: float
    kind: Kind
    order: tuple[Any, ...]
    exchange: Exchange | None = None
    row: Row | None = None
    holds: int = 0

    @property
    def rank(self) -> tuple[Any, ...]:
        """Order of evidence: moment, kind, then the order of its source."""
        return (self.at, self.kind, self.order)


def in_order(records: Iterable[Row], events: Iterable[Row], requests: Iterable[Row]) -> list[Item]:
    """Return a group's evidence in the order in which the replay takes it.

    The result depends on the set of rows only, not on the order in which they come.
    """
    items = [
        Item(
            row["recorded_at"] + RECORD_DELAY_MS,
            Kind.RECORD,
            (row["topic_partition_of_record"], row["record_offset"]),
            row=row,
        )
        for row in records
    ]
    items += [
        Item(row["logged_at"] + LINE_DELAY_MS, Kind.LINE, (*_line_order(row), row["seq"]), row=row)
        for row in events
        if row["logged_at"] is not None
    ]
    for exchange in _exchanges(requests):
        order = _line_order(exchange.row)
        items.append(Item(exchange.handled_at, Kind.REQUEST, order, exchange))
        if exchange.observed_error == Error.NONE and exchange.request.api in ("JoinGroup", "SyncGroup"):
            items.append(Item(max(exchange.answered_at, exchange.handled_at), Kind.ANSWER, order, exchange))
    items.sort(key=_rank)
    return items


_rank = attrgetter("at", "kind", "order")


def _line_order(row: Row) -> tuple[str, int]:
    return (row["source_file"], row["line_number"])


def _exchanges(rows: Iterable[Row]) -> list[Exchange]:
    """Turn request rows into exchanges, requests of one connection in their exact order."""
    last: dict[tuple[str, str], float] = {}
    exchanges = []
    ordered = sorted(
        (row for row in rows if row["api"] in _REPLAYED_APIS),
        key=lambda row: (row["connection"] or "", row["correlation_id"] or 0, _line_order(row), row["seq"]),
    )
    for token, row in enumerate(ordered):
        connection = (row["broker"], row["connection"] or f"{row['source_file']}:{row['line_number']}")
        handled_at = row["handled_at"]
        if handled_at is None:
            handled_at = row["answered_at"]
        last[connection] = handled_at = max(float(handled_at), last.get(connection, 0.0) + 0.001)
        exchanges.append(_exchange(token, row, handled_at))
    return exchanges


def _exchange(token: int, row: Row, handled_at: float) -> Exchange:
    api = row["api"]
    generation, partition_errors = row["generation"], row["partition_errors"]
    request = Request(
        token,
        api,
        row["api_version"] or 0,
        row["member_id"] or "",
        row["group_instance_id"],
        -1 if generation is None else generation,
    )
    error = row["error_code"]
    if partition_errors:
        codes = {int(code) for code in partition_errors}
        error = _group_error(codes)
        request.unknown_topics_only = codes == _UNKNOWN_TOPICS
    read_more = _FIELDS_OF_API.get(api)
    if read_more is not None:
        read_more(request, row)
    return Exchange(
        request,
        handled_at,
        float(row["answered_at"]),
        error,
        row["answered_generation"] if api == "JoinGroup" and error == 0 else None,
        row["parked_ms"] or 0.0,
        row,
    )


def _join_fields(request: Request, row: Row) -> None:
    request.client_id, request.client_host = row["client_id"], row["client_host"]
    request.session_timeout_ms = row["session_timeout_ms"] or 0
    request.rebalance_timeout_ms = _rebalance_timeout(row)
    request.protocol_type, request.reason = row["protocol_type"], row["reason"]
    request.protocols = tuple((entry["name"], bytes(entry["metadata"] or b"")) for entry in row["protocols"] or ())
    if not request.member_id:
        request.given_member_id = row["answered_member_id"] or None


def _sync_fields(request: Request, row: Row) -> None:
    request.protocol_type, request.protocol = row["protocol_type"], row["protocol"]
    request.is_unstored = bool(row["error_code"]) and (row["parked_ms"] or 0.0) > STORE_MS
    request.assignments = {entry["member_id"]: bytes(entry["assignment"] or b"") for entry in row["assignments"] or ()}


def _leave_fields(request: Request, row: Row) -> None:
    request.leavers = tuple(
        Leaver(entry["member_id"] or "", entry["group_instance_id"], entry["reason"])
        for entry in row["leaving_members"] or ()
    )


_FIELDS_OF_API = {"JoinGroup": _join_fields, "SyncGroup": _sync_fields, "LeaveGroup": _leave_fields}
"""What a request has beside what all have; heartbeats and commits, by far the most, have nothing."""

_UNKNOWN_TOPICS = {int(Error.UNKNOWN_TOPIC_OR_PARTITION)}
_OF_PARTITIONS = frozenset(
    {Error.UNKNOWN_TOPIC_OR_PARTITION, Error.OFFSET_METADATA_TOO_LARGE, Error.TOPIC_AUTHORIZATION_FAILED}
)
"""Errors of single partitions in a commit: the broker's, not the group's."""


def _group_error(partition_errors: set[int]) -> int:
    """Return what the group answered to a commit.

    A group refuses all partitions with one error. Metadata that is too large is found after the group has let the
    commit in, so it counts as let in; topics the broker refuses never reach the group.
    """
    of_group = partition_errors - _OF_PARTITIONS
    if of_group or Error.OFFSET_METADATA_TOO_LARGE in partition_errors:
        return min(of_group - {Error.NONE}, default=int(Error.NONE))
    return min(partition_errors)


def _rebalance_timeout(row: Row) -> int:
    """Rebalance timeout of a joiner; JoinGroup v0 has none and means the session timeout."""
    timeout = row["rebalance_timeout_ms"]
    if timeout is None or timeout < 0:
        timeout = row["session_timeout_ms"]
    return timeout or 0
