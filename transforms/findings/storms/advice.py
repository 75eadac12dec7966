"""What would stop a storm, said in its own figures: who, how often, which setting, what it saves and what it costs.

Nothing is advised where the evidence does not carry it; then the sentence says which evidence would decide.
"""

from __future__ import annotations

from collections.abc import Callable

from schemas.rows import RebalanceStormRow
from schemas.words import SEVERITIES
from transforms.findings.evidence import Evidence
from transforms.findings.sentences import duration, listed, roomy_ms, setting, times, who
from transforms.findings.stays import OFTEN, stays_of
from transforms.findings.storms.barrier import without_barrier
from transforms.findings.storms.causes import Cause
from transforms.findings.storms.facts import Facts
from transforms.findings.storms.kinds import Kind
from transforms.findings.storms.patterns import MAIN_SHARE, Pattern
from transforms.findings.storms.with_epochs import longer_session, slow_revoker, static_with_epochs

_POLL = "max.poll.interval.ms"


def advice_for(row: RebalanceStormRow, evidence: Evidence, pattern: Pattern, causes: list[list[Cause]]) -> str:
    """Say what goes on in a storm and what would stop it.

    Args:
        row: the storm, but for its advice.
        evidence: what it was found in.
        pattern: what goes on in it.
        causes: what each of its rebalances is put down to.
    """
    fitting = [cause for each in pattern.fitting for cause in each]
    stays = {id(c.stay): c.stay for c in fitting if c.stay is not None and c.stay.ended_at is not None}
    clients = {c.client.key: c.client for c in fitting if c.client is not None}
    facts = Facts(
        row,
        evidence,
        fitting=sum(map(bool, pattern.fitting)),
        saved=sum(any(cause.trigger != "member_joined" for cause in each) for each in pattern.fitting),
        clients=list(clients.values()),
        stays=list(stays.values()),
        waits=[cause.wait for cause in fitting if cause.wait is not None],
    )
    said = _mixed(facts, causes, pattern.is_harmless) if pattern.name == "mixed" else _SENTENCES[pattern.name](facts)
    further = None if row.severity == SEVERITIES[0] else without_barrier(evidence)
    return said if further is None else f"{said} {further}"


def _static(facts: Facts, silent_ms: float | None, so_long: str, whom: str = "it") -> str:
    """Static membership, with a session that covers the time away.

    Its price is a longer session, and all of it where clients said that they went: static members do not.
    """
    if facts.has_epochs:
        return static_with_epochs(facts, whom)
    if silent_ms is None:
        return "How long it stayed away is not in the data; the broker's log around its returns would show it."
    value = max(roomy_ms(silent_ms), facts.session_ms or 0)
    is_static = all(client.group_instance_id for client in facts.clients)
    is_told = not is_static and any(stay.end_cause == "left" for stay in facts.stays)
    later = value if is_told else value - (facts.session_ms or 0)
    price = "at no price" if facts.session_ms and not later else f"the price: {so_long.format(duration(later))}"
    static = "" if is_static else "a group.instance.id with "
    sentence = (
        f"{static}{setting(facts.session_setting, value, facts.session_ms)} lets {whom} come back without a rebalance, "
    )
    return f"{sentence[0].upper() if static else sentence[0]}{sentence[1:]}which saves {facts.saving}; {price}."


def _flapping(facts: Facts) -> str:
    away = facts.away_ms
    said = f"{facts.culprit} left {times(len(facts.stays))}"
    said += f" and came back within {duration(away)}" if away is not None else " and came back"
    return f"{said}. {_static(facts, away, 'if it stays away, its partitions lie idle {} longer')}"


def _crash(facts: Facts) -> str:
    away, session = facts.away_ms, facts.session_ms
    silent = None if away is None or session is None else away + session
    died = f"{facts.culprit} fell silent for a whole session {times(len(facts.stays))} and came back as a new member"
    by = "over a new connection and without a request in between"
    if not facts.evidence.has_request_log():
        by = (
            "not as one that was only away: before its session was over, from elsewhere, with an assignor that "
            "remembered nothing, or without a word in its log"
        )
    return (
        f"{died}, {by}: the process died each time, which is what to "
        f"mend. {_static(facts, silent, 'partitions of a process that stays dead lie idle {} longer')}"
    )


def _either(facts: Facts) -> str:
    away, session = facts.away_ms, facts.session_ms
    silent = None if away is None or session is None else away + session
    known = [stay.lived_on for stay in facts.stays if stay.lived_on is not None]
    said = f"{facts.culprit} fell silent for a whole session {times(len(facts.stays))} and came back as a new member"
    of_some = f", of which the process died {times(known.count(False))} and paused {times(known.count(True))}"
    return (
        f"{said}{of_some if known else ''}. Whether {'the others' if known else 'its process'} died or only paused is "
        "not in the data: the client's own log at INFO decides it, where it is told UNKNOWN_MEMBER_ID or starts anew, "
        "or the broker's request log (kafka.request.logger at DEBUG), by requests of the old member that come late or "
        f"never. {_static(facts, silent, 'a process that stays away is noticed {} later')}"
    )


def _lost(facts: Facts) -> str:
    away, session = facts.away_ms, facts.session_ms
    said = f"{facts.culprit} sent no heartbeat for a whole session {times(len(facts.stays))}, but the process lived on"
    if away is not None and facts.has_epochs:
        return f"{said} and was back {duration(away)} later at most. {longer_session(facts, away)}"
    if away is None or session is None:
        return f"{said}. How long it was silent is not in the data; the client's log would tell."
    value = roomy_ms(session + away)
    return (
        f"{said} and was back {duration(away)} later at most: a pause of the process or its host, or of the way there. "
        f"{setting(facts.session_setting, value, session)} covers the longest one, which saves {facts.saving}; the "
        f"price: a process that is really dead is noticed {duration(value - session)} later."
    )


def _slow(facts: Facts) -> str:
    away, poll = facts.away_ms, facts.poll_ms
    said = f"{facts.culprit} took too long between two polls, or in coming to a rebalance, {times(len(facts.stays))}"
    if away is None or poll is None:
        return f"{said}. By how much is not in the data: the client's log has the time of each poll that was too late."
    took = poll + away
    value = roomy_ms(took)
    return (
        f"{said}: up to {duration(took)}, with {duration(poll)} allowed. {setting(_POLL, value, poll)} covers the "
        f"longest, or max.poll.records at {100 * poll / value:.0f} % of what it is; that saves {facts.saving}. The "
        f"price: a consumer that hangs is noticed, and a rebalance waits for it, up to {duration(value - poll)} "
        "longer; smaller batches cost a fetch more each."
    )


def _rolling(facts: Facts) -> str:
    clients = {stay.client.key for stay in facts.stays}
    said = f"{len(clients)} clients were restarted, one after the other"
    return f"{said}. {_static(facts, _silent(facts), 'a client that stays away is noticed {} later', 'them')}"


def _silent(facts: Facts) -> float | None:
    """How long clients were away: those that died fell silent a session before it was noticed."""
    away, session = facts.away_ms, facts.session_ms
    is_dead = any(stay.end_cause == "session_expired" for stay in facts.stays)
    return away if away is None or not is_dead else away + (session or 0)


def _scaling(facts: Facts) -> str:
    came = sum(name == "member_joined" for row in facts.evidence.generations for name in [row.trigger])
    return (
        f"Clients came ({came} times) and went, one at a time, in {facts.share}. Started or stopped together they "
        "make one rebalance each way; the price is that all of them are new at once."
    )


def _fencing(facts: Facts) -> str:
    instances = sorted({s.client.group_instance_id for s in facts.stays if s.client.group_instance_id})
    return (
        f"{facts.culprit} came under a group.instance.id that was in use"
        + (f" ({listed(instances)})" if instances else "")
        + f". An id for each process saves {facts.saving}, at no price."
    )


def _subscription(facts: Facts) -> str:
    refused = [r for r in facts.evidence.requests if r.error == "INCONSISTENT_GROUP_PROTOCOL"]
    said = f"{facts.culprit} changed its subscription or assignors in {facts.share}, unlike the other members"
    if refused:
        names = sorted({r.client_id or "a client without a name" for r in refused})
        said += f"; {listed(names)} shares no assignor with them and was refused {times(len(refused))}"
    return (
        f"{said}. A group.id of its own for each version saves these rebalances; the price: the new group begins "
        "without offsets, so they have to be set from the old one's."
    )


def _metadata(facts: Facts) -> str:
    totals = [row.partitions_total for row in facts.evidence.generations if row.partitions_total is not None]
    grown = f" (partitions assigned: {totals[0]} at first, {totals[-1]} at last)" if totals else ""
    return (
        f"Topics or partitions that the group reads changed{grown}, which is behind {facts.share}. Made in one step "
        f"they save {max(0, facts.fitting - 1)} of them; with a pattern subscription each new topic counts, so a list "
        "of topics saves them all, at the price of a new version of the application for each topic."
    )


def _coordinator(facts: Facts) -> str:
    brokers = [row.broker for row in sorted(facts.evidence.coordinators, key=lambda row: row.from_at or 0.0)]
    way = " → ".join(str(broker) for broker in brokers[:6]) + (" …" if len(brokers) > 6 else "")
    moved = (
        f"The group's coordinator moved {times(len(brokers) - 1)} ({way})"
        if len(brokers) > 1
        else ("The group's coordinator failed over, or could not store")
    )
    said = f"{moved}, which is behind {facts.share}; no client is to blame, look at restarts and elections of brokers."
    session, silent = facts.session_ms, _longest_silence(facts)
    if session is None or silent is None:
        return said
    value = roomy_ms(silent)
    return (
        f"{said} Members were without a coordinator for up to {duration(silent)} and lost their sessions: "
        f"{setting(facts.session_setting, value, session)} covers that; the price: a dead process is noticed "
        f"{duration(value - session)} later."
    )


def _longest_silence(facts: Facts) -> float | None:
    """The longest time without a heartbeat that members came back from."""
    stays = stays_of(facts.evidence)
    away = [s.away_ms for s in stays if s.end_cause == "session_expired" and s.away_ms is not None]
    return max(away) + (facts.session_ms or 0) if away else None


def _mixed(facts: Facts, causes: list[list[Cause]], is_harmless: bool) -> str:
    counts: dict[Kind, int] = {}
    for each in causes:
        for kind in {cause.kind for cause in each}:
            counts[kind] = counts.get(kind, 0) + 1
    parts = [f"{kind.value} ({count})" for kind, count in sorted(counts.items(), key=lambda item: -item[1])]
    count = facts.row.rebalance_count
    is_seldom = max(counts.values()) >= MAIN_SHARE * count
    said = (
        f"What made most of the {count} rebalances is neither a habit of anybody's nor a restart of all"
        if is_seldom
        else f"No single story fits half of the {count} rebalances"
    )
    said += f": {'; '.join(parts[:4])}."
    if is_harmless:
        return (
            f"{said} They fell together by chance: nobody went as often as {OFTEN} times, and at most one process "
            "died, paused or polled too late."
        )
    whose = "their logs over this time show" if len(facts.clients) > 1 else "its log over this time shows"
    return f"{said} Most of them go back to {facts.culprit}: {whose} what came first."


def _unknown(facts: Facts) -> str:
    has = set(facts.row.evidence)
    if "broker_log" not in has:
        needed = "the broker's log of the group coordinator at INFO says why each rebalance began"
    elif "request_log" not in has:
        needed = "the broker's request log (kafka.request.logger at DEBUG) shows who joined, left and fell silent"
    else:
        needed = f"the log of {who(facts.row.main_client_id, facts.row.main_client_host)} shows why it joined again"
    returns = [stay for stay in facts.stays if stay.end_cause in ("unknown", "removed") and stay.after is not None]
    if len(returns) > 1:
        names = sorted({who(stay.client.client_id, stay.client.client_host) for stay in returns})
        return (
            f"{listed(names)} went and came back {times(len(returns))} in {facts.row.rebalance_count} rebalances; "
            f"whether that was a restart, a death, a pause or a late poll is not in the data: {needed}."
        )
    return f"What set the {facts.row.rebalance_count} rebalances going is not in the data: {needed}."


_SENTENCES: dict[str, Callable[[Facts], str]] = {
    "flapping_member": _flapping,
    "crash_loop": _crash,
    "lost_session": _lost,
    "crash_or_pause": _either,
    "slow_poll_loop": _slow,
    "rolling_restart": _rolling,
    "scaling": _scaling,
    "fencing_war": _fencing,
    "subscription_conflict": _subscription,
    "metadata_refresh": _metadata,
    "coordinator_trouble": _coordinator,
    "slow_revoker": slow_revoker,
    "unknown": _unknown,
}
