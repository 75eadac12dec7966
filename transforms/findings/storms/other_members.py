"""Advice for classic groups whose members are no consumers: workers of Kafka Connect, schema registries, and others.

Of workers of Connect the settings are known; of others the cause alone is told.
"""

from __future__ import annotations

from transforms.findings.client_settings import CONNECT
from transforms.findings.sentences import roomy_ms
from transforms.findings.storms.facts import Facts

_DELAY, _DELAY_MS = "scheduled.rebalance.max.delay.ms", 300_000
"""For how long a group of Connect keeps what a lost worker ran for it (KIP-415), and its default."""


def without_instances(facts: Facts, whom: str) -> str:
    """Return what helps members that have no instance ids: what workers of Connect run need not move at least."""
    mend = f"what sends {whom} away is what to mend"
    if facts.evidence.protocol_type != CONNECT:
        return f"{mend[0].upper()}{mend[1:]}."
    said = f"Workers of Connect cannot be static members, so that each time makes a rebalance: {mend}."
    away = facts.away_ms
    if away is None:
        return said
    value = max(roomy_ms(away), _DELAY_MS)
    is_default = "the default, " if value == _DELAY_MS else ""
    return (
        f"{said} {_DELAY}={value}, {is_default}covers the longest absence: what a worker ran waits for it and does "
        "not move; the price: it stands still for so long if the worker stays away."
    )


def other_metadata(facts: Facts) -> str:
    """Return what it means that members join again with other metadata, which no subscription is part of."""
    said = f"{facts.culprit} joined again with other metadata in {facts.share}"
    if facts.evidence.protocol_type != CONNECT:
        return f"{said}: its log says why."
    return f"{said}, as workers do when connectors or tasks are added, changed or taken away. {of_one_step(facts)}"


def of_one_step(facts: Facts) -> str:
    """Return what is saved where changes are made together."""
    return f"Made in one step such changes save {max(0, facts.fitting - 1)} of them."
