"""Puts the requests of one connection into the order in which a broker took them up: that of their numbers.

A broker answers one request before it reads the next, and the client numbers them. Numbers that begin anew are those of
another connection of the same name: a broker that was started again names connections as it did before, and a client's
port may be the one it had.
"""

from __future__ import annotations

from itertools import accumulate
from math import inf
from operator import attrgetter, ge

from msgspec import Struct, field

from schemas.rows import GroupRequestRow
from transforms.coordinator.evidence.items import taken_up_at
from transforms.coordinator.evidence.tolerances import REORDER_MS, SAME_MOMENT_MS
from transforms.coordinator.kafka.answers import Error

Connection = tuple[str, str]
"""Broker and connection."""

_CONNECTION_ORDER = attrgetter("correlation_id", "source_file", "line_number", "seq")


class Connections(Struct, array_like=True):
    """How far each connection has been taken: when its last request was handled, and that one's number.

    A request of a number up to that was taken; so were lines and records that stand before `until`.
    """

    last: dict[Connection, tuple[float, int]] = field(default_factory=dict)
    until: float = -inf

    def forget(self, before: float) -> None:
        """Forget connections that have been silent since a moment."""
        if len(self.last) > 64:
            self.last = {key: each for key, each in self.last.items() if each[0] >= before}


def as_asked(rows: list[GroupRequestRow], last_number: int) -> tuple[list[GroupRequestRow], list[float]]:
    """Return requests in the order in which they were asked, and when they look to have been taken up.

    Args:
        rows: those of connections of one name that have not been taken, in any order.
        last_number: that of the request that was taken last; -1 = none was.
    """
    raws = [*map(taken_up_at, rows)]
    if _are_of_one_connection([row.correlation_id or 0 for row in rows], raws, last_number):
        return rows, raws  # mostly
    ordered = _in_order_of_numbers(rows, last_number)
    return ordered, [*map(taken_up_at, ordered)]


def followed_by(raws: list[float]) -> list[float]:
    """Return when a later one of each connection's requests was taken up, where that looks earlier than its own time.

    What looks later hangs on how far the log has been read.

    Args:
        raws: when the requests look to have been taken up, in their exact order.
    """
    found, earliest = [inf] * len(raws), inf
    if raws == sorted(raws):
        return found
    for place in range(len(raws) - 1, -1, -1):
        if earliest < raws[place]:
            found[place] = earliest
        else:
            earliest = raws[place]
    return found


def is_second_answer(first: GroupRequestRow, row: GroupRequestRow) -> bool:
    """Whether two answers with one number are of one request: one tells that the broker failed in the midst of it."""
    if row.api != first.api or row.api not in ("JoinGroup", "LeaveGroup"):
        return False
    has_failed = Error.UNSUPPORTED_VERSION in (first.error_code, row.error_code)
    is_of_one = first.error_code != row.error_code and first.client_id == row.client_id
    return has_failed and is_of_one and abs(taken_up_at(row) - taken_up_at(first)) <= SAME_MOMENT_MS


def _are_of_one_connection(numbers: list[int], raws: list[float], last_number: int) -> bool:
    """Whether requests are in the order of their numbers, and none was reached long before a lower one: mostly.

    Args:
        numbers: those of the requests.
        raws: when they look to have been taken up.
        last_number: that of the request that was taken last.
    """
    if any(map(ge, [last_number, *numbers], numbers)):
        return False
    reached = [*accumulate(raws, max)]
    return raws == reached or not any(at > raw + REORDER_MS for at, raw in zip(reached, raws, strict=True))


def _in_order_of_numbers(rows: list[GroupRequestRow], last_number: int) -> list[GroupRequestRow]:
    """Return the requests of connections of one name by their numbers, those of an earlier connection first.

    A number that was reached longer ago than estimates can be out of order is one of a connection before. So is one up
    to that which was taken last: all lower ones of that connection were taken before it.
    """
    by_time = sorted(sorted(rows, key=_CONNECTION_ORDER), key=taken_up_at)
    found: list[GroupRequestRow] = []
    begin = old = 0
    reached = last_number
    for place, row in enumerate(by_time):
        while taken_up_at(by_time[old]) < taken_up_at(row) - REORDER_MS:
            reached = max(reached, by_time[old].correlation_id or 0)
            old += 1
        if (row.correlation_id or 0) <= reached:
            found += sorted(by_time[begin:place], key=_CONNECTION_ORDER)
            begin = old = place
            reached = -1
    return found + sorted(by_time[begin:], key=_CONNECTION_ORDER)
