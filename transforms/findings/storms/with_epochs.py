"""Advice for consumer, share and streams groups, where the settings and their effects are others than for classic ones.

Their sessions are a setting of the group, that no record tells. A static member of a consumer group that closes keeps
its partitions for a session; one that died has not given its instance id back, and who comes under it is refused until
the session is over (KIP-848). Share and streams groups have no static members.
"""

from __future__ import annotations

from collections.abc import Sequence

from transforms.findings.bounds import SESSION_BOUNDS, least_ms, raise_first
from transforms.findings.giving_up import how_to_give_up_sooner
from transforms.findings.sentences import counted, duration, listed, roomy_ms, times, who
from transforms.findings.storms.facts import Facts
from transforms.findings.storms.revoking import Wait


def static_with_epochs(facts: Facts, whom: str) -> str:
    """Return what static membership would do for clients that go and come back."""
    group_type, name = facts.evidence.group_type, facts.session_setting
    if group_type != "consumer":
        return (
            f"Members of {group_type} groups have no group.instance.id, so that each time makes a rebalance: what "
            "sends the client away is what to mend."
        )
    if any(stay.end_cause == "session_expired" for stay in facts.stays):
        return (
            f"A group.instance.id does not help against deaths: who died has not given it back, and is refused "
            f"(UNRELEASED_INSTANCE_ID) until its session is over. A longer {name} saves no rebalance either; a shorter "
            f"one, down to {SESSION_BOUNDS[group_type].least}, gives its partitions to others sooner, at the price "
            "that shorter pauses are taken for deaths."
        )
    away = facts.away_ms
    if away is None:
        return "How long it stayed away is not in the data; the broker's log around its returns would show it."
    value = max(roomy_ms(away), least_ms(group_type))
    is_static = all(client.group_instance_id for client in facts.clients)
    lets = f"{name}={value} or more" if is_static else f"A group.instance.id with {name}={value} or more"
    return (
        f"{raise_first(group_type, value)}{lets} lets {whom} come back without a rebalance, which saves "
        f"{facts.saving}; the price: partitions of one that stays away lie idle for so long."
    )


def longer_session(facts: Facts, away_ms: float) -> str:
    """Return by how much the session is to be longer for members that were silent for longer than it is."""
    group_type, more_ms = facts.evidence.group_type, roomy_ms(away_ms)
    more = duration(more_ms)
    first = raise_first(group_type, least_ms(group_type) + more_ms)
    return (
        f"{first}A {facts.session_setting} of the group that is {more} longer covers that, which saves {facts.saving}; "
        f"the price: a process that is really dead is noticed {more} later."
    )


def slow_revoker(facts: Facts) -> str:
    """Return who held rebalances up by not giving partitions up, for how long, and what would end it sooner."""
    said = f"{facts.culprit} gave partitions up late, or not at all, which is behind {facts.share}"
    if facts.waits:
        ms, of_ms, still_ms = (
            sum(getattr(wait, name) for wait in facts.waits) for name in ("ms", "of_ms", "stood_still_ms")
        )
        longest = max(facts.waits, key=lambda wait: wait.ms)
        slowest = who(longest.client.client_id, longest.client.client_host)
        said += (
            f": {duration(ms)} of the {duration(of_ms)} of those that waited for it, up to {duration(longest.ms)} at "
            f"once (for {slowest}), while {_standing_still(facts.waits)} stood still for {duration(still_ms)} together"
        )
    fenced = [stay for stay in facts.stays if stay.end_cause == "rebalance_timeout"]
    if fenced:
        names = sorted({who(stay.client.client_id, stay.client.client_host) for stay in fenced})
        said += f"; {listed(names)} never gave them up and was fenced {times(len(fenced))}"
    return f"{said}. {how_to_give_up_sooner(facts.evidence.group_type, facts.poll_ms, facts.settings)}"


def _standing_still(waits: Sequence[Wait]) -> str:
    """Partitions that nobody read meanwhile: how many there were, one that was taken away twice counted once."""
    parts = frozenset[str]().union(*(wait.partitions for wait in waits))
    return counted(len(parts), "partition that was taken away", "partitions that were taken away")
