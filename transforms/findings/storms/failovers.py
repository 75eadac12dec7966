"""Advice on storms that brokers brought about: how the coordinator moved, and what its members suffered from that."""

from __future__ import annotations

from itertools import groupby

from transforms.findings.bounds import raise_first
from transforms.findings.evidence import Evidence
from transforms.findings.moves import moves_of
from transforms.findings.sentences import duration, roomy_ms, setting, times
from transforms.findings.stays import stays_of
from transforms.findings.storms.facts import Facts

_MOST = 6
"""So many brokers are told of one by one."""


def coordinator_trouble(facts: Facts) -> str:
    """Return how often the coordinator moved, and which session covers the longest time without one."""
    said = (
        f"The group's coordinator {_moved(facts.evidence)}, which is behind {facts.share}; no client is to blame, look "
        "at restarts and elections of brokers."
    )
    name, session, silent = facts.session_setting, facts.session_ms, _longest_silence(facts)
    if session is None or silent is None:
        return said
    said += f" Members were without a coordinator for up to {duration(silent)} and lost their sessions"
    if name is None:
        return f"{said}."
    group_type, value = facts.evidence.group_type, roomy_ms(silent)
    covers = f"{setting(name, value, session)} covers that; the price: a dead process is noticed"
    first = raise_first(group_type, value, session)
    return f"{said}{f'. {first}' if first else ': '}{covers} {duration(value - session)} later."


def _moved(evidence: Evidence) -> str:
    """Return what became of the coordinator: a broker that follows itself came back after a restart."""
    brokers = [row.broker for row in evidence.coordinators if row.broker is not None]
    if len(brokers) < 2:
        return "failed over, or could not store"
    way = [broker for broker, _ in groupby(brokers)]
    restarts = len(brokers) - len(way)
    told = [f"moved {times(len(way) - 1)}"] if len(way) > 1 else []
    told += [f"restarted {times(restarts)}"] if restarts else []
    names = " → ".join(way[:_MOST]) + (" …" if len(way) > _MOST else "")
    return f"{' and '.join(told)} ({names if len(way) > 1 else f'broker {names}'})"


def _longest_silence(facts: Facts) -> float | None:
    """The longest time without a heartbeat that members came back from, of those that a move has cut off."""
    moves, session_ms = moves_of(facts.evidence), facts.session_ms or 0
    away = [
        away_ms + session_ms
        for stay in stays_of(facts.evidence)
        if stay.end_cause == "session_expired" and (away_ms := stay.away_ms) is not None
        if stay.ended_at is not None and moves.explain(stay.ended_at)
    ]
    return max(away, default=None)
