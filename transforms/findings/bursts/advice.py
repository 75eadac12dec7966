"""What would prevent a burst, said in its own figures; where the evidence does not carry advice, what would decide."""

from __future__ import annotations

from collections.abc import Callable

from schemas.rows import IllegalGenerationBurstRow
from transforms.findings.bounds import SESSION_BOUNDS, least_ms, raise_first
from transforms.findings.bursts.facts import Facts
from transforms.findings.bursts.holders import told_of
from transforms.findings.bursts.senders import Sender
from transforms.findings.client_settings import or_smaller_batches
from transforms.findings.evidence import Evidence
from transforms.findings.sentences import SESSION_SETTINGS, duration, listed, roomy_ms, setting, times


def advice_for(row: IllegalGenerationBurstRow, evidence: Evidence, senders: list[Sender]) -> str:
    """Say what goes on in a burst, what it cost and what would prevent it.

    Args:
        row: the burst, but for its advice.
        evidence: what it was found in.
        senders: whose requests were refused.
    """
    return _SENTENCES[row.suspected_cause](Facts(row, evidence, senders))


_OUTLIVED = {
    "ILLEGAL_GENERATION": "a generation that its member had left",
    "STALE_MEMBER_EPOCH": "an epoch that its member had left",
}
"""What a thread has outlived whose own member is still in the group, by what it is told."""


def _zombie(facts: Facts) -> str:
    row = facts.row
    went_on = f" for {duration(row.zombie_ms)}" if row.zombie_ms is not None else ""
    behind = f", {row.behind_count} {facts.step}s behind" if (row.behind_count or 0) > 1 else ""
    change = f" by {facts.step} {row.fenced_by_generation}" if row.fenced_by_generation is not None else ""
    is_gone = any(sender.was_gone for sender in facts.senders)
    outlived = "its membership" if is_gone else _OUTLIVED.get(row.error, "its membership")
    return (
        f"{facts.names} went on{went_on} after being shut out{change}{behind}, although refused "
        f"{times(row.error_count)}: a thread or process that outlived {outlived}. {facts.price} What it wrote "
        f"elsewhere stands. It has to stop at the first {row.error}, and to commit from the thread that polls; the "
        "price: work since the last commit is given up at once."
    )


def _slow(facts: Facts) -> str:
    poll, name = facts.of_members("rebalance_timeout_ms"), facts.settings.poll
    late = None if poll is None else facts.late_ms(poll)
    after = ", and committed afterwards" if facts.row.lost_commit_count else ""
    said = f"{facts.names} had taken too long between two polls, or in coming to a rebalance{after}."
    if late is None or poll is None:
        return f"{said} {facts.price} By how much it was late is in the client's log."
    what, whose = ("A batch", "consumer") if facts.settings.are_consumers else ("It", "worker")
    said += f" {facts.price} {what} took up to {duration(poll + late)}"
    if name is None:
        return f"{said}."
    value = roomy_ms(poll + late)
    return (
        f"{said}: {setting(name, value, poll)} covers it{or_smaller_batches(facts.settings, poll / value)}, and saves "
        f"all {facts.row.error_count} refusals; the price: a {whose} that hangs is noticed {duration(value - poll)} "
        "later."
    )


def _lost(facts: Facts) -> str:
    away, session = facts.away_ms, facts.of_members("session_timeout_ms")
    said = f"{facts.names} lost the session and stopped when told so: the process had paused. {facts.price}"
    group_type, name = facts.evidence.group_type, facts.settings.session
    if away is not None and group_type != "classic":
        first, more = raise_first(group_type, least_ms(group_type) + roomy_ms(away)), duration(roomy_ms(away))
        return (
            f"{said} It was back {duration(away)} after the session was over{f'. {first}A' if first else ': a'} "
            f"{SESSION_SETTINGS[group_type]} of the group that is {more} longer covers that and saves all "
            f"{facts.row.error_count} refusals; the price: a process that is dead is noticed {more} later."
        )
    if away is None or session is None:
        return f"{said} For how long is in the client's log, or in that of its host."
    said += f" The silence lasted up to {duration(session + away)}"
    if name is None:
        return f"{said}."
    value = roomy_ms(session + away)
    first = raise_first(group_type, value, session)
    return (
        f"{said}{f'. {first}' if first else ': '}{setting(name, value, session)} covers that and saves all "
        f"{facts.row.error_count} refusals; the price: a process that is dead is noticed {duration(value - session)} "
        "later."
    )


def _coordinator(facts: Facts) -> str:
    brokers = [str(row.broker) for row in facts.evidence.coordinators][-2:]
    became = f"moved ({' → '.join(brokers)})" if len(brokers) > 1 else "moved"
    if len(brokers) > 1 and brokers[0] == brokers[1]:
        became = f"restarted (broker {brokers[0]})"
    return (
        f"The group's coordinator {became} or lost {facts.step}s just before; {facts.names} held what only the one "
        f"before knew. {facts.price} No setting of the clients prevents it: look at the brokers' restarts and "
        "elections then."
    )


def _in_flight(facts: Facts) -> str:
    if all(sender.was_closing for sender in facts.senders):
        return _closing(facts)
    change = facts.row.fenced_by_generation
    to = f" to {facts.step} {change}" if change is not None else ""
    said = (
        f"Requests of {facts.names} were on their way while the group went over{to}: normal, if it is rare. "
        f"{facts.price}"
    )
    if not facts.settings.are_consumers:
        return said
    return (
        f"{said} A commit in onPartitionsRevoked, before partitions are given back, saves them, at the price of a "
        "longer rebalance."
    )


def _closing(facts: Facts) -> str:
    """What to say of clients that left with requests on their way."""
    said = f"{facts.names} left the group with requests on their way: normal, if it is rare. {facts.price}"
    if not facts.row.lost_commit_count:
        return said
    return (
        f"{said} Whoever closes a consumer has to wait for its commits first: a synchronous commit before the close "
        "saves them; the price: the close takes one request longer."
    )


def _instances(facts: Facts) -> str:
    found = {
        instance
        for s in facts.senders
        for instance in (s.client.group_instance_id, s.stay.client.group_instance_id if s.stay else None)
        if instance
    }
    return f" ({listed(sorted(found))})" if found else ""


def _unreleased(facts: Facts) -> str:
    return (
        f"{facts.names} came under a group.instance.id{_instances(facts)} that a process which died, or hung, had not "
        f"given back: {facts.kept_out}. {told_of(facts.holders)} {_FATAL} A consumer that is closed gives its id back "
        "at once: whoever stops it must leave it the time to close. After a death, start it again when the session is "
        f"over; {_shorter(facts)}"
    )


def _shorter(facts: Facts) -> str:
    """What to say of a shorter session: brokers refuse what is below their bound, by default that is what is usual."""
    known = [holder.session_timeout_ms for holder in facts.holders if holder.session_timeout_ms is not None]
    name, bounds = SESSION_SETTINGS["consumer"], SESSION_BOUNDS["consumer"]
    if known and max(known) == bounds.least_ms:
        return f"a shorter {name} of the group is refused below {bounds.least}."
    return (
        f"a shorter {name} of the group, down to {bounds.least}, ends it sooner; the price: shorter pauses are taken "
        "for deaths."
    )


_FATAL = "Java's client and librdkafka end at the first such refusal, so that each is a start in vain."


def _held(facts: Facts) -> str:
    """What to say of instances of which nothing tells whether who held them was alive."""
    return (
        f"{facts.names} came under a group.instance.id{_instances(facts)} that another member had not given back: "
        f"{facts.kept_out}. {told_of(facts.holders)} {_FATAL} If that member is dead, start "
        "again when its session is over; if it lives, two processes share an id, and each needs its own."
    )


def _war(facts: Facts) -> str:
    shared = _instances(facts)
    if facts.row.error == "UNRELEASED_INSTANCE_ID":
        return (
            f"One group.instance.id{shared} is used by {facts.names} while another process lives under it: whoever "
            f"comes second is kept out. {told_of(facts.holders)} An id for each process saves {_saved(facts)}, at no "
            "price."
        )
    return (
        f"One group.instance.id{shared} is used in turn by {facts.names}: whoever starts fences the other. "
        f"{facts.price} An id for each process saves all {facts.row.error_count} refusals, at no price."
    )


def _retry(facts: Facts) -> str:
    return (
        f"Commits of {facts.names} were tried again and again while the group waited for a rejoin: the retries kept "
        f"the rebalance from ending. {facts.price} A commit refused in a rebalance must not be retried before the "
        "client has joined again; the price: what it covered is done once more if the partition moves."
    )


def _not_a_member(facts: Facts) -> str:
    return (
        f"{facts.names} commits under this group.id without being a member of the group: a tool, or a consumer with "
        "assign(). That is no fault of the group: a coordinator takes such commits only while there are no members. "
        f"{facts.price} A group.id of its own saves all {facts.row.error_count} refusals, at the price of setting its "
        "offsets once."
    )


def _saved(facts: Facts) -> str:
    """Return how many refusals an id for each process saves: not those of ids that the dead held."""
    count = facts.row.error_count - sum(len(each.kept_out) for each in facts.holders if each.is_dead)
    share = f"all {count}" if count == facts.row.error_count else f"{count} of {facts.row.error_count}"
    return "the refusal" if facts.row.error_count == 1 else f"{share} refusals"


def _unknown(facts: Facts) -> str:
    row = facts.row
    if row.error == "UNRELEASED_INSTANCE_ID":
        return _held(facts)
    if not row.member_ids and row.stale_generation_max is None:
        return (
            f"Whether {facts.names} was a member is not in the data: the broker's request log names member and "
            f"{facts.step} of each commit. {facts.price}"
        )
    if any("broker_log" in each.evidence for each in facts.evidence.generations):
        return (
            f"How {facts.names} had gone is not in the data: the coordinator's log names no removal that goes with it; "
            f"what came first is in the log of {facts.names} over this time. {facts.price}"
        )
    return (
        f"How {facts.names} had gone is not in the data: the broker's coordinator log at INFO says when and why "
        f"members were removed. {facts.price}"
    )


_SENTENCES: dict[str, Callable[[Facts], str]] = {
    "zombie": _zombie,
    "slow_poller": _slow,
    "lost_session": _lost,
    "coordinator_move": _coordinator,
    "rebalance_in_flight": _in_flight,
    "fencing_war": _war,
    "commit_retry": _retry,
    "not_a_member": _not_a_member,
    "unreleased_instance": _unreleased,
    "unknown": _unknown,
}
