"""What static membership would do for clients that go and come back."""

from __future__ import annotations

from transforms.findings.bounds import least_ms, raise_first
from transforms.findings.sentences import duration, roomy_ms, setting
from transforms.findings.storms.facts import Facts
from transforms.findings.storms.other_members import without_instances
from transforms.findings.storms.with_epochs import static_with_epochs


def static(facts: Facts, silent_ms: float | None, so_long: str, whom: str = "it") -> str:
    """Return what static membership would do, with a session that covers the time away.

    Its price is a longer session, and all of it where clients said that they went: static members do not.

    Args:
        facts: of the storm.
        silent_ms: the longest that a client was silent; null = not known.
        so_long: what the price is, with {} for by how much later.
        whom: what the sentence calls the clients.
    """
    if facts.has_epochs:
        return static_with_epochs(facts, whom)
    names = facts.settings
    if names.instance is None or names.session is None:
        return without_instances(facts, whom)
    if silent_ms is None:
        return "How long it stayed away is not in the data; the broker's log around its returns would show it."
    session = facts.session_ms
    value = max(roomy_ms(silent_ms), least_ms("classic", session))
    is_static = all(client.group_instance_id for client in facts.clients)
    is_told = not is_static and any(stay.end_cause == "left" for stay in facts.stays)
    later = value if is_told else value - (session or 0)
    price = "at no price" if session and not later else f"the price: {so_long.format(duration(later))}"
    lets = setting(names.session, value, session)
    lets = lets if is_static else f"A {names.instance} with {lets}"
    return (
        f"{raise_first('classic', value, session)}{lets} lets {whom} come back without a rebalance, which saves "
        f"{facts.saving}; {price}."
    )
