"""Who came and went around a storm: stays of members, tied to the stays that the same client had before.

A member of a classic group has one stay; one of a consumer, share or streams group keeps its id when it comes back.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate

from schemas.rows import GenerationRow, MemberSessionRow
from transforms.findings.clients import Client
from transforms.findings.evidence import SLACK_MS, Evidence, began_at, first_known
from transforms.findings.late_leavers import tell_who_was_late
from transforms.findings.returns import tie_returns
from transforms.findings.stay import Stay
from transforms.findings.survivors import tell_who_lived_on

LEAVES = {
    "member_left": "left",
    "session_expired": "session_expired",
    "poll_timeout": "poll_timeout",
    "rebalance_timeout": "rebalance_timeout",
    "sync_timeout": "sync_timeout",
    "member_removed": "removed",
}
"""Triggers that say how a member went, and the end cause that they stand for."""


class Stays:
    """The stays of a group's members, in the order in which they began; those that began before the data come first.

    Args:
        in_order: all of them.
    """

    def __init__(self, in_order: Iterable[Stay]) -> None:
        self._of_members: dict[str, list[Stay]] = defaultdict(list)
        for stay in in_order:
            self._of_members[stay.member_id].append(stay)
        self._begins = {member_id: list(map(_begin, stays)) for member_id, stays in self._of_members.items()}
        self._ends = {member_id: list(accumulate(map(_end, s), max)) for member_id, s in self._of_members.items()}

    def __iter__(self) -> Iterator[Stay]:
        """Go through all stays, member by member."""
        return (stay for of_member in self._of_members.values() for stay in of_member)

    def at(self, member_id: str | None, moment: float) -> Stay | None:
        """Return the last stay of a member that had begun by a moment, else its first."""
        return self._stay(member_id, bisect_right(self._begins.get(member_id or "", ()), moment + SLACK_MS) - 1)

    def begun_since(self, member_id: str | None, moment: float) -> Stay | None:
        """Return the first stay of a member that began after a moment, else its last."""
        return self._stay(member_id, bisect_left(self._begins.get(member_id or "", ()), moment - SLACK_MS))

    def ended_since(self, member_id: str | None, moment: float) -> Stay | None:
        """Return the first stay of a member that ended after a moment, else its last."""
        return self._stay(member_id, bisect_left(self._ends.get(member_id or "", ()), moment - SLACK_MS))

    def _stay(self, member_id: str | None, place: int) -> Stay | None:
        """Return one of a member's stays; beyond them, the nearest."""
        mine = self._of_members.get(member_id or "", ())
        return mine[min(max(place, 0), len(mine) - 1)] if mine else None


def _begin(stay: Stay) -> float:
    return float("-inf") if stay.joined_at is None else stay.joined_at


def _end(stay: Stay) -> float:
    return float("-inf") if stay.ended_at is None else stay.ended_at


def stays_of(evidence: Evidence) -> Stays:
    """Return the stays, returns tied to what they are returns of.

    Where sessions are not known, what triggered the rebalances takes their place.
    """
    stays = _of_sessions(evidence.sessions) if evidence.sessions else _of_triggers(evidence.generations)
    _complete_times(stays, evidence.generations)
    in_order = sorted(stays, key=_begin)
    session_ms = max((row.session_timeout_ms or 0 for row in evidence.members), default=0)
    tie_returns(in_order, session_ms)
    tell_who_lived_on(in_order, evidence)
    tell_who_was_late(in_order, evidence)
    return Stays(in_order)


def _of_sessions(sessions: Iterable[MemberSessionRow]) -> list[Stay]:
    return [
        Stay(
            row.member_id,
            Client(row.client_id, row.client_host, row.group_instance_id),
            row.joined_at,
            row.ended_at,
            row.end_cause,
            group_type=row.group_type,
        )
        for row in sessions
        if row.end_cause is not None or row.joined_at is not None or row.ended_at is None
    ]


def _complete_times(stays: Iterable[Stay], generations: Iterable[GenerationRow]) -> None:
    """Date comings and goings that nothing but the records shows: by when a generation was in force with or without."""
    came: dict[str, float] = {}
    went: dict[str, float] = {}
    for row in generations:
        at = first_known(row.completing_at, row.stable_at, row.emptied_at)
        if at is None:
            continue
        for member_ids, moments in ((row.joined_member_ids, came), (row.departed_member_ids, went)):
            for member_id in member_ids or ():
                moments.setdefault(member_id, at)
    for stay in stays:
        if stay.joined_at is None:
            stay.joined_at = came.get(stay.member_id)
        if stay.ended_at is None and stay.end_cause is not None:
            stay.ended_at = went.get(stay.member_id)


def _of_triggers(generations: Iterable[GenerationRow]) -> list[Stay]:
    stays: dict[str, Stay] = {}
    for number, row in enumerate(generations):
        if row.trigger_client_id is None and row.trigger_member_id is None:
            continue
        client = Client(row.trigger_client_id, row.trigger_client_host)
        member_id = row.trigger_member_id or f"{client.key}"
        if row.trigger == "member_joined":
            key = member_id if member_id not in stays else f"{member_id} {number}"
            stays[key] = Stay(key, client, began_at(row), None, None)
        elif row.trigger in LEAVES:
            mine = [s for s in stays.values() if s.ended_at is None and s.client.key == client.key]
            stay = stays.get(member_id) or (mine[-1] if mine else None)
            if stay is None or stay.ended_at is not None:
                stay = Stay(member_id if stay is None else f"{member_id} {number}", client, None, None, None)
                stays[stay.member_id] = stay
            stay.ended_at, stay.end_cause = began_at(row), LEAVES[row.trigger]
    return list(stays.values())


def client_of(row: GenerationRow, stays: Stays) -> Client | None:
    """Return the client that triggered a rebalance, if one is known."""
    stay = stays.at(row.trigger_member_id, began_at(row) or 0.0)
    if stay is not None:
        return stay.client
    client_id = first_known(row.trigger_client_id)
    return None if client_id is None else Client(client_id, row.trigger_client_host)
