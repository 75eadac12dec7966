"""Puts evidence into its one order.

* A request is handled when its time in the queue is over, but the time of its log line is late by up to a few ms; the
  order of requests on one connection is exact, since a broker answers one before it reads the next.
* An answer stands where it was sent; only those that prove something stand there on their own.
* A line has whole milliseconds, so it stands half a millisecond later.
* A record can look older than the request that caused it: records come as confirmation, late.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from msgspec import Struct, field

from schemas.rows import CoordinatorEventRow, GroupMetadataRow, GroupRequestRow
from transforms.coordinator.evidence.items import Item, Kind
from transforms.coordinator.evidence.tolerances import LINE_DELAY_MS, NEXT_ON_CONNECTION_MS, RECORD_DELAY_MS
from transforms.coordinator.kafka.apis import ANSWERS_THAT_PROVE, REPLAYED_APIS, WAITING_APIS

CONNECTION_MEMORY_MS = 60_000.0
"""A connection that was silent for this long is forgotten: no estimate is off by so much."""


class Connections(Struct, array_like=True):
    """The order of connections: when the last request of each was handled, by broker and connection.

    Attributes:
        count: requests so far, of which each has its number as token.
    """

    last: dict[tuple[str, str], float] = field(default_factory=dict)
    count: int = 0

    def forget(self, before: float) -> None:
        """Forget connections that have been silent since a moment."""
        if len(self.last) > 64:
            self.last = {key: at for key, at in self.last.items() if at >= before}


def in_order(
    connections: Connections,
    records: Iterable[GroupMetadataRow],
    events: Iterable[CoordinatorEventRow],
    requests: Iterable[GroupRequestRow],
) -> list[Item]:
    """Return a group's evidence in the order in which the replay takes it.

    The result depends on the set of rows only, not on the order in which they come. A row without any time has no
    place in the order, and is left out.
    """
    items = [
        Item(
            row.recorded_at + RECORD_DELAY_MS,
            Kind.RECORD,
            ("", row.topic_partition_of_record, row.record_offset),
            record=row,
        )
        for row in records
        if row.recorded_at is not None
    ]
    items += [
        Item(row.logged_at + LINE_DELAY_MS, Kind.LINE, (row.source_file, row.line_number, row.seq), line=row)
        for row in events
        if row.logged_at is not None
    ]
    items += _requests(connections, requests)
    items.sort(key=_RANK)
    connections.forget(items[-1].at - CONNECTION_MEMORY_MS if items else 0.0)
    return items


_RANK = attrgetter("at", "kind", "place")


def _requests(connections: Connections, rows: Iterable[GroupRequestRow]) -> list[Item]:
    """Turn request rows into items, those of one connection in their exact order."""
    by_connection: dict[tuple[str, str], list[GroupRequestRow]] = {}
    alone: list[GroupRequestRow] = []
    for row in rows:
        if row.api not in REPLAYED_APIS:
            continue
        if row.connection is None or row.correlation_id is None:
            alone.append(row)
        else:
            by_connection.setdefault((row.broker, row.connection), []).append(row)
    items: list[Item] = []
    alone.sort(key=_LINE_ORDER)
    _add(items, connections, alone, None)
    for connection in sorted(by_connection):
        in_order = sorted(by_connection[connection], key=_CONNECTION_ORDER)
        _add(items, connections, in_order, connection)
    return items


_LINE_ORDER = attrgetter("source_file", "line_number", "seq")
_CONNECTION_ORDER = attrgetter("correlation_id", "source_file", "line_number", "seq")


def _add(
    items: list[Item], connections: Connections, rows: list[GroupRequestRow], connection: tuple[str, str] | None
) -> None:
    """Add requests, and their answers where they prove something; those of one connection one after the other."""
    token = connections.count
    last = 0.0 if connection is None else connections.last.get(connection, 0.0) + NEXT_ON_CONNECTION_MS
    for row in rows:
        token += 1
        at = row.answered_at if row.handled_at is None else row.handled_at
        if connection is not None:
            at = last if last > at else at
            last = at + NEXT_ON_CONNECTION_MS
        place = (row.source_file, row.line_number, row.seq)
        items.append(Item(at, Kind.REQUEST, place, row, None, None, token, at))
        if row.api in WAITING_APIS and (row.api, row.error_code) in ANSWERS_THAT_PROVE:
            items.append(Item(max(row.answered_at, at), Kind.ANSWER, place, row, None, None, token, at))
    connections.count = token
    if connection is not None and rows:
        connections.last[connection] = last - NEXT_ON_CONNECTION_MS
