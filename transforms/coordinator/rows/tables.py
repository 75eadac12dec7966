"""What a replay found, as rows of the gold tables; moments are epoch ms, in whole ms where a table has them so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from msgspec import Struct, field

from schemas.rows import (
    AssignmentRow,
    AuditCountRow,
    ClientTimelineRow,
    CoordinatorRow,
    GenerationMemberRow,
    GenerationRow,
    MemberSessionRow,
    OrphanedPartitionRow,
    ReconciliationRow,
    ReplayAuditRow,
    SharePartitionRow,
    TransitionRow,
)


class Rows(Struct):
    """Rows of a group by table; these fields are named like the tables of `schemas.tables.gold.REPLAYED`."""

    generations: list[GenerationRow] = field(default_factory=list)
    generation_members: list[GenerationMemberRow] = field(default_factory=list)
    assignments: list[AssignmentRow] = field(default_factory=list)
    reconciliations: list[ReconciliationRow] = field(default_factory=list)
    orphaned_partitions: list[OrphanedPartitionRow] = field(default_factory=list)
    share_partitions: list[SharePartitionRow] = field(default_factory=list)
    transitions: list[TransitionRow] = field(default_factory=list)
    member_sessions: list[MemberSessionRow] = field(default_factory=list)
    replay_audit: list[ReplayAuditRow] = field(default_factory=list)
    audit_counts: list[AuditCountRow] = field(default_factory=list)
    coordinators: list[CoordinatorRow] = field(default_factory=list)
    client_timeline: list[ClientTimelineRow] = field(default_factory=list)

    def extend(self, more: Rows) -> None:
        """Add the rows of another part of the history."""
        for name in self.__struct_fields__:
            getattr(self, name).extend(getattr(more, name))


StampedRow = TypeVar(
    "StampedRow",
    AssignmentRow,
    AuditCountRow,
    CoordinatorRow,
    GenerationMemberRow,
    GenerationRow,
    MemberSessionRow,
    OrphanedPartitionRow,
    ReconciliationRow,
    ReplayAuditRow,
    SharePartitionRow,
    TransitionRow,
)


class Sink(Struct):
    """Where the rows of a replay go, and whether they are settled.

    Attributes:
        rows: the rows.
        is_final: no evidence is missing before what is told, which is settled if it is over; else it is what an
            unfinished history has come to so far.
        is_at_end: all evidence was taken: what is told now is not over.
        keeps_audit: every audited request has its row; else only those that give reason to doubt, and all are counted.
        now: how far the evidence was taken.
        topic_names: names of topics by their ids, as far as they are known.
        superseded: settled rows of stays that are told of once more, since the member showed itself again: life,
            member and when the row was settled.
        open_stays: rows of stays of an unfinished history, by life, member and stay, until all of it was taken: a
            member that was taken to be gone may still show itself, and then the later row stands.
    """

    rows: Rows = field(default_factory=Rows)
    is_final: bool = True
    is_at_end: bool = False
    keeps_audit: bool = True
    now: float = 0.0
    topic_names: Mapping[str, str] = field(default_factory=dict)
    superseded: list[tuple[int, str, float]] = field(default_factory=list)
    open_stays: dict[tuple[int, str, int], MemberSessionRow] = field(default_factory=dict)

    def stamped(self, row: StampedRow) -> StampedRow:
        """Say of a row how far the evidence had been taken, if what it tells is over then, and whether it is settled.

        One that is over and not settled is settled by nothing but time: by the horizon, once it has come that far.
        """
        if not self.is_at_end:
            row.is_settled, row.settled_at = self.is_final, self.now
        return row

    def all_stamped(self, rows: Iterable[StampedRow]) -> list[StampedRow]:
        """Likewise of many."""
        return [self.stamped(row) for row in rows]

    def say_stay(self, row: MemberSessionRow) -> MemberSessionRow:
        """Tell of a stay, of which more may be told as long as it is open; return the row as it is told."""
        self.stamped(row)
        if self.is_final:
            self.rows.member_sessions.append(row)
        else:
            self.open_stays[row.life, row.member_id, row.stay] = row
        return row

    def say_open_stays(self) -> None:
        """Tell of the stays that are open, now that everything was taken."""
        self.rows.member_sessions += self.open_stays.values()
        self.open_stays = {}


def whole(at: float | None) -> int | None:
    """Return a moment in whole ms."""
    return None if at is None else int(at)
