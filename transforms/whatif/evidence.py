"""What a group's what-if rests on: rows of its gold tables and, where there is a request log, its requests.

Everything else in this room works on these typed rows and asks no table. Moments are epoch ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

from msgspec import Struct, field

from schemas.rows import (
    AssignmentRow,
    CoordinatorEventRow,
    GenerationMemberRow,
    GenerationRow,
    LeavingMember,
    MemberSessionRow,
    OfferedProtocol,
)
from transforms.coordinator.evidence.brokers import BROKER_EVENTS, Brokers
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.replay import typed
from transforms.holdings import Holding, holdings_of

Row = Mapping[str, Any]


class Depth(IntEnum):
    """How deep the evidence goes: what is known of the members' own doings."""

    RECORDS = 1
    LINES = 2
    REQUESTS = 3


class Asked(Struct, kw_only=True, gc=False):
    """One request of a member, as far as it tells what its process did."""

    handled_at: float | None = None
    answered_at: float
    api: str
    api_version: int | None = None
    member_id: str | None = None
    answered_member_id: str | None = None
    answered_leader: str | None = None
    group_instance_id: str | None = None
    error_code: int
    client_id: str | None = None
    client_host: str | None = None
    connection: str | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    protocols: list[OfferedProtocol] | None = None
    leaving_members: list[LeavingMember] | None = None

    @property
    def at(self) -> float:
        """When the coordinator took it up."""
        return self.answered_at if self.handled_at is None else self.handled_at


class Evidence(Struct):
    """The rows of one group.

    Attributes:
        generations: in order of life and generation.
        members: members of the generations.
        assignments: partitions of the members.
        sessions: stays of members.
        requests: in the order in which they were taken up; empty without a request log.
        settings: what rules the group's coordinator.
        is_told: the coordinator printed its settings; else they are assumed.
    """

    generations: list[GenerationRow]
    members: list[GenerationMemberRow] = field(default_factory=list)
    assignments: list[AssignmentRow] = field(default_factory=list)
    sessions: list[MemberSessionRow] = field(default_factory=list)
    requests: list[Asked] = field(default_factory=list)
    settings: CoordinatorSettings = CoordinatorSettings()
    is_told: bool = False

    @property
    def depth(self) -> Depth:
        """The deepest evidence that there is."""
        if self.requests:
            return Depth.REQUESTS
        if any("broker_log" in row.evidence for row in self.generations):
            return Depth.LINES
        return Depth.RECORDS

    @property
    def holdings(self) -> list[Holding]:
        """What members held, by generation."""
        return holdings_of(self.assignments)

    @property
    def begins_at(self) -> float:
        """The first moment that anything is known of."""
        return min(self._moments(), default=0.0)

    @property
    def ends_at(self) -> float:
        """The last moment that anything is known of."""
        return max(self._moments(), default=0.0)

    def _moments(self) -> Iterable[float]:
        for row in self.generations:
            times = (row.preparing_at, row.completing_at, row.stable_at, row.emptied_at, row.ended_at)
            yield from (at for at in times if at is not None)
        for session in self.sessions:
            yield from (at for at in (session.joined_at, session.ended_at) if at is not None)
        if self.requests:
            yield self.requests[0].at
            yield max(request.answered_at for request in self.requests[-len(self.requests) // 10 - 10 :])


def evidence(
    generations: Iterable[Row],
    members: Iterable[Row],
    assignments: Iterable[Row],
    sessions: Iterable[Row],
    requests: Iterable[Row] = (),
    events: Iterable[Row] = (),
) -> Evidence:
    """Type the rows of one group.

    Args:
        generations: its rows of `gold.generations`, times as epoch ms, as in all that follow.
        members: of `gold.generation_members`.
        assignments: of `gold.assignments`.
        sessions: of `gold.member_sessions`.
        requests: of `silver.group_requests`; those to a classic group count, the others are passed over.
        events: of `silver.coordinator_events`: the group's own, and those that tell a broker's settings.
    """
    asked = [each for each in typed(requests, Asked) if each.api in APIS]
    return Evidence(
        sorted(typed(generations, GenerationRow), key=lambda row: (row.life, row.generation)),
        typed(members, GenerationMemberRow),
        typed(assignments, AssignmentRow),
        typed(sessions, MemberSessionRow),
        sorted(asked, key=lambda each: (each.at, each.answered_at)),
        *_settings(typed(events, CoordinatorEventRow)),
    )


APIS = frozenset({"JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit"})


def _settings(events: list[CoordinatorEventRow]) -> tuple[CoordinatorSettings, bool]:
    """Return what rules the broker that spoke of the group last, and whether it printed that itself."""
    brokers = Brokers()
    last: str | None = None
    for event in sorted(events, key=lambda row: row.logged_at or 0.0):
        if event.group_id is not None or event.event in BROKER_EVENTS:
            brokers.notice_line(event)
        if event.group_id is not None:
            last = event.broker
    return brokers.of(last), last is not None and brokers.are_printed(last)
