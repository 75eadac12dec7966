"""What findings are made of: rows of gold and the requests that matter, all of one group; moments are epoch ms."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import TypeVar

import msgspec

from schemas.rows import (
    AssignmentRow,
    CoordinatorRow,
    GenerationMemberRow,
    GenerationRow,
    MemberSessionRow,
    ReconciliationRow,
)
from schemas.words import COMES_AND_GOES
from transforms.holdings import Holding

T = TypeVar("T")

EPOCH_HEARTBEATS = ("ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat")
"""Requests that carry an epoch: by 0 a member joins, by what is below it leaves."""

SLACK_MS = 100
"""Records carry the time of the append, lines that of the logger: one moment may differ by this much between them."""


def are_of_epochs(error: str, apis: Iterable[str]) -> bool:
    """Whether refused requests carried epochs, and not generations, as their error or one of their APIs tells."""
    return error.endswith("_MEMBER_EPOCH") or any(api in EPOCH_HEARTBEATS for api in apis)


class SentOffset(msgspec.Struct, kw_only=True, gc=False):
    """A partition's offset in a commit that was refused."""

    topic: str
    partition: int
    offset: int


class Request(msgspec.Struct, kw_only=True, gc=False):
    """A request to the group's coordinator, as far as findings ask: who it was, and what the answer did to it.

    `evidence` is what it was seen in: the request log, the log of the client that was refused, or the broker's lines.
    """

    answered_at: float
    api: str
    error: str
    handled_at: float | None = None
    member_id: str | None = None
    answered_member_id: str | None = None
    group_instance_id: str | None = None
    generation: int | None = None
    client_id: str | None = None
    client_host: str | None = None
    client_software: str | None = None
    connection: str | None = None
    reason: str | None = None
    partition_errors: dict[int, int] | None = None
    sent_offsets: list[SentOffset] | None = None
    evidence: str = "request_log"

    @property
    def comes_or_goes(self) -> bool:
        """Whether it asks to join or to leave."""
        if self.api in EPOCH_HEARTBEATS:
            return self.generation is not None and self.generation <= 0
        return self.api in COMES_AND_GOES

    @property
    def held_generation(self) -> int | None:
        """The generation, or epoch, that its sender believed to be in; null = it does not say so."""
        least = 1 if self.api in EPOCH_HEARTBEATS else 0
        return None if self.generation is None or self.generation < least else self.generation


class Heard(msgspec.Struct, kw_only=True, gc=False):
    """A request that was granted, as a sign that a member lived."""

    member_id: str
    answered_at: float


class Printed(msgspec.Struct, kw_only=True, gc=False):
    """How long the members of a consumer group may be silent, as a broker printed it.

    Attributes:
        logged_at: when it was printed.
        is_own: it is a setting of the group, which goes before that of the broker; else of the broker.
        session_timeout_ms: consumer.session.timeout.ms of the group (null = it has none), or
            group.consumer.session.timeout.ms.
    """

    logged_at: float
    is_own: bool
    session_timeout_ms: int | None = None


class Commit(msgspec.Struct, kw_only=True, gc=False):
    """A partition's offset as the coordinator stored it."""

    topic: str
    partition: int
    recorded_at: float | None = None
    committed_offset: int | None = None


class Evidence(msgspec.Struct, kw_only=True):
    """What is known of one group around a finding.

    Attributes:
        cluster: name of the cluster.
        group_id: the group.
        generations: of a storm, its rebalances in order, and the bumps that are part of them; of a burst, those of the
            group until it was over.
        members: members of these generations.
        sessions: stays of members that lie in the time looked at, or reach into it.
        holdings: of a storm, what members held in these generations, and in the one before them; of a modern group, in
            the time.
        assignments: of a commit that went back, who owned its partition.
        reconciliations: of a storm, who was to give partitions up in its time, or waited for some.
        requests: joins and leaves, refusals, in order of their answers; of what only clients logged, refusals alone.
        refused: of a burst, its requests.
        commits: of a burst, what was committed to the partitions of its commits.
        heard: of a burst of members that were not let in, what who held their instance ids was granted since.
        printed: of such a burst, what brokers printed of the session timeout.
        coordinators: who coordinated the group.
        next_at: begin of the first rebalance that is not part of it; null = none followed.
        seen_until: end of the data; null = not known.
    """

    cluster: str
    group_id: str
    generations: list[GenerationRow] = []
    members: list[GenerationMemberRow] = []
    sessions: list[MemberSessionRow] = []
    holdings: list[Holding] = []
    assignments: list[AssignmentRow] = []
    reconciliations: list[ReconciliationRow] = []
    requests: list[Request] = []
    refused: list[Request] = []
    commits: list[Commit] = []
    heard: list[Heard] = []
    printed: list[Printed] = []
    coordinators: list[CoordinatorRow] = []
    next_at: float | None = None
    seen_until: float | None = None

    @property
    def group_type(self) -> str:
        """The protocol that the group spoke last."""
        last = max(self.generations, key=lambda row: (row.life, row.generation), default=None)
        return "classic" if last is None else last.group_type

    @property
    def protocol_type(self) -> str | None:
        """What the members of a classic group are, as the last that said so have it; null = not known, or none."""
        if self.group_type != "classic":
            return None
        known = [row for row in self.generations if row.protocol_type]
        return max(known, key=lambda row: (row.life, row.generation)).protocol_type if known else None

    def has_request_log(self) -> bool:
        """Whether a request log was read: without one, nothing follows from requests that are not there."""
        is_logged = any(request.evidence == "request_log" for request in self.requests)
        return is_logged or any("request_log" in row.evidence for row in self.generations)

    def ends_by(self, moment: float) -> bool:
        """Whether the data end by a moment, as far as is known."""
        return self.seen_until is not None and self.seen_until <= moment

    def session_timeout_ms(self, at: float) -> int | None:
        """Return how long members of a consumer group might be silent at a moment, as printed; None = nothing tells."""
        known = sorted((row for row in self.printed if row.logged_at <= at), key=lambda row: row.logged_at)
        by_whom = {row.is_own: row.session_timeout_ms for row in known}
        return first_known(by_whom.get(True), by_whom.get(False))

    def in_order(self) -> Evidence:
        """Put what has an order into it, rows come in none; leave out what later generations tell of stays.

        Of what is of one moment, too, one comes first: else what is said would hang on how the rows lie in their files.
        """
        last = max(((row.life, row.generation) for row in self.generations), default=None)
        if last is not None:
            known = (row for row in self.sessions if row.joined_at is not None or _first(row) <= last)
            self.sessions = [_as_known(row, last) for row in known]
        self.generations.sort(key=lambda row: (began_at(row) or 0.0, row.life, row.generation))
        self.members.sort(key=_PLACE_OF_MEMBER)
        self.sessions.sort(key=_place_of_stay)
        self.holdings.sort(key=_PLACE_OF_HOLDING)
        self.assignments.sort(key=_PLACE_OF_ASSIGNMENT)
        self.reconciliations.sort(key=_place_of_reconciliation)
        self.requests.sort(key=_place_of_request)
        self.refused.sort(key=_place_of_request)
        self.commits.sort(key=_place_of_commit)
        self.heard.sort(key=lambda row: (row.answered_at, row.member_id))
        self.printed.sort(key=lambda row: (row.logged_at, row.is_own, row.session_timeout_ms or 0))
        self.coordinators.sort(key=_place_of_coordinator)
        return self


_PLACE_OF_MEMBER = attrgetter("life", "generation", "member_id")
_PLACE_OF_HOLDING = attrgetter("life", "generation", "member_id", "hold")
"""Of these a storm has hundreds, or thousands: a getter in C is half as slow as a function."""
_PLACE_OF_ASSIGNMENT = attrgetter("life", "generation", "topic", "partition", "member_id", "hold")


def _place_of_stay(row: MemberSessionRow) -> tuple[int, float, int, str]:
    return (row.life, float("-inf") if row.joined_at is None else row.joined_at, row.stay, row.member_id)


def _place_of_reconciliation(row: ReconciliationRow) -> tuple[int, float, str, int]:
    return (row.life, float("-inf") if row.from_at is None else row.from_at, row.member_id, row.seq)


def _place_of_coordinator(row: CoordinatorRow) -> tuple[float, int, str]:
    return (float("-inf") if row.from_at is None else row.from_at, row.epoch or 0, row.broker or "")


def _place_of_request(row: Request) -> tuple[float, float, str, str, str, int]:
    handled_at = row.answered_at if row.handled_at is None else row.handled_at
    generation = -1 if row.generation is None else row.generation
    return (row.answered_at, handled_at, row.member_id or "", row.client_id or "", row.api, generation)


def _place_of_commit(row: Commit) -> tuple[float, str, int, int]:
    offset = -1 if row.committed_offset is None else row.committed_offset
    return (float("-inf") if row.recorded_at is None else row.recorded_at, row.topic, row.partition, offset)


def _first(row: MemberSessionRow) -> tuple[int, int]:
    """The life and the generation in which a member is seen first."""
    return (row.life, -1 if row.first_generation is None else row.first_generation)


def _as_known(row: MemberSessionRow, last: tuple[int, int]) -> MemberSessionRow:
    """Return a stay without its end where only generations after the last one show that it ended, and none when."""
    if row.ended_at is not None or row.end_cause is None or row.last_generation is None:
        return row
    if (row.life, row.last_generation) < last:
        return row
    return msgspec.structs.replace(row, end_cause=None, last_generation=None)


KINDS: dict[str, type[msgspec.Struct]] = {
    "generations": GenerationRow,
    "members": GenerationMemberRow,
    "sessions": MemberSessionRow,
    "holdings": Holding,
    "assignments": AssignmentRow,
    "reconciliations": ReconciliationRow,
    "requests": Request,
    "refused": Request,
    "commits": Commit,
    "heard": Heard,
    "printed": Printed,
    "coordinators": CoordinatorRow,
}
"""The lists of `Evidence`, and what their rows are."""


def began_at(row: GenerationRow) -> float | None:
    """When the rebalance that led to a generation began, as far as known; null if it is none.

    A coordinator that merely took a group over did not rebalance it; nor did a conversion, or a bump while a rebalance
    was under way.
    """
    if row.bump_count == 0:
        return None
    if row.trigger == "coordinator_failover" and row.preparing_at is None:
        return None
    return dated_at(row)


def dated_at(row: GenerationRow) -> float | None:
    """Return the first moment that is known of a generation, in the order of `schemas.tables.gold.BEGINS`."""
    # Asked a dozen times for each rebalance of a storm: `first_known` takes three times as long.
    if row.preparing_at is not None:
        return row.preparing_at
    if row.completing_at is not None:
        return row.completing_at
    return row.emptied_at if row.stable_at is None else row.stable_at


def first_known(*values: T | None) -> T | None:
    """Return the first value that is known."""
    return next((value for value in values if value is not None), None)
