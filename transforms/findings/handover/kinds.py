"""The kinds of findings that are handed over, and what each is known by from run to run."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.table import TableSpec
from schemas.tables.gold import COMMIT_GAPS, ILLEGAL_GENERATION_BURSTS, OFFSET_REWINDS, REBALANCE_STORMS, SLOW_REVOKERS


@dataclass(frozen=True)
class Kind:
    """A kind of findings.

    Attributes:
        name: word out of `schemas.words.FINDING_KINDS`.
        spec: its table; the table's key makes the id of a finding that is new.
        begins: columns that date its begin, the first that is known.
        ends: columns that date its end, likewise.
        about: columns that tell findings of one group apart, beside time.
        is_span: it lasts, and evidence that comes late can move its begin: then it keeps the id of the finding that it
            overlaps.
    """

    name: str
    spec: TableSpec
    begins: tuple[str, ...] = ("started_at",)
    ends: tuple[str, ...] = ("ended_at",)
    about: tuple[str, ...] = ()
    is_span: bool = False


STORM = Kind("rebalance_storm", REBALANCE_STORMS, is_span=True)
BURST = Kind("illegal_generation_burst", ILLEGAL_GENERATION_BURSTS, about=("error",), is_span=True)
REWIND = Kind("offset_rewind", OFFSET_REWINDS, begins=("at",), ends=("at",), about=("topic", "partition"))
GAP = Kind(
    "commit_gap",
    COMMIT_GAPS,
    begins=("last_commit_at", "first_commit_at"),
    ends=("first_commit_at", "last_commit_at"),
    about=("topic", "partition"),
)

REVOKER = Kind("slow_revoker", SLOW_REVOKERS, about=("member_id",), is_span=True)

KINDS = (STORM, BURST, REWIND, GAP, REVOKER)
"""All kinds, in the order in which they are handed over."""
