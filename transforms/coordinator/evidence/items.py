"""One piece of evidence about a group: a request, an answer, a line or a record, with its place in the order.

Three depths of evidence meet here: records of `__consumer_offsets`, lines of broker logs, and the request log with
its answers. Where each stands in the one order is said in `sequence`, how exact that is in `tolerances`.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from hashlib import blake2b
from math import inf
from typing import Final

from msgspec import Struct

from schemas.rows import CoordinatorEventRow, GroupMetadataRow, GroupRequestRow, ModernGroupRecordRow


class Kind(IntEnum):
    """Kinds of evidence, in the order in which those of one moment are taken."""

    REQUEST = 0
    ANSWER = 1
    LINE = 2
    RECORD = 3


# By name, for what is asked at every piece: up to Python 3.11, each look into an enum is a call.
REQUEST: Final = Kind.REQUEST
ANSWER: Final = Kind.ANSWER
LINE: Final = Kind.LINE
RECORD: Final = Kind.RECORD

Place = tuple[str, int, int]
"""Place in a source: log file, line and number within it; for a record "", partition and offset."""

Rank = tuple[float, Kind, Place]


class Item(Struct, gc=False, array_like=True):
    """One piece of evidence: when it takes its place in the order, and what it is.

    Attributes:
        at: moment of its place in the order (epoch ms); later each time it is put off.
        place: its place among those of one moment and kind: that of its source.
        handled_at: estimate of when the coordinator took a request up; 0.0 for lines and records.
        holds: how often it was put off because its cause had not been handled yet.
        second: a request's second answer, which has a line of its own: a broker gives it when it fails in between.
        modern: records of newer protocols that were written at one moment, in the order of the log; beside them, as
            `record`, that of the classic group that is converted there.
        followed_at: moment by which a later request of its connection had been taken up, so that it was answered.
    """

    at: float
    kind: Kind
    place: Place
    request: GroupRequestRow | None = None
    line: CoordinatorEventRow | None = None
    record: GroupMetadataRow | None = None
    handled_at: float = 0.0
    holds: int = 0
    second: GroupRequestRow | None = None
    modern: list[ModernGroupRecordRow] | None = None
    followed_at: float = inf

    @property
    def token(self) -> int:
        """Number that names a request, the same on its answer."""
        return token_of(self.place, self.request)

    @property
    def rank(self) -> Rank:
        """Order of evidence: moment, kind, then the order of its source."""
        return (self.at, self.kind, self.place)


def taken_up_at(row: GroupRequestRow) -> float:
    """Return an estimate of when the coordinator took a request up; where nothing tells of it, when it was answered."""
    return row.answered_at if row.handled_at is None else row.handled_at


_MOST_TOKEN = (1 << 63) - 1


def token_of(place: Place, row: GroupRequestRow | None = None) -> int:
    """Return a number that names the request at a place; the same in every run, and as good as unique.

    A joiner whom nothing names goes by it in the tables, so there it is a digest of the place. Elsewhere it only has to
    be another one than those around it: the digest of the file, and the place in it.
    """
    source_file, line_number, seq = place
    if row is not None and row.api == "JoinGroup" and not row.member_id and not row.answered_member_id:
        return _digest(f"{source_file}\0{line_number}\0{seq}") >> 1
    return _digest_of_file(source_file) + (line_number << 20) + seq & _MOST_TOKEN


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


_digest_of_file = lru_cache(maxsize=256)(_digest)
