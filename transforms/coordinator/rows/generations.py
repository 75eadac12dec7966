"""Rows of `gold.generations`, `gold.generation_members` and `gold.assignments`.

What a generation is depends on those beside it: it ends where the next begins, and who came and went is told against
the last one that was Stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain as one_after_another
from typing import NamedTuple

from schemas.rows import AssignmentRow, GenerationMemberRow, GenerationRow
from transforms.coordinator.assignors.memory import remembered_generation
from transforms.coordinator.assignors.recognise import assignor_of
from transforms.coordinator.evidence.sources import EVIDENCE_OF
from transforms.coordinator.rows.tables import Sink, whole
from transforms.coordinator.timeline.chain import Chain, ended_at, outcome_of, partition_counts, put_in_turn, stable_at
from transforms.coordinator.timeline.facts import GenerationFacts, MemberFacts, value_of
from transforms.coordinator.timeline.lives import Life

_EVIDENCE_ORDER = ("offsets", "broker_log", "request_log", "client_log")

Members = Mapping[str, MemberFacts]


class Links(NamedTuple):
    """A generation beside those around it.

    Attributes:
        row: the generation.
        outcome: how it came out.
        ended_at: when it ended.
        chain: what it is compared to.
        life: its life.
        members: who was in it at its end.
        before: who was in the last stable one at its end; nobody if there is none.
        joined: members that were not in the last stable one; None = not known.
        departed: those of that one that are not in it; likewise.
    """

    row: GenerationFacts
    outcome: str | None
    ended_at: float | None
    chain: Chain
    life: Life
    members: Members
    before: Members
    joined: list[str] | None
    departed: list[str] | None


def say_generation(
    sink: Sink, cluster: str, group_id: str, life: Life, row: GenerationFacts, following: GenerationFacts | None
) -> None:
    """Add the rows of a generation, and let its life's chain go on to the next."""
    chain = life.chain
    chain.begin(row)
    put_in_turn(row, following)
    outcome = outcome_of(row, following is not None)
    if outcome == "empty":
        row.members = {}  # whoever the replayed machine took for a member
    links = _links(life, row, following, outcome)
    rows = sink.rows
    rows.generations.append(sink.stamped(_generation_row(cluster, group_id, links)))
    rows.generation_members += sink.all_stamped(_member_rows(cluster, group_id, links))
    rows.assignments += sink.all_stamped(_assignment_rows(cluster, group_id, links))
    chain.passed(row, links.outcome, links.ended_at)


def _links(life: Life, row: GenerationFacts, following: GenerationFacts | None, outcome: str | None) -> Links:
    chain, members = life.chain, row.current_members
    before: Members = {} if chain.last_stable is None else chain.last_stable.current_members
    joined = departed = None
    if (row.members or outcome == "empty") and _is_last_known(chain):
        joined, departed = _missing(before, members), _missing(members, before)
    later = () if following is None else one_after_another((following,), life.after(following))
    until = ended_at(later, life.ended_at)
    return Links(row, outcome, until, chain, life, members, before, joined, departed)


def _is_last_known(chain: Chain) -> bool:
    """Whether it is known who was in the last stable generation, or that there was none."""
    if chain.last_stable is not None:
        return bool(chain.last_stable.members)
    return (chain.first_number or 0) <= 1


def _missing(here: Members, those: Members) -> list[str]:
    """Return those that are not here, in order."""
    return sorted(those.keys() - here.keys())


# --- gold.generations ----------------------------------------------------------------------------------------------


def _generation_row(cluster: str, group_id: str, links: Links) -> GenerationRow:
    row, outcome, chain = links.row, links.outcome, links.chain
    is_empty = outcome == "empty"
    stable, emptied = (None, value_of(row.emptied_at)) if is_empty else (stable_at(row), None)
    preparing_at = value_of(row.preparing_at)
    reached = emptied if stable is None else stable
    culprit = value_of(row.trigger_member_id)
    # No more than fifteen keywords, here and below: beyond that, a call takes four times as long; the rest is set.
    said = GenerationRow(
        cluster=cluster,
        group_id=group_id,
        life=row.life,
        generation=row.generation,
        protocol_type=value_of(row.protocol_type),
        preparing_at=whole(preparing_at),
        stable_at=whole(stable),
        emptied_at=whole(emptied),
        ended_at=whole(links.ended_at),
        outcome=outcome,
        trigger=_trigger(links),
        trigger_member_id=culprit,
        evidence=_evidence(row),
        is_inferred=_is_inferred(row, outcome),
        missing_before=row.generation - chain.last_number - 1,
    )
    if not is_empty:
        said.protocol, said.leader_member_id = value_of(row.protocol), value_of(row.leader)
        said.completing_at = whole(value_of(row.completing_at))
    if preparing_at is not None and reached is not None:
        said.rebalance_ms = int(reached) - int(preparing_at)
    said.trigger_client_id, said.trigger_client_host = _client_of(links.life, culprit)
    said.reason, said.client_reason = value_of(row.reason), value_of(row.client_reason)
    said.is_subscription_changed = _is_subscription_changed(links)
    said.member_count = len(links.members) if row.members or is_empty else value_of(row.member_count)
    said.joined_member_ids, said.departed_member_ids = links.joined, links.departed
    said.partitions_total, said.partitions_moved = _partitions_total(links), _partitions_moved(links)
    said.assignor = assignor_of(row) if outcome == "stable" else None
    said.bump_count = 0 if value_of(row.trigger) == "converted" else 1
    return said


def _is_inferred(row: GenerationFacts, outcome: str | None) -> bool:
    if row.is_inferred or row.preparing_at is None:
        return True
    return outcome == "stable" and row.stable_at is None and not row.told


def _evidence(row: GenerationFacts) -> list[str]:
    found = {EVIDENCE_OF[source] for source in row.sources}
    return [name for name in _EVIDENCE_ORDER if name in found]


def _client_of(life: Life, member_id: str | None) -> tuple[str | None, str | None]:
    """Client and host of a member, from its stay or from a generation it was in."""
    if member_id is None:
        return None, None
    session = life.sessions.get(member_id)
    if session is not None and session.client_id is not None:
        return session.client_id.value, value_of(session.client_host)
    before = life.chain.last_stable
    for row in (*(() if before is None else (before,)), *life.in_order()):
        member = row.members.get(member_id)
        if member is not None and member.client_id is not None:
            return member.client_id, member.client_host
    return None, None


def _trigger(links: Links) -> str:
    """The trigger that was told; from records alone only "somebody came and nobody went" gives a cause."""
    row = links.row
    trigger = value_of(row.trigger)
    if trigger is not None:
        is_silent = trigger == "leader_rejoined" and not value_of(row.client_reason)
        return "topic_metadata_changed" if is_silent and _partitions_grew(links) else trigger
    return "member_joined" if links.joined and not links.departed and row.members else "unknown"


def _partitions_grew(links: Links) -> bool:
    """Same subscriptions, and a topic with more partitions than it ever had here.

    Fewer partitions prove nothing: leaders leave some out, and Kafka never takes any away.
    """
    members, known = links.members.values(), links.chain.partition_counts
    subscribed = {member.topics for member in members}
    if None in subscribed or subscribed != {member.topics for member in links.before.values()}:
        return False
    return any(count > known[topic] for topic, count in partition_counts(members).items() if topic in known)


def _is_subscription_changed(links: Links) -> bool | None:
    if links.chain.last_stable is None or not links.row.members:
        return None
    before = links.before
    both = [(member, before[key]) for key, member in links.members.items() if key in before]
    known = [(now.topics, then.topics) for now, then in both if now.topics is not None and then.topics is not None]
    if len(known) < len(both):
        return None
    return any(now is not then and set(now) != set(then) for now, then in known)


def _partitions_total(links: Links) -> int | None:
    if links.outcome == "empty":
        return 0
    if links.outcome != "stable" or not links.members:
        return None
    total = 0
    for member in links.members.values():
        if member.assigned is None:
            return None
        total += len(member.assigned)
    return total


def _partitions_moved(links: Links) -> int | None:
    """Partitions whose owner is another than in the last stable generation; unassigned is no owner."""
    if links.outcome not in ("stable", "empty") or links.chain.last_stable is None:
        return None
    now, then = _owners(links.members.values()), _owners(links.before.values())
    if now is None or then is None:
        return None
    if now == then:
        return 0
    return len([key for key in now.keys() | then.keys() if now.get(key) != then.get(key)])


def _owners(members: Iterable[MemberFacts]) -> dict[tuple[str, int], tuple[str | None, ...]] | None:
    """Owner of each partition: the instance, else client and host, which need not be unique."""
    owners: dict[tuple[str, int], tuple[str | None, ...]] = {}
    for member in members:
        if member.assigned is None:
            return None
        owner = (member.group_instance_id,) if member.group_instance_id else (member.client_id, member.client_host)
        owners.update(dict.fromkeys(member.assigned, owner))
    return owners


# --- the members, and what they got --------------------------------------------------------------------------------


def _member_rows(cluster: str, group_id: str, links: Links) -> Iterator[GenerationMemberRow]:
    row = links.row
    leader = value_of(row.leader)
    protocol = value_of(row.protocol) if value_of(row.protocol_type) == "consumer" else None
    for member in row.members.values():
        session = links.life.sessions.get(member.member_id)
        known_id = known_host = joined_at = None
        if session is not None:
            known_id, known_host = value_of(session.client_id), value_of(session.client_host)
            joined_at = value_of(session.joined_at)
        is_assigned = member.assigned is not None and links.outcome == "stable"
        said = GenerationMemberRow(
            cluster=cluster,
            group_id=group_id,
            life=row.life,
            generation=row.generation,
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id or known_id,
            client_host=member.client_host or known_host,
            is_leader=member.member_id == leader,
            topics=None if member.topics is None else list(member.topics),
            session_timeout_ms=member.session_timeout_ms,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            joined_at=whole(joined_at),
            told_at=whole(row.told.get(member.member_id)),
            replaces_member_id=member.replaces,
        )
        said.partitions_assigned = len(member.assigned or ()) if is_assigned else None
        said.remembered_generation = remembered_generation(protocol, member.subscription)
        yield said


def _assignment_rows(cluster: str, group_id: str, links: Links) -> Iterator[AssignmentRow]:
    """Only a generation that became Stable has any."""
    if links.outcome != "stable":
        return
    row, began = links.row, stable_at(links.row)
    for member in row.members.values():
        is_later = member.valid_from is not None and (began is None or member.valid_from > began)
        valid_from = whole(member.valid_from if is_later else began)
        valid_to = whole(links.ended_at if member.valid_to is None else member.valid_to)
        for topic, partition in dict.fromkeys(member.assigned or ()):
            yield AssignmentRow(
                cluster=cluster,
                group_id=group_id,
                life=row.life,
                generation=row.generation,
                member_id=member.member_id,
                topic=topic,
                partition=partition,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                valid_from=valid_from,
                valid_to=valid_to,
            )
