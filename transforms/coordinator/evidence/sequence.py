"""Puts evidence into its one order.

* A request is handled when its time in the queue is over, but the time of its log line is late by up to a few ms; the
  order of requests on one connection is exact (`connections`).
* An answer stands where it was sent; only those that prove something stand there on their own.
* A line has whole milliseconds, so it stands half a millisecond later.
* A record can look older than the request that caused it: records come as confirmation, late. Those of one partition
  stand in the order of the log (`records`).

Rows may come piece by piece, each piece in any order, as long as no row is older than the newest of an earlier piece:
what cannot be overtaken any more is given out, the rest waits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from itertools import compress, count
from math import inf
from operator import attrgetter, eq

from schemas.rows import CoordinatorEventRow, GroupRequestRow
from transforms.coordinator.evidence.connections import (
    Connection,
    Connections,
    as_asked,
    followed_by,
    is_second_answer,
)
from transforms.coordinator.evidence.items import ANSWER, LINE, REQUEST, Item, taken_up_at
from transforms.coordinator.evidence.records import RecordRow, Records
from transforms.coordinator.evidence.tolerances import (
    CONNECTION_MEMORY_MS,
    LINE_DELAY_MS,
    NEXT_ON_CONNECTION_MS,
    RECORD_DELAY_MS,
    REORDER_MS,
)
from transforms.coordinator.kafka.apis import ANSWERS_THAT_PROVE, REPLAYED_APIS, WAITING_APIS

EvidenceRow = RecordRow | CoordinatorEventRow | GroupRequestRow


class Sequencer:
    """Rows in, items in their order out.

    Args:
        connections: how far they were taken; what was taken already is passed over.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._requests: defaultdict[Connection, list[GroupRequestRow]] = defaultdict(list)
        self._others: list[Item] = []
        self._records = Records()
        self.newest = -inf

    def add(self, rows: Iterable[EvidenceRow]) -> None:
        """Take in some rows. A row without any time has no place in the order, and is left out."""
        until = self._connections.until
        for row in rows:
            if isinstance(row, GroupRequestRow):
                if row.api in REPLAYED_APIS:
                    self._add_request(row, until)
            elif isinstance(row, CoordinatorEventRow):
                if row.logged_at is not None:
                    place = (row.source_file, row.line_number, row.seq)
                    self._add_other(Item(row.logged_at + LINE_DELAY_MS, LINE, place, None, row), until)
            elif row.recorded_at is not None:
                self._add_record(row, row.recorded_at + RECORD_DELAY_MS, until)

    @property
    def safe(self) -> float:
        """Moment before which nothing can come any more, if rows come in order."""
        return self.newest - REORDER_MS

    def emit(self, before: float) -> list[Item]:
        """Give out, in order, what stands before a moment; requests of one connection in their exact order."""
        found = [item for item in self._others if item.at < before]
        self._others = [item for item in self._others if item.at >= before] if len(found) < len(self._others) else []
        for connection in [*self._requests]:
            self._emit_requests(found, connection, before)
        found += self._records.emit(before, self._connections.until)
        _sort(found)
        self._connections.forget(before - CONNECTION_MEMORY_MS if before < inf else self.newest - CONNECTION_MEMORY_MS)
        return found

    # --- what comes in -----------------------------------------------------------------------------------------

    def _add_other(self, item: Item, until: float) -> None:
        if item.at >= until:
            self._others.append(item)
            if item.at > self.newest:
                self.newest = item.at

    def _add_record(self, row: RecordRow, at: float, until: float) -> None:
        self._records.add(row)
        if at >= until and at > self.newest:
            self.newest = at

    def _add_request(self, row: GroupRequestRow, until: float) -> None:
        raw = taken_up_at(row)
        if raw > self.newest:
            self.newest = raw
        if row.connection is None or row.correlation_id is None:
            if raw >= until:
                place = (row.source_file, row.line_number, row.seq)
                self._others.append(Item(raw, REQUEST, place, row, None, None, raw))
            self._add_answer(row, raw, until)
            return
        connection = (row.broker, row.connection)
        last = self._connections.last.get(connection)
        # A connection is forgotten long after its last request, and none is put later by more than the reordering.
        if last is None:
            was_taken = raw < until - REORDER_MS
        else:
            was_taken = row.correlation_id <= last[1] and raw <= last[0] + REORDER_MS
        if was_taken:
            self._add_answer(row, raw, until)  # but its answer perhaps not
        else:
            self._requests[connection].append(row)

    def _add_answer(self, row: GroupRequestRow, handled_at: float, until: float) -> None:
        answer = _answer(row, handled_at)
        if answer is not None and answer.at >= until:
            self._others.append(answer)

    # --- what goes out -----------------------------------------------------------------------------------------

    def _emit_requests(self, found: list[Item], connection: Connection, before: float) -> None:
        reached, last_number = self._connections.last.get(connection, (-inf, -1))
        rows, raws = as_asked(self._requests[connection], last_number)
        taken = 0
        item, number = None, None
        for row, raw, followed_at in zip(rows, raws, followed_by(raws), strict=True):
            if row.correlation_id == number and item is not None and is_second_answer(rows[taken - 1], row):
                item.second, taken = row, taken + 1
                self._emit_answer(found, row, item.at, before)
                continue
            at = raw if raw > reached else min(reached + NEXT_ON_CONNECTION_MS, raw + REORDER_MS)
            if at >= before:
                break
            reached, taken, number = at, taken + 1, row.correlation_id
            place = (row.source_file, row.line_number, row.seq)
            item = Item(at, REQUEST, place, row, None, None, at, 0, None, None, followed_at)
            found.append(item)
            if row.api in WAITING_APIS:
                self._emit_answer(found, row, at, before)
        if taken:
            self._connections.last[connection] = (reached, rows[taken - 1].correlation_id or 0)
        if taken < len(rows):
            self._requests[connection] = rows[taken:]
        else:
            del self._requests[connection]

    def _emit_answer(self, found: list[Item], row: GroupRequestRow, handled_at: float, before: float) -> None:
        answer = _answer(row, handled_at)
        if answer is not None:
            (found if answer.at < before else self._others).append(answer)


def in_order(
    connections: Connections,
    records: Iterable[RecordRow],
    events: Iterable[CoordinatorEventRow],
    requests: Iterable[GroupRequestRow],
) -> list[Item]:
    """Return a group's evidence in the order in which the replay takes it.

    The result depends on the set of rows only, not on the order in which they come.
    """
    sequencer = Sequencer(connections)
    for rows in (records, events, requests):
        sequencer.add(rows)
    return sequencer.emit(inf)


_MOMENT = attrgetter("at")
_RANK_OF_ONE_MOMENT = attrgetter("kind", "place")


def _sort(items: list[Item]) -> None:
    """Put items into their order.

    Nearly all moments differ, and are in order once the runs of the connections are merged: so it is cheap to sort by
    the moment alone, and by the rank only those that have one in common.
    """
    items.sort(key=_MOMENT)
    moments = [item.at for item in items]
    end = 0
    for begin in compress(count(), map(eq, moments, moments[1:])):
        if begin >= end:
            end = bisect_right(moments, moments[begin], begin)
            items[begin:end] = sorted(items[begin:end], key=_RANK_OF_ONE_MOMENT)


def _answer(row: GroupRequestRow, handled_at: float) -> Item | None:
    """Return the answer to a request that was handled at a moment, as evidence of its own, if it proves anything."""
    if row.api not in WAITING_APIS or (row.api, row.error_code) not in ANSWERS_THAT_PROVE:
        return None
    at = row.answered_at if row.answered_at > handled_at else handled_at
    return Item(at, ANSWER, (row.source_file, row.line_number, row.seq), row, None, None, taken_up_at(row))
