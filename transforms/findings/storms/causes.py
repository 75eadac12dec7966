"""Why a group rebalanced, one rebalance at a time: not what the last straw was, but what set it going.

Where a member dies and comes back, its return is not why the group rebalances: its death is. So each rebalance is put
down to what its member had gone by, or went by soon after; and each has a kind, of which patterns are made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from schemas.rows import GenerationRow
from transforms.findings.clients import Client
from transforms.findings.evidence import Evidence, began_at
from transforms.findings.moves import moves_of
from transforms.findings.stay import Stay
from transforms.findings.stays import LEAVES, Stays, client_of
from transforms.findings.storms.kinds import Kind
from transforms.findings.storms.revoking import Wait, longest_waits
from transforms.findings.storms.subscriptions import Subscriptions

_WORD_OF_END = {end: trigger for trigger, end in LEAVES.items()} | {
    "fenced": "static_member_replaced",
    "replaced": "static_member_replaced",
    "group_over_capacity": "group_over_capacity",
}
_KIND_OF_END = {
    "poll_timeout": Kind.SLOW,
    "rebalance_timeout": Kind.SLOW,
    "fenced": Kind.FENCED,
    "replaced": Kind.FENCED,
}

_BROKERS_FAULT = ("coordinator_failover", "assignment_store_failed")
_METADATA = ("topic_metadata_changed", "subscription_changed", "leader_rejoined", "regex_changed")
_OF_NO_MEMBER = ("topology_changed", "partitions_initialised")
"""Triggers that are no member's doing: what the group reads has changed, or is there now."""

_AFTER_A_MOVE = (
    "session_expired",
    "member_joined",
    "member_removed",
    "leader_rejoined",
    "unknown",
    "rebalance_timeout",
    "sync_timeout",
)
"""Triggers that a move of the coordinator brings about: clients find the new one late, join again, or are forgotten."""

FIRST = 1
"""Number of the first generation of a life: whoever comes in it founds the group."""

_REVOKE = "need to revoke partitions"
"""With it a cooperative member joins again, to give away what it has let go (KIP-429)."""


@dataclass(frozen=True)
class Cause:
    """What a rebalance is put down to.

    Attributes:
        kind: what it is part of.
        trigger: the cause in the words of `schemas.words.TRIGGERS`.
        client: whose doing it is; null = nobody's, or not known.
        stay: the stay that it is about.
        wait: how long the rebalance waited for what it is about.
    """

    kind: Kind
    trigger: str
    client: Client | None = None
    stay: Stay | None = None
    wait: Wait | None = None


def causes_of(evidence: Evidence, stays: Stays) -> list[list[Cause]]:
    """Return the causes of each rebalance of a storm, the main one first; each has one at least."""
    subscriptions = Subscriptions(evidence)
    moves = moves_of(evidence)
    waits = longest_waits(evidence)
    found: list[list[Cause]] = []
    for number, row in enumerate(evidence.generations):
        at = began_at(row) or 0.0
        if row.trigger in _BROKERS_FAULT or (row.trigger in _AFTER_A_MOVE and moves.explain(at)):
            found.append([Cause(Kind.COORDINATOR, _of_coordinator(row))])
        elif _follows_up(row, subscriptions.has_grown(number)) and found:
            found.append(found[-1])
        else:
            client = client_of(row, stays) or subscriptions.changed_by(number)
            of_members = list(_of_members(row, stays, subscriptions.kind_of(number), client))
            found.append(of_members or [Cause(Kind.OTHER, row.trigger, client)])  # of nobody's stay anything is known
        if (wait := waits[number]) is not None and wait.is_most:
            found[-1] = [*found[-1], Cause(Kind.REVOKER, row.trigger, wait.client, wait=wait)]
    return found


def _of_coordinator(row: GenerationRow) -> str:
    return row.trigger if row.trigger in _BROKERS_FAULT else "coordinator_failover"


def _follows_up(row: GenerationRow, has_grown: bool) -> bool:
    """Whether a rebalance is the second half of the one before, in which partitions are given to their new owners."""
    if _REVOKE in (row.client_reason or ""):
        return True
    if "cooperative" not in (row.protocol or "") or row.is_subscription_changed is not False:
        return False
    return row.trigger in _METADATA[1:] or (_is_among_members(row) and not has_grown)


def _is_among_members(row: GenerationRow) -> bool:
    """Whether nothing but the records shows a rebalance, and nobody came or went in it."""
    return row.trigger == "unknown" and row.joined_member_ids == [] and row.departed_member_ids == []


def _of_members(row: GenerationRow, stays: Stays, of_subscription: Kind, client: Client | None) -> Iterator[Cause]:
    """What the members did in a rebalance: first the one that triggered it, then those that came and went in it."""
    mine, since = _who_triggered(row, stays), began_at(row) or 0.0
    yield from _of_trigger(row, mine, of_subscription, client)
    for member_id in row.departed_member_ids or ():
        stay = stays.ended_since(member_id, since)
        if stay is not None and stay is not mine and _ended_in(stay, row) and not stay.is_handed_on:
            yield _of_end(stay)
    for member_id in row.joined_member_ids or ():
        stay = stays.begun_since(member_id, since)
        if stay is not None and stay is not mine and not (stay.before is not None and stay.before.is_handed_on):
            yield of_return(stay, row)


def _who_triggered(row: GenerationRow, stays: Stays) -> Stay | None:
    since = began_at(row) or 0.0
    find = {"member_joined": stays.begun_since, **dict.fromkeys(LEAVES, stays.ended_since)}.get(row.trigger, stays.at)
    return find(row.trigger_member_id, since) or _by_time(row, stays)


def _of_trigger(row: GenerationRow, mine: Stay | None, of_subscription: Kind, client: Client | None) -> Iterator[Cause]:
    trigger = row.trigger
    if trigger in LEAVES and mine is not None:
        yield _of_end(mine)
    elif trigger == "member_joined" and mine is not None:
        yield of_return(mine, row)
    elif trigger in _METADATA or (_is_among_members(row) and of_subscription is not Kind.OTHER):
        word = _word_of(of_subscription, trigger)
        yield Cause(of_subscription, word, None if of_subscription is Kind.METADATA else client)
    elif trigger in _OF_NO_MEMBER:
        yield Cause(Kind.METADATA, trigger)
    elif trigger == "static_member_replaced":
        yield Cause(Kind.FENCED, trigger, client, mine)
    elif trigger not in ("unknown", "converted") or not (row.joined_member_ids or row.departed_member_ids):
        yield Cause(Kind.OTHER, trigger, client)


def _word_of(kind: Kind, trigger: str) -> str:
    if kind is Kind.METADATA:
        return trigger if trigger == "regex_changed" else "topic_metadata_changed"
    return "subscription_changed" if trigger == "unknown" else trigger


def _by_time(row: GenerationRow, stays: Stays) -> Stay | None:
    """The stay that triggered a rebalance of which only the client is known."""
    at, key = began_at(row), Client(row.trigger_client_id, row.trigger_client_host).key
    if row.trigger_client_id is None:
        return None
    moments = ((stay, stay.joined_at if row.trigger == "member_joined" else stay.ended_at) for stay in stays)
    return next((stay for stay, moment in moments if moment == at and stay.client.key == key), None)


def _ended_in(stay: Stay, row: GenerationRow) -> bool:
    """Whether a stay ended in this very rebalance: `departed_member_ids` counts from the last stable generation."""
    since = began_at(row)
    return stay.ended_at is not None and since is not None and stay.ended_at >= since


def of_return(stay: Stay, row: GenerationRow) -> Cause:
    """What a member's coming is put down to: what it had gone by; or, the first time, what it went by afterwards."""
    if stay.before is not None:
        return _of_end(stay.before)
    if stay.ended_at is not None and stay.after is not None:
        return Cause(_kind_of_end(stay), "member_joined", stay.client, stay)
    kind = Kind.FOUNDING if row.generation == FIRST else Kind.ARRIVAL
    return Cause(kind, "member_joined", stay.client, stay)


def _of_end(stay: Stay) -> Cause:
    kind = _kind_of_end(stay)
    word = _WORD_OF_END.get(stay.end_cause or "", "unknown")
    if kind is Kind.SLOW and stay.end_cause == "left":
        word = "poll_timeout"
    if stay.is_handed_on:
        word = "instance_replaced"
    return Cause(kind, word, stay.client, stay)


def _kind_of_silence(stay: Stay) -> Kind:
    """What it is part of that a member's session ran out."""
    if stay.lived_on:
        return Kind.LOST
    if stay.after is None:
        return Kind.DEPARTURE
    return Kind.SILENT if stay.lived_on is None else Kind.CRASH


def _kind_of_end(stay: Stay) -> Kind:
    """What a member's going is part of.

    A client that leaves, lives on and comes back had no time to poll: closing a consumer closes its connection. Clients
    other than recent Java ones do not say why they leave.
    """
    if stay.is_handed_on:
        return Kind.RESTART
    if stay.end_cause == "rebalance_timeout" and stay.group_type != "classic":
        return Kind.REVOKER  # there are no joins to wait for: it was to give partitions up
    if stay.end_cause in _KIND_OF_END:
        return _KIND_OF_END[stay.end_cause]
    if stay.end_cause == "session_expired":
        return _kind_of_silence(stay)
    if stay.end_cause == "left":
        if stay.lived_on or (stay.lived_on is None and stay.was_late):
            return Kind.SLOW
        return Kind.RESTART if stay.after is not None else Kind.DEPARTURE
    if stay.end_cause in ("unknown", "removed"):
        return Kind.RETURN if stay.after is not None else Kind.DEPARTURE
    return Kind.OTHER
