"""What a replay found, as rows of the gold tables; moments are epoch ms, in whole ms where a table has them so."""

from __future__ import annotations

from msgspec import Struct, field

from schemas.rows import (
    AssignmentRow,
    ClientTimelineRow,
    CoordinatorRow,
    GenerationMemberRow,
    GenerationRow,
    MemberSessionRow,
    ReplayAuditRow,
    TransitionRow,
)


class Rows(Struct):
    """Rows of a group by table; the fields are named like the tables of `schemas.tables.gold.REPLAYED`."""

    generations: list[GenerationRow] = field(default_factory=list)
    generation_members: list[GenerationMemberRow] = field(default_factory=list)
    assignments: list[AssignmentRow] = field(default_factory=list)
    transitions: list[TransitionRow] = field(default_factory=list)
    member_sessions: list[MemberSessionRow] = field(default_factory=list)
    replay_audit: list[ReplayAuditRow] = field(default_factory=list)
    coordinators: list[CoordinatorRow] = field(default_factory=list)
    client_timeline: list[ClientTimelineRow] = field(default_factory=list)

    def extend(self, more: Rows) -> None:
        """Add the rows of another part of the history."""
        for name in self.__struct_fields__:
            getattr(self, name).extend(getattr(more, name))


def whole(at: float | None) -> int | None:
    """Return a moment in whole ms."""
    return None if at is None else int(at)
