"""Who sent what was refused: how each client had gone, and what it did when it was told."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from transforms.findings.bursts.course import Course, in_force_at
from transforms.findings.clients import Client
from transforms.findings.evidence import Evidence, Request
from transforms.findings.stay import Stay
from transforms.findings.stays import stays_of

COMMITS = ("OffsetCommit", "TxnOffsetCommit")

_TOLD_MS = 500
"""What a client sends within this time after its first refusal was on its way, or one round of work."""

_BACK_MS = 10_000
"""Who lives on joins again within this time after its last refusal: what it has read is done, and it polls."""


@dataclass(frozen=True)
class Sender:
    """One client whose requests were refused.

    Attributes:
        client: who it is, as far as its requests say.
        refused: its requests, in order; never empty.
        stay: its last stay that had ended by then, or the one that it is still in; null = it is not known as a member.
        was_gone: the coordinator had removed it.
        returned_at: when it joined again, as another member; null = it did not.
    """

    client: Client
    refused: list[Request]
    stay: Stay | None
    was_gone: bool
    returned_at: float | None

    @property
    def told_at(self) -> float:
        """When it was told, the first time."""
        return self.refused[0].answered_at

    @property
    def sent(self) -> int | None:
        """The newest generation that it sent."""
        return max((g for r in self.refused if (g := r.held_generation) is not None), default=None)

    @property
    def went_on(self) -> int:
        """How many requests it sent after it had been told, other than to come back.

        Of heartbeats there is but one at a time: the next was sent after the first had been answered, even if a log
        that was written late has both at one moment.
        """
        until = float("inf") if self.returned_at is None else self.returned_at
        known = [r for r in self.refused if not r.comes_or_goes and r.answered_at <= until]
        later = sum(self.told_at + _TOLD_MS < request.answered_at for request in known)
        return max(later, sum(request.api == "Heartbeat" for request in known) - 1)

    @property
    def held_on(self) -> int:
        """How many requests it sent, at most, under an epoch under which it had been refused before.

        Commits may be on their way when the first is refused; of heartbeats there is but one at a time. Requests of
        which nothing tells that one member sent them do not count: each may be somebody's first.
        """
        first: dict[tuple[str, int], float] = {}
        counts: Counter[tuple[str, int]] = Counter()
        for request in self.refused:
            who = request.member_id or request.connection or (self.stay and self.stay.member_id)
            if who and (epoch := request.held_generation) is not None:
                key, on_their_way_ms = (who, epoch), _TOLD_MS if request.api in COMMITS else 0
                counts[key] += request.answered_at > first.setdefault(key, request.answered_at) + on_their_way_ms
        return max(counts.values(), default=0)

    @property
    def was_closing(self) -> bool:
        """Whether it had left in good order, and what was refused had been on its way then."""
        ended_at = self.stay.ended_at if self.was_gone and self.stay is not None else None
        if ended_at is None or self.stay is None or self.stay.end_cause != "left":
            return False
        return self.refused[-1].answered_at <= ended_at + _TOLD_MS

    @property
    def came_back(self) -> bool:
        """Whether it joined again once it had been told, by itself: as soon as it was done with what it had read."""
        is_other = self.stay is not None and self.stay.lived_on is False
        if self.returned_at is None or is_other:
            return False
        return self.told_at <= self.returned_at <= self.refused[-1].answered_at + _BACK_MS

    @property
    def has_member(self) -> bool:
        """Whether it spoke as a member, or is known as one."""
        return self.stay is not None or self.sent is not None or any(r.member_id for r in self.refused)

    @property
    def instance(self) -> str | None:
        """The group.instance.id under which it spoke, else that of its stay."""
        return self.client.group_instance_id or (self.stay.client.group_instance_id if self.stay else None)

    @property
    def is_kept_out(self) -> bool:
        """Whether it only tried to come in, so that nothing had shut it out."""
        return self.refused[0].error == "UNRELEASED_INSTANCE_ID"

    def shut_out_at(self, course: Course) -> float | None:
        """When it was shut out: removed, or left behind by the change of generation."""
        if self.is_kept_out:
            return None
        if self.was_gone and self.stay is not None:
            return self.stay.ended_at
        change = None if self.sent is None else course.change_after(self.sent, self.told_at)
        return None if change is None else in_force_at(change)


def senders_of(evidence: Evidence) -> list[Sender]:
    """Return the senders of a burst, in the order in which they were first refused.

    A client forgets its member id when it leaves, and some do when they are told that they are out (librdkafka): so a
    request without one belongs to the client of that name, and the client to the member it was last. One client can be
    shut out several times in a burst: then it is several senders.
    """
    stays = stays_of(evidence)
    of_client = _of_clients(stays)
    sent: dict[tuple[str | None, ...], list[Request]] = defaultdict(list)
    of_sender: dict[tuple[str | None, ...], Stay | None] = {}
    for request in evidence.refused:
        named = of_client.get((request.client_id, request.client_host))
        mine = stays.at(request.member_id, request.answered_at)
        if mine is None and named is not None:
            mine = named.last_at(request.answered_at)
        key = _key_of(request, mine)
        sent[key].append(request)
        of_sender.setdefault(key, mine)
    return [_sender(requests, of_sender[key], of_client) for key, requests in sent.items()]


class _OfClient:
    """The stays of clients of one name.

    Args:
        stays: in any order; at least one.
    """

    def __init__(self, stays: list[Stay]) -> None:
        self._stays = stays
        ended = [(stay.ended_at, -place) for place, stay in enumerate(stays) if stay.ended_at is not None]
        self._ended = sorted(ended)
        self._begun = sorted(stay.joined_at for stay in stays if stay.joined_at is not None)

    def last_at(self, moment: float) -> Stay | None:
        """Return the stay that ended last before a moment, else the one that was under way."""
        place = bisect_right(self._ended, (moment, 0))
        if place:
            return self._stays[-self._ended[place - 1][1]]
        begun = (stay for stay in reversed(self._stays) if stay.joined_at is None or stay.joined_at <= moment)
        return next(begun, None)

    def back_since(self, moment: float) -> float | None:
        """Return when the first stay began after a moment."""
        place = bisect_right(self._begun, moment)
        return self._begun[place] if place < len(self._begun) else None


def _of_clients(stays: Iterable[Stay]) -> dict[tuple[str | None, ...], _OfClient]:
    """Return the stays by the name and host of their client, and by its name alone, where it has one."""
    found: dict[tuple[str | None, ...], list[Stay]] = defaultdict(list)
    for stay in stays:
        for host in {stay.client.client_host, None}:  # a client's log does not tell on which host it is
            if stay.client.client_id is not None:
                found[stay.client.client_id, host].append(stay)
    return {client: _OfClient(of_client) for client, of_client in found.items()}


def _key_of(request: Request, stay: Stay | None) -> tuple[str | None, ...]:
    client = ("", request.member_id or None) if request.client_id is None else (request.client_id, request.client_host)
    return (*client, stay.member_id if stay is not None else None)


def _sender(sent: list[Request], stay: Stay | None, of_client: dict[tuple[str | None, ...], _OfClient]) -> Sender:
    first = sent[0]
    client = Client(first.client_id, first.client_host, first.group_instance_id)
    if first.client_id is None and stay is not None:
        client = stay.client
    ended_at = None if stay is None else stay.ended_at
    if stay is None or ended_at is None or ended_at > sent[-1].answered_at:
        return Sender(client, sent, stay, False, None)
    named = of_client.get((first.client_id, first.client_host))
    later = [None if named is None else named.back_since(ended_at)]
    if stay.after is not None:
        later.append(stay.after.joined_at)
    return Sender(client, sent, stay, True, min((at for at in later if at is not None), default=None))
