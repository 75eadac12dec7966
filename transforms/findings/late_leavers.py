"""Clients that leave without saying why, and may have left because their application did not poll.

Only recent Java clients give a reason. A healthy consumer that lives for hours and is restarted leaves after more than
max.poll.interval.ms just as well: so it takes stays most of which ended near that limit, as work got stuck right after
it was read, and a return at once, to call a client slow. What was merely longer leaves it open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from transforms.findings.clients import Key
from transforms.findings.evidence import Evidence, first_known
from transforms.findings.stay import OFTEN, Stay

_NEAR_MS, _NEAR_TIMES = 10_000, 2
"""A stay is longer than the limit by the rebalance that it began with, and by what went well before work got stuck:
where that comes time and again, by no more than as much again, mostly."""

_HOURS_MS = 3_600_000
"""Who is away for longer, and for longer than it may be between two polls, was stopped, and not busy."""


def is_a_batch(away_ms: float, poll_ms: float) -> bool:
    """Whether a client that was out for so long may have been busy with what it had read."""
    return away_ms <= max(_HOURS_MS, poll_ms)


def tell_who_was_late(stays: Iterable[Stay], evidence: Evidence) -> None:
    """Tell who left each time after max.poll.interval.ms, of clients that do not say why they leave.

    A client that has not polled for so long leaves by itself; it is the rebalance timeout that it joined with. Of stays
    that ended as the storm began no member row is at hand: there its other stays tell, the longest timeout of them.
    """
    allowed = {row.member_id: row.rebalance_timeout_ms for row in evidence.members}
    spoke = {row.trigger_member_id for row in evidence.generations if row.client_reason}
    left: dict[Key, list[Stay]] = defaultdict(list)
    for stay in stays:
        if stay.end_cause == "left":
            left[stay.client.own].append(stay)
    for of_client in left.values():
        is_told = len(of_client) < OFTEN or any(stay.member_id in spoke for stay in of_client)
        was_late = False if is_told else _were_late(of_client, allowed)
        for stay in of_client:
            stay.was_late = was_late


def _were_late(stays: list[Stay], allowed: dict[str, int | None]) -> bool | None:
    """Whether a client's stays ended as it did not poll in time; null = they were long enough, but few soon after."""
    known = [allowed.get(stay.member_id) for stay in stays]
    longest = max((limit for limit in known if limit is not None), default=None)
    limits = [first_known(limit, longest) for limit in known]
    if longest is None or any(_is_short(*each) for each in zip(stays, limits, strict=True)):
        return False
    near = [_is_near(*each) for each in zip(stays, limits, strict=True) if each[0].joined_at is not None]
    return True if sum(near) >= OFTEN - 1 and 2 * sum(near) > len(near) else None


def _is_short(stay: Stay, limit_ms: int | None) -> bool:
    """Whether a stay was over too soon for the limit; one that began before the data was not, for all that is known."""
    if stay.ended_at is None or limit_ms is None:
        return True
    return stay.joined_at is not None and stay.ended_at - stay.joined_at < limit_ms


def _is_near(stay: Stay, limit_ms: int | None) -> bool:
    """Whether a stay ended soon after the limit, and the client came back as soon as a batch may be over."""
    stayed_ms, limit_ms = (stay.ended_at or 0.0) - (stay.joined_at or 0.0), limit_ms or 0
    away_ms = stay.away_ms
    return stayed_ms <= _NEAR_TIMES * limit_ms + _NEAR_MS and (away_ms is None or away_ms <= limit_ms)
