"""Lays what clients said of themselves beside what their coordinator did.

A client's clock is its own, so nothing is joined by time: a line belongs to the generation and the member that it names
itself. Within one log the order of the lines is exact. The coordinator's word stands; a client adds what only it knows,
which is why it left.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from schemas.client_reasons import POLL_TIMEOUT, is_poll_timeout, refined
from schemas.rows import ClientEventRow, ClientTimelineRow, GenerationRow, MemberSessionRow
from transforms.coordinator.kafka.states import GroupState, ModernState
from transforms.coordinator.rows.tables import Rows, whole

SOURCE = "client_log"

_STATE_OF_OUTCOME = {"stable": GroupState.STABLE, "abandoned": GroupState.COMPLETING, "empty": GroupState.EMPTY}
_NEW_STAY = frozenset({"joining", "joined"})
"""Events with which a client begins anew; what timed out before is over."""

_LEFT_BY_TIMEOUT = "STALE"
"""State of a consumer of the new protocol that left because nobody polled; no other way leads there (MemberState)."""


class Refined(Struct):
    """Rows that clients' words changed.

    Attributes:
        generations: those whose cause a client told, or that a client bears witness of.
        member_sessions: those whose end a client gave the cause of.
    """

    generations: list[GenerationRow]
    member_sessions: list[MemberSessionRow]


def take_clients(rows: Rows, cluster: str, client_events: Iterable[ClientEventRow]) -> Refined:
    """Add what clients said to a group's rows, and their timeline; doing it again changes nothing.

    Args:
        rows: all rows of the group, which are changed.
        cluster: name of the cluster.
        client_events: its rows of `silver.client_events`, in no order.

    Returns:
        Those of the rows that were changed.
    """
    events = sorted(client_events, key=lambda row: (row.source_file, row.line_number))
    if not events:
        return Refined([], [])
    before = [(row.trigger, len(row.evidence)) for row in rows.generations]
    sessions = _tell_slow_pollers(rows, slow_pollers(events))
    sessions += _tell_slow_stays(rows, slow_stays(events))
    seen = _Seen(rows)
    rows.client_timeline = [seen.client_row(cluster, event) for event in events]
    for row in rows.client_timeline:
        generation = seen.generation_of(row)
        if generation is not None:
            _witnessed(generation)
    told = zip(rows.generations, before, strict=True)
    return Refined([row for row, was in told if was != (row.trigger, len(row.evidence))], sessions)


def slow_pollers(events: Iterable[ClientEventRow]) -> set[str]:
    """Return the members that left because their application polled too rarely; events in the order of their logs.

    From Kafka 2.4 on the line about the LeaveGroup has the reason; before, the warning stands in front of it.
    """
    members: set[str] = set()
    of_epochs: set[str | None] = set()  # whose stays the epoch tells apart
    timed_out: set[tuple[str | None, ...]] = set()
    for row in events:
        client = (row.source_file, row.client_id, row.group_instance_id)
        if row.event == "poll_timeout":
            timed_out.add(client)
        elif row.event == "state_changed":
            of_epochs.add(row.member_id)
        elif row.event == "leaving":
            if row.member_id and (client in timed_out or is_poll_timeout(row.reason)):
                members.add(row.member_id)
            timed_out.discard(client)
        elif row.event in _NEW_STAY:
            timed_out.discard(client)
    return members - of_epochs


def slow_stays(events: Iterable[ClientEventRow]) -> set[tuple[str, int]]:
    """Return the stays that ended because an application polled too rarely, by member and its last epoch.

    Consumers of the new protocol come back by the same member id, so that the id alone does not say which stay it was.
    """
    stays: set[tuple[str, int]] = set()
    epochs: dict[tuple[str, str], int] = {}
    for row in events:
        if row.event != "state_changed" or not row.member_id:
            continue
        member = (row.source_file, row.member_id)
        if row.generation is not None and row.generation > 0:
            epochs[member] = row.generation
        elif row.client_state == _LEFT_BY_TIMEOUT and member in epochs:
            stays.add((row.member_id, epochs.pop(member)))
    return stays


def _tell_slow_stays(rows: Rows, stays: Iterable[tuple[str, int]]) -> list[MemberSessionRow]:
    """Name the poll timeout of members of the new protocol, where the coordinator knew of a leave."""
    ended = []
    for member_id, epoch in sorted(stays):
        session = _stay_in(
            [each for each in rows.member_sessions if each.member_id == member_id and each.group_type != "classic"],
            epoch,
        )
        if session is None or session.end_cause != "left":
            continue
        session.end_cause = "poll_timeout"
        ended.append(session)
        left = [
            row
            for row in rows.generations
            if row.trigger_member_id == member_id and row.life == session.life and row.generation > epoch
        ]
        first = min(left, key=lambda row: row.generation, default=None)
        if first is not None and first.trigger == "member_left":
            first.trigger, first.client_reason = "poll_timeout", POLL_TIMEOUT
            _witnessed(first)
    return ended


def _stay_in(stays: Iterable[MemberSessionRow], epoch: int) -> MemberSessionRow | None:
    """Return the stay of one member that an epoch is of."""
    begun = [stay for stay in stays if (stay.first_generation or 0) <= epoch <= (stay.last_generation or epoch)]
    return max(begun, key=lambda stay: (stay.life, stay.stay), default=None)


def _tell_slow_pollers(rows: Rows, members: set[str]) -> list[MemberSessionRow]:
    """Name the poll timeout where the coordinator knew of a leave, and not why; return the stays that it ended."""
    members = members - {row.member_id for row in rows.member_sessions if row.stay > 1}  # which of them is not told
    ended = []
    for generation in rows.generations:
        is_silent = generation.trigger == "member_left" and generation.client_reason is None
        if is_silent and generation.trigger_member_id in members:
            generation.trigger = refined(generation.trigger, POLL_TIMEOUT)
            generation.client_reason = POLL_TIMEOUT
            _witnessed(generation)
    for session in rows.member_sessions:
        if session.end_cause in ("left", "unknown") and session.member_id in members:
            session.end_cause = "poll_timeout"
            ended.append(session)
    return ended


def _witnessed(generation: GenerationRow) -> None:
    if SOURCE not in generation.evidence:
        generation.evidence.append(SOURCE)


class _Seen:
    """What the coordinator's side knows, by what a client's line can name."""

    def __init__(self, rows: Rows) -> None:
        self._generations = {(row.life, row.generation): row for row in rows.generations}
        self._told_at: dict[tuple[int, int], dict[str, float | None]] = {key: {} for key in self._generations}
        for member in rows.generation_members:
            self._told_at[member.life, member.generation][member.member_id] = member.told_at
        self._sessions: dict[tuple[int, str], list[MemberSessionRow]] = {}
        for session in rows.member_sessions:
            self._sessions.setdefault((session.life, session.member_id), []).append(session)
        self._lives_of_member: dict[str, set[int]] = {}
        for life, member_id in self._sessions:
            self._lives_of_member.setdefault(member_id, set()).add(life)
        self._lives_of_generation: dict[int, set[int]] = {}
        for life, generation in self._generations:
            self._lives_of_generation.setdefault(generation, set()).add(life)

    def client_row(self, cluster: str, event: ClientEventRow) -> ClientTimelineRow:
        """Row of `gold.client_timeline`."""
        member_id = event.member_id or None
        generation = event.generation if (event.generation or -1) > 0 else None
        life = self._life(generation, member_id)
        session = self._stay(life, member_id, generation)
        return ClientTimelineRow(
            cluster=cluster,
            source_file=event.source_file,
            line_number=event.line_number,
            host=event.host,
            logged_at=whole(event.logged_at),
            client_id=event.client_id,
            group_id=event.group_id or "",
            group_instance_id=event.group_instance_id,
            life=life,
            generation=generation,
            member_id=member_id,
            event=event.event,
            client_state=event.client_state,
            reason=event.reason,
            partitions=event.partitions,
            broker_state=_reached(self._generations.get((life or 0, generation or 0))),
            told_at=self._told_at.get((life or 0, generation or 0), {}).get(member_id or ""),
            end_cause=None if session is None else session.end_cause,
        )

    def _stay(self, life: int | None, member_id: str | None, generation: int | None) -> MemberSessionRow | None:
        """Return the stay that a line is of; None where its member was there several times and no epoch says when."""
        stays = self._sessions.get((life or 0, member_id or ""), [])
        if len(stays) <= 1:
            return stays[0] if stays else None
        return None if generation is None else _stay_in(stays, generation)

    def generation_of(self, row: ClientTimelineRow) -> GenerationRow | None:
        """Return the generation that a row names together with a member of it, as far as its members are known."""
        key = (row.life or 0, row.generation or 0)
        members = self._told_at.get(key)
        if members is None or row.member_id is None or (members and row.member_id not in members):
            return None
        return self._generations[key]

    def _life(self, generation: int | None, member_id: str | None) -> int | None:
        """Return the one life that has what a line names; None where that is none or several."""
        lives = self._lives_of_member.get(member_id or "")
        if generation is not None:
            numbered = self._lives_of_generation.get(generation, set())
            lives = numbered if lives is None else lives & numbered
        return next(iter(lives)) if lives is not None and len(lives) == 1 else None


def _reached(generation: GenerationRow | None) -> str | None:
    """Return the furthest state of a generation; of an epoch while it is the latest, as far as that is known."""
    if generation is None:
        return None
    if generation.group_type != "classic":
        return _reached_by_epoch(generation)
    reached = _STATE_OF_OUTCOME.get(generation.outcome or "")
    if reached is None:
        reached = GroupState.PREPARING if generation.completing_at is None else GroupState.COMPLETING
    return reached.value


def _reached_by_epoch(epoch: GenerationRow) -> str | None:
    """Return the furthest state of a group of the newer protocols in one of its epochs."""
    if epoch.outcome == "empty":
        return ModernState.EMPTY.value
    if epoch.stable_at is not None:
        return ModernState.STABLE.value
    if epoch.group_type != "consumer":  # share groups know nothing in between, streams groups may not be ready
        return None
    return ModernState.ASSIGNING.value if epoch.completing_at is None else ModernState.RECONCILING.value
