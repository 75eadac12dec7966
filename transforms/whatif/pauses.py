"""Whose pauses would not have been, had the group spoken the consumer protocol (`group.protocol=consumer`, KIP-848).

In a classic rebalance with an eager assignor every member gives up all that it has before it joins, and gets its
partitions when the rebalance is over. In a consumer group a member gives up only what its target has not, and nobody
waits at a barrier for the others. So a member that kept all that it had stood still for nothing, as far as the
partitions would have been shared out as they were; what the broker's assignor would have made of it is not foretold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from schemas.rows import GenerationMemberRow, GenerationRow
from transforms.holdings import Holding
from transforms.whatif.figures import Window, began_at
from transforms.whatif.sharing import COOPERATIVE

_EAGER = ("range", "roundrobin", "sticky")
"""Kafka's assignors that take everything away first (RebalanceProtocol.EAGER); by these names clients in other
languages send theirs as well. What one of another name does is not known."""


class History(Protocol):
    """Rows of one group, its generations in their order, and what its members held."""

    generations: list[GenerationRow]
    members: list[GenerationMemberRow]

    @property
    def holdings(self) -> list[Holding]:
        """By member and generation."""


@dataclass(slots=True)
class Pauses:
    """What rebalances cost members that had partitions before and stayed; times in ms, all members together.

    A pause is a rebalance as one member felt it. It lasts no longer than the rebalance: how soon a member noticed is
    not looked at.

    Attributes:
        observed: pauses.
        observed_ms: how long they lasted at most; null = when rebalances began is not known.
        avoided: those of members that kept all that they had.
        avoided_ms: how long these lasted at most; likewise.
        partly: those of members of which something was taken: in a consumer group only that would have stood still.
        not_known: rebalances of which assignments or the assignor's way are not known.
        cooperative: rebalances in which members kept what they had, as they do in a consumer group.
    """

    observed: int = 0
    observed_ms: float | None = 0.0
    avoided: int = 0
    avoided_ms: float | None = 0.0
    partly: int = 0
    not_known: int = 0
    cooperative: int = 0


def pauses_of(evidence: History, window: Window) -> Pauses:
    """Count the pauses of a group's rebalances that began within a time.

    A rebalance that comes to no assignment is part of the one that follows: members wait on through both.
    """
    found = Pauses()
    held = _held(evidence)
    before: Mapping[str, set[str]] = {}
    unsettled: list[GenerationRow] = []
    life: int | None = None
    for row in evidence.generations:
        if row.life != life:
            before, unsettled, life = {}, [], row.life
        if row.trigger == "coordinator_failover" and row.preparing_at is None:
            continue
        unsettled.append(row)
        if row.stable_at is not None:
            now = held.get((row.life, row.generation))
            since = began_at(unsettled[0])
            if before and since is not None and window.holds(since):
                _add(found, row, before, now, _lasted_ms(unsettled, row.stable_at))
            before, unsettled = now or {}, []
        elif row.emptied_at is not None:
            before, unsettled = {}, []
    return found


def _lasted_ms(unsettled: list[GenerationRow], until: float) -> float | None:
    """How long members waited through some rebalances, of which the last one came to an end."""
    since = unsettled[0].preparing_at
    return None if since is None else until - since


def _held(evidence: History) -> dict[tuple[int, int], dict[str, set[str]]]:
    """Return the partitions of each member by life and generation, those of static members by their instance."""
    held: dict[tuple[int, int], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for member in evidence.members:
        _ = held[member.life, member.generation][_name(member.group_instance_id, member.member_id)]
    for row in evidence.holdings:
        held[row.life, row.generation][_name(row.group_instance_id, row.member_id)].update(row.partitions)
    return {key: dict(of_members) for key, of_members in held.items() if any(of_members.values())}


def _name(group_instance_id: str | None, member_id: str) -> str:
    return member_id if group_instance_id is None else f"instance {group_instance_id}"


def _add(
    found: Pauses,
    row: GenerationRow,
    before: Mapping[str, set[str]],
    now: Mapping[str, set[str]] | None,
    lasted_ms: float | None,
) -> None:
    if row.protocol == COOPERATIVE:
        found.cooperative += 1
        return
    if now is None or row.protocol not in _EAGER:
        found.not_known += 1
        return
    for name, had in before.items():
        if not had or name not in now:
            continue
        found.observed += 1
        found.observed_ms = _sum(found.observed_ms, lasted_ms)
        if had <= now[name]:
            found.avoided += 1
            found.avoided_ms = _sum(found.avoided_ms, lasted_ms)
        else:
            found.partly += 1


def _sum(so_far: float | None, more: float | None) -> float | None:
    return None if so_far is None or more is None else so_far + more
