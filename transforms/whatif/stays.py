"""Stays: the time that one member id was in the group, and how its process ended it, by whatever evidence there is.

A request log shows every sign of life of a member. Without one, its session does: who was removed for silence had sent
its last heartbeat exactly a session timeout before. Moments that the evidence only bounds are spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from statistics import median

from msgspec import Struct, field

from schemas.client_defaults import HEARTBEAT_INTERVAL_MS, MAX_POLL_INTERVAL_MS, SESSION_TIMEOUT_MS
from schemas.client_reasons import is_poll_timeout
from schemas.rows import GenerationMemberRow, GenerationRow, MemberSessionRow
from transforms.coordinator.kafka.answers import Error
from transforms.whatif.evidence import Asked, Depth, Evidence
from transforms.wire.consumer_protocol import read_subscription

_FENCED = frozenset({Error.UNKNOWN_MEMBER_ID, Error.FENCED_INSTANCE_ID})
"""Answers that tell a process that it is no member any more; it lives, and will join again."""


class Span(Struct, frozen=True, gc=False):
    """A moment that lies between two others; epoch ms."""

    earliest: float
    latest: float

    @classmethod
    def exactly(cls, at: float) -> Span:
        """A moment that is known."""
        return cls(at, at)


class Silence(Struct, frozen=True, gc=False):
    """A process that nothing was heard of and that then went on.

    Attributes:
        last_sign: of life.
        woke_at: when it can have gone on at the earliest; a client that has lost its connection is heard of later.
        next_sign: the next one.
    """

    last_sign: float
    woke_at: float
    next_sign: float


class Stay(Struct, kw_only=True):
    """One member id's time in the group.

    Attributes:
        begins_at: first JoinGroup; None = before the evidence begins.
        ends_at: what `ended` says happened then; None = it had not ended when the evidence does.
        ended: "left" (LeaveGroup), "poll_timeout" (LeaveGroup because the application did not poll), "silent" (not
            heard of any more), "refused" (it found out that it was a member no more, and lives), "unknown" (gone).
        removed_at: when the coordinator removed it.
        is_stalled: it was removed, or left, because its application did not poll.
        gaps: silences of a process that then went on.
        connections: TCP connections it used; two stays on one connection are one process.
        heartbeat_ms: its typical time between two heartbeats.
    """

    member_id: str
    client_id: str | None = None
    client_host: str | None = None
    group_instance_id: str | None = None
    begins_at: Span | None = None
    ends_at: Span | None = None
    ended: str | None = None
    removed_at: float | None = None
    is_stalled: bool = False
    gaps: list[Silence] = field(default_factory=list)
    connections: frozenset[str] = frozenset()
    heartbeat_ms: float = HEARTBEAT_INTERVAL_MS
    session_timeout_ms: int = SESSION_TIMEOUT_MS
    rebalance_timeout_ms: int = MAX_POLL_INTERVAL_MS
    protocols: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    join_version: int = 5


_STALLED = frozenset({"poll_timeout", "rebalance_timeout"})


def stays_of(evidence: Evidence) -> list[Stay]:
    """Return the stays of a group's members, in order of their begin."""
    told = _told(evidence.members)
    by_id = {session.member_id: session for session in evidence.sessions}
    if evidence.depth is Depth.REQUESTS:
        members = by_member(evidence.requests)
        usual, ends_at = _usual_heartbeat(members.values()), evidence.ends_at
        found = [_of_requests(key, asked, usual, ends_at) for key, asked in members.items()]
        stays = [stay for stay in found if stay is not None]
    else:
        rows: Generations = {(row.life, row.generation): row for row in evidence.generations}
        stays = [_of_session(session, told.get(session.member_id), rows) for session in evidence.sessions]
    elected = next((row.protocol for row in evidence.generations if row.protocol), "range")
    for stay in stays:
        _complete(stay, told.get(stay.member_id), by_id.get(stay.member_id), elected)
    return sorted(stays, key=lambda stay: stay.begins_at.latest if stay.begins_at else -inf)


def _told(members: Iterable[GenerationMemberRow]) -> dict[str, GenerationMemberRow]:
    """Return the first row of each member."""
    rows: dict[str, GenerationMemberRow] = {}
    for row in members:
        rows.setdefault(row.member_id, row)
    return rows


def _complete(stay: Stay, told: GenerationMemberRow | None, session: MemberSessionRow | None, elected: str) -> None:
    """Add what the other evidence knows of a stay."""
    if session is not None:
        stay.removed_at = session.ended_at
        stay.is_stalled = stay.ended == "poll_timeout" or session.end_cause in _STALLED
        if session.end_cause == "poll_timeout" and stay.ended == "left":
            stay.ended = "poll_timeout"
    if told is not None:
        stay.topics = stay.topics or tuple(told.topics or ())
        stay.session_timeout_ms = told.session_timeout_ms or stay.session_timeout_ms
        stay.rebalance_timeout_ms = told.rebalance_timeout_ms or stay.rebalance_timeout_ms
    stay.protocols = stay.protocols or (elected,)


# --- from the request log ------------------------------------------------------------------------------------------


def by_member(requests: Iterable[Asked]) -> dict[str, list[Asked]]:
    """Return the requests of each member id, in order; a joiner without one counts under the id it was given."""
    found: dict[str, list[Asked]] = {}
    for asked in requests:
        if asked.api == "LeaveGroup":
            ids = [leaver.member_id for leaver in asked.leaving_members or () if leaver.member_id]
            ids = ids or ([asked.member_id] if asked.member_id else [])
        else:
            ids = [each] if (each := asked.member_id or asked.answered_member_id) else []
        for member_id in ids:
            found.setdefault(member_id, []).append(asked)
    return found


def _of_requests(member_id: str, asked: list[Asked], usual: float, ends_at: float) -> Stay | None:
    """Read the stay of one member id out of its requests; None for an id that never joined."""
    joins = [each for each in asked if each.api == "JoinGroup"]
    is_member = any(each.error_code == Error.NONE for each in asked) or len(joins) > 1
    if not is_member:
        return None
    first = asked[0]
    stay = Stay(
        member_id=member_id,
        client_id=first.client_id,
        client_host=first.client_host,
        group_instance_id=next((each.group_instance_id for each in asked if each.group_instance_id), None),
        connections=frozenset(each.connection for each in asked if each.connection),
    )
    if joins:
        _take_join(stay, joins)
    given = [each.at for each in asked if each.api == "JoinGroup" and not each.member_id]
    if given:
        stay.begins_at = Span.exactly(min(given))
    stay.heartbeat_ms = heartbeat_interval(asked) or usual
    last = _take_end(stay, asked, ends_at)
    stay.gaps = _gaps(asked, last, stay.heartbeat_ms)
    return stay


def _take_join(stay: Stay, joins: list[Asked]) -> None:
    join = joins[-1]
    stay.session_timeout_ms = join.session_timeout_ms or stay.session_timeout_ms
    stay.rebalance_timeout_ms = join.rebalance_timeout_ms or stay.rebalance_timeout_ms
    stay.join_version = join.api_version if join.api_version is not None else stay.join_version
    stay.protocols = tuple(offered.name for offered in joins[0].protocols or ())
    for offered in joins[0].protocols or ():
        stay.topics = stay.topics or tuple(read_subscription(offered.metadata or b"").topics or ())


def _take_end(stay: Stay, asked: list[Asked], ends_at: float) -> int:
    """Note how a stay ended; return how many of its requests belong to it."""
    for index, each in enumerate(asked):
        if each.api == "LeaveGroup":
            is_slow = any(is_poll_timeout(leaver.reason) for leaver in each.leaving_members or ())
            stay.ended = "poll_timeout" if is_slow else "left"
            stay.ends_at = Span.exactly(each.at)
            return index
        if each.error_code in _FENCED and each.member_id:
            stay.ended, stay.ends_at = "refused", Span.exactly(each.at)
            return index + 1
    last = max(each.answered_at for each in asked)
    if ends_at - last > max(3 * stay.heartbeat_ms, stay.heartbeat_ms + 1_000):
        stay.ended, stay.ends_at = "silent", Span(last, last + stay.heartbeat_ms)
    return len(asked)


def heartbeat_interval(asked: Iterable[Asked]) -> float | None:
    """Return the typical time between two heartbeats of one member; None where it sent too few."""
    times = [each.at for each in asked if each.api == "Heartbeat" and each.error_code == Error.NONE]
    apart = [after - before for before, after in zip(times, times[1:], strict=False)]
    return median(apart) if len(apart) >= _ENOUGH_BEATS else None


_ENOUGH_BEATS = 3


def _usual_heartbeat(members: Iterable[list[Asked]]) -> float:
    known = [each for asked in members if (each := heartbeat_interval(asked))]
    return median(known) if known else HEARTBEAT_INTERVAL_MS


def _gaps(asked: list[Asked], count: int, heartbeat_ms: float) -> list[Silence]:
    """Return silences that are longer than a member's heartbeats can explain."""
    gaps: list[Silence] = []
    threshold = gap_threshold(heartbeat_ms)
    silent_since, connection = asked[0].answered_at, asked[0].connection
    for each in asked[1:count]:
        if each.at - silent_since > threshold:
            woke_at = each.at if each.connection == connection else silent_since + threshold
            gaps.append(Silence(silent_since, woke_at, each.at))
        silent_since, connection = max(silent_since, each.answered_at), each.connection
    return gaps


def gap_threshold(heartbeat_ms: float) -> float:
    """Return how long a healthy member may be silent: two heartbeats, and a client's main loop of a second."""
    return max(2.2 * heartbeat_ms, heartbeat_ms + 1_000)


# --- without one ---------------------------------------------------------------------------------------------------

Generations = Mapping[tuple[int, int | None], GenerationRow]
"""Generations by life and number, in order."""

_ENDED = {
    "left": "left",
    "poll_timeout": "poll_timeout",
    "session_expired": "silent",
    "rebalance_timeout": "silent",
    "sync_timeout": "silent",
    "replaced": "silent",
    "fenced": "refused",
    "group_over_capacity": "refused",
}


def _of_session(session: MemberSessionRow, told: GenerationMemberRow | None, rows: Generations) -> Stay:
    """Read a stay out of what the coordinator did."""
    timeout = (told.session_timeout_ms if told is not None else None) or SESSION_TIMEOUT_MS
    stay = Stay(
        member_id=session.member_id,
        client_id=session.client_id,
        client_host=session.client_host,
        group_instance_id=session.group_instance_id,
        heartbeat_ms=min(HEARTBEAT_INTERVAL_MS, timeout / 3),
    )
    joined, at = session.joined_at or _first_seen(session, rows), session.ended_at or _last_seen(session, rows)
    if joined is not None:
        stay.begins_at = Span.exactly(joined)
    if at is None or session.end_cause in (None, "group_ended"):
        return stay
    stay.ended = _ENDED.get(session.end_cause or "", "unknown")
    if session.end_cause == "session_expired":
        last = max(at - timeout, joined or at - timeout)
        stay.ends_at = Span(last, min(at, last + stay.heartbeat_ms))
    elif stay.ended in ("silent", "unknown"):
        stay.ends_at = Span(max(at - timeout, joined or at - timeout), at)
    else:
        stay.ends_at = Span.exactly(at)
    return stay


def _first_seen(session: MemberSessionRow, rows: Generations) -> float | None:
    """Return when the first generation of a member was agreed; None for one that may have been there before."""
    row = rows.get((session.life, session.first_generation))
    if row is None or (row.generation > 1 and row is next(iter(rows.values()))):
        return None
    return row.completing_at or row.stable_at


def _last_seen(session: MemberSessionRow, rows: Generations) -> float | None:
    """Return when the last generation of a member was over."""
    row = rows.get((session.life, session.last_generation))
    return None if row is None else row.ended_at
