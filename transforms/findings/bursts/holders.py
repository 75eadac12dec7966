"""Who held the instance ids under which others were kept out: since when, and whether it lived."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from schemas.client_defaults import SESSION_TIMEOUT_MS
from schemas.rows import MemberSessionRow
from transforms.findings.bursts.senders import Sender
from transforms.findings.evidence import Evidence, Request
from transforms.findings.sentences import SESSION_SETTINGS, duration, stamp, who

_MOST = 3
"""So many holders are told of one by one."""

_SILENT = ("session_expired", "removed")
_OWN_DOING = ("left", "poll_timeout", "rebalance_timeout", "replaced")
"""Ends of a stay that tell of a process which lived until then."""


@dataclass(frozen=True)
class Holder:
    """A member that held an instance id while others asked to join under it.

    Attributes:
        instance: the group.instance.id.
        stay: its stay in the group.
        kept_out: the requests that were refused meanwhile, in order; never empty.
        seen_until: end of the data (epoch ms); None = not known.
        is_heard: it was granted a request after it had kept somebody out, as the request log shows.
        session_timeout_ms: how long it might be silent, as printed; None = nothing tells.
    """

    instance: str
    stay: MemberSessionRow
    kept_out: list[Request]
    seen_until: float | None
    is_heard: bool = False
    session_timeout_ms: int | None = None

    @property
    def due_at(self) -> float:
        """When its session is over at the latest, if it was dead when it kept somebody out the first time."""
        return self.kept_out[0].answered_at + (self.session_timeout_ms or SESSION_TIMEOUT_MS)

    @property
    def is_dead(self) -> bool | None:
        """Whether it was dead, so that nobody lived who could have given the id back; None = nothing tells yet.

        What it was granted since tells that it lived; where no request log has any, the end of its session tells.
        """
        if self.is_heard:
            return False
        end, cause = self.stay.ended_at, self.stay.end_cause
        if end is not None and end <= self.due_at:
            return True if cause in _SILENT else False if cause in _OWN_DOING else None
        if end is not None:
            return False
        return None if self.seen_until is None or self.seen_until <= self.due_at else False

    @property
    def is_awaited(self) -> bool:
        """Whether its session, by ending or not, is still to tell if it was dead."""
        return self.is_dead is None and self.stay.ended_at is None

    @property
    def told(self) -> str:
        """Who it is, since when, and how its session ended or will end."""
        stay, first = self.stay, self.kept_out[0]
        is_itself = all(request.member_id == stay.member_id for request in self.kept_out)
        name = "the same member" if is_itself else f"member {stay.member_id}"
        since = "since before the data begin" if stay.joined_at is None else f"since {stamp(stay.joined_at)}"
        said = f"{self.instance} was held by {name} of {who(stay.client_id, stay.client_host)} {since}"
        if self.is_heard:
            said += ", which went on meanwhile"
        if stay.ended_at is not None and stay.end_cause in _SILENT:
            return f"{said}, until its session ended at {stamp(stay.ended_at)}, {_after(first, stay.ended_at)}"
        if stay.ended_at is not None:
            return f"{said}, until {stamp(stay.ended_at)}, {_after(first, stay.ended_at)}"
        if self.is_dead is False:
            return f"{said}, and still is where the data end"
        name, due = SESSION_SETTINGS["consumer"], f"if it is dead, its session ends by {stamp(self.due_at)}"
        if self.session_timeout_ms:
            return f"{said}; {due}, as {name} is {duration(self.session_timeout_ms)}"
        return f"{said}; {due}, unless {name} is more than {duration(SESSION_TIMEOUT_MS)}"


def _after(first: Request, moment: float) -> str:
    return f"{duration(max(0.0, moment - first.answered_at))} after the first refusal"


class Holders:
    """Who had which instance id when, and what it was granted.

    Args:
        evidence: of the burst.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._stays: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for place, row in enumerate(evidence.sessions):
            if row.group_instance_id is not None:
                self._stays[row.group_instance_id].append((row.joined_at or float("-inf"), place))
        self._heard: dict[str, list[float]] = defaultdict(list)
        for each in evidence.heard:
            self._heard[each.member_id].append(each.answered_at)
        for stays in self._stays.values():
            stays.sort()
        for granted in self._heard.values():
            granted.sort()

    def of(self, senders: Iterable[Sender]) -> list[Holder]:
        """Return who held the ids under which some clients asked to join, in the order of the first who was kept out.

        Args:
            senders: the clients.
        """
        kept_out: dict[tuple[str, int], list[Request]] = defaultdict(list)
        asked = [(request, name) for sender in senders for request in sender.refused if (name := sender.instance)]
        for request, instance in sorted(asked, key=lambda each: each[0].answered_at):
            place = self._place(instance, request.answered_at)
            if place is not None:
                kept_out[instance, place].append(request)
        return [
            Holder(
                instance,
                stay := self._evidence.sessions[place],
                requests,
                self._evidence.seen_until,
                self._is_heard(stay, requests[0].answered_at),
                self._evidence.session_timeout_ms(requests[0].answered_at),
            )
            for (instance, place), requests in kept_out.items()
        ]

    def _place(self, instance: str, moment: float) -> int | None:
        """Return which stay had an instance id at a moment: of several the one that came last."""
        stays = self._stays[instance]
        for number in reversed(range(bisect_right(stays, (moment, len(self._evidence.sessions))))):
            place = stays[number][1]
            ended_at = self._evidence.sessions[place].ended_at
            if ended_at is None or ended_at >= moment:
                return place
        return None

    def _is_heard(self, stay: MemberSessionRow, since: float) -> bool:
        """Whether a member was granted anything in its stay, since it kept somebody out."""
        until = float("inf") if stay.ended_at is None else stay.ended_at
        granted = self._heard[stay.member_id]
        return bisect_right(granted, since) < bisect_right(granted, until)


def cause_by(holders: list[Holder]) -> str:
    """Return what lies behind refusals, one of `schemas.words.SUSPECTED_CAUSES`, by who held the instance ids."""
    dead = sum(len(holder.kept_out) for holder in holders if holder.is_dead)
    alive = sum(len(holder.kept_out) for holder in holders if holder.is_dead is False)
    if not dead and not alive:
        return "unknown"
    return "unreleased_instance" if dead >= alive else "fencing_war"


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def told_of(holders: list[Holder]) -> str:
    """Return a sentence about holders; where there are none, what would tell of them."""
    if holders:
        return f"{'; '.join(holder.told for holder in holders[:_MOST])}{_more(len(holders) - _MOST)}."
    return "Who held it is not in the data: the group's records or the request log name it."
