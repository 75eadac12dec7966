"""What would stop a storm, said in its own figures: who, how often, which setting, what it saves and what it costs.

Nothing is advised where the evidence does not carry it; then the sentence says which evidence would decide.
"""

from __future__ import annotations

from collections.abc import Callable

from schemas.rows import RebalanceStormRow
from schemas.words import SEVERITIES
from transforms.findings.bounds import raise_first
from transforms.findings.client_settings import or_smaller_batches
from transforms.findings.evidence import Evidence
from transforms.findings.sentences import duration, listed, roomy_ms, setting, times, who
from transforms.findings.stay import OFTEN
from transforms.findings.storms.barrier import without_barrier
from transforms.findings.storms.causes import Cause
from transforms.findings.storms.facts import Facts
from transforms.findings.storms.failovers import coordinator_trouble
from transforms.findings.storms.kinds import Kind
from transforms.findings.storms.other_members import of_one_step, other_metadata
from transforms.findings.storms.patterns import MAIN_SHARE, Pattern
from transforms.findings.storms.static_members import static
from transforms.findings.storms.with_epochs import longer_session, slow_revoker


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
        causes=fitting,
        stays=list(stays.values()),
        waits=[cause.wait for cause in fitting if cause.wait is not None],
    )
    said = _mixed(facts, causes, pattern.is_harmless) if pattern.name == "mixed" else _SENTENCES[pattern.name](facts)
    further = None if row.severity == SEVERITIES[0] else without_barrier(evidence)
    return said if further is None else f"{said} {further}"


def _flapping(facts: Facts) -> str:
    away = facts.away_ms
    said = f"{facts.culprit} left {times(len(facts.stays))}"
    said += f" and came back within {duration(away)}" if away is not None else " and came back"
    if all(stay.was_late is None and stay.lived_on is None for stay in facts.stays):
        further = "" if facts.evidence.has_request_log() else ", or in the broker's request log"
        said += (
            ", each time after longer than it may be between two polls: whether somebody stopped it or it polled too "
            f"late is not in the data, but in its own log{further}"
        )
    return f"{said}. {static(facts, away, 'if it stays away, its partitions lie idle {} longer')}"


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
        f"mend. {static(facts, silent, 'partitions of a process that stays dead lie idle {} longer')}"
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
        f"never. {static(facts, silent, 'a process that stays away is noticed {} later')}"
    )


def _lost(facts: Facts) -> str:
    away, session = facts.away_ms, facts.session_ms
    said = f"{facts.culprit} sent no heartbeat for a whole session {times(len(facts.stays))}, but the process lived on"
    if away is not None and facts.has_epochs:
        return f"{said} and was back {duration(away)} later at most. {longer_session(facts, away)}"
    if away is None or session is None:
        return f"{said}. How long it was silent is not in the data; the client's log would tell."
    said += f" and was back {duration(away)} later at most: a pause of the process or its host, or of the way there."
    if facts.session_setting is None:
        return said
    value = roomy_ms(session + away)
    return (
        f"{said} {raise_first('classic', value, session)}{setting(facts.session_setting, value, session)} covers the "
        f"longest one, which saves {facts.saving}; the price: a process that is really dead is noticed "
        f"{duration(value - session)} later."
    )


def _slow(facts: Facts) -> str:
    poll, names = facts.poll_ms, facts.settings
    late = None if poll is None else facts.late_ms(poll)
    said = f"{facts.culprit} took too long between two polls, or in coming to a rebalance, {times(len(facts.stays))}"
    if late is None or poll is None:
        return f"{said}. By how much is not in the data: the client's log has the time of each poll that was too late."
    value = roomy_ms(poll + late)
    said += f": up to {duration(poll + late)}, with {duration(poll)} allowed."
    if names.poll is None:
        return said
    whose, costs = ("consumer", "; smaller batches cost a fetch more each") if names.are_consumers else ("worker", "")
    return (
        f"{said} {setting(names.poll, value, poll)} covers the longest{or_smaller_batches(names, poll / value)}; that "
        f"saves {facts.saving}; the price: a {whose} that hangs is noticed, and a rebalance waits for it, up to "
        f"{duration(value - poll)} longer{costs}."
    )


def _rolling(facts: Facts) -> str:
    clients = {stay.client.key for stay in facts.stays}
    said = f"{len(clients)} clients were restarted, one after the other"
    return f"{said}. {static(facts, _silent(facts), 'a client that stays away is noticed {} later', 'them')}"


def _silent(facts: Facts) -> float | None:
    """How long clients were away: those that died fell silent a session before it was noticed."""
    away, session = facts.away_ms, facts.session_ms
    is_dead = any(stay.end_cause == "session_expired" for stay in facts.stays)
    return away if away is None or not is_dead else away + (session or 0)


def _scaling(facts: Facts) -> str:
    came, went = facts.comings_and_goings
    told = [f"{verb} {times(count)}" for verb, count in (("came", came), ("went", went)) if count]
    together = "Started" if not went else "Stopped" if not came else "Started or stopped"
    price = "all of them are new at once" if came else "all of them are gone at once"
    return (
        f"Clients {' and '.join(told) or 'came or went'}, one at a time, in {facts.share}. {together} together they "
        f"make one rebalance{' each way' if came and went else ''}; the price: {price}."
    )


def _fencing(facts: Facts) -> str:
    instances = sorted({s.client.group_instance_id for s in facts.stays if s.client.group_instance_id})
    return (
        f"{facts.culprit} came under a group.instance.id that was in use"
        + (f" ({listed(instances)})" if instances else "")
        + f". An id for each process saves {facts.saving}, at no price."
    )


def _subscription(facts: Facts) -> str:
    if not facts.settings.are_consumers:
        return other_metadata(facts)
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
    if not facts.settings.are_consumers:
        return f"What the group shares out changed, which is behind {facts.share}. {of_one_step(facts)}"
    totals = [row.partitions_total for row in facts.evidence.generations if row.partitions_total is not None]
    grown = f" (partitions assigned: {totals[0]} at first, {totals[-1]} at last)" if totals else ""
    return (
        f"Topics or partitions that the group reads changed{grown}, which is behind {facts.share}. Made in one step "
        f"they save {max(0, facts.fitting - 1)} of them; with a pattern subscription each new topic counts, so a list "
        "of topics saves them all, at the price of a new version of the application for each topic."
    )


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
    "coordinator_trouble": coordinator_trouble,
    "slow_revoker": slow_revoker,
    "unknown": _unknown,
}
