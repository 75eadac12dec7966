"""Turns what the machine says and what the evidence shows into facts of the timeline."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from schemas.client_reasons import is_poll_timeout, refined
from schemas.rows import GroupRequestRow, SentAssignment
from transforms.coordinator.classic.machine.events import Event, Gone, Joined, Moved
from transforms.coordinator.classic.machine.group import Group, Member
from transforms.coordinator.classic.taking.triggers import BY_EVENT
from transforms.coordinator.evidence.sources import ANSWER, BROKER_LOG, REQUEST_LOG, Authority, Source
from transforms.coordinator.kafka.states import COMPLETING, DEAD, EMPTY, PREPARING, STABLE
from transforms.coordinator.timeline.facts import GenerationFacts, MemberFacts, value_of
from transforms.coordinator.timeline.lives import Life, Lives
from transforms.wire.consumer_protocol import read_assignment, read_subscription

CONSUMER = "consumer"

Pairs = tuple[tuple[str, int], ...]

# --- what the machine says -----------------------------------------------------------------------------------------


def moved(life: Life, move: Moved, group: Group | None, client_reason: str | None) -> None:
    """Take a change of state as the machine made it.

    Args:
        life: the group's life.
        move: the change.
        group: the group after it.
        client_reason: the reason that the member behind it gave, if it gave one.
    """
    cause = move.cause
    if (
        move.to_state is DEAD
        or (move.to_state is EMPTY and move.from_state is not PREPARING)
        or move.event is Event.GROUP_LOADED
    ):
        return
    number = move.generation + (move.to_state is PREPARING)
    row = life.come_about(number)
    row.is_inferred |= cause.is_inferred
    source = Source.FOLLOWS_FROM_LINE if cause.source is BROKER_LOG else cause.source
    if not cause.is_inferred:
        _dated(row, source, move)
    if move.to_state is PREPARING:
        _triggered(row, source, move, client_reason, cause.member_id in life.sessions)
    elif move.to_state is COMPLETING and group is not None and group.is_known and group.members:
        # An answer shows that the join phase is over; whom it elected is the machine's word.
        source = REQUEST_LOG if source is ANSWER else source
        row.learn_choice(source, protocol=group.protocol, protocol_type=group.protocol_type, leader=group.leader)
        row.learn_members(REQUEST_LOG, [_of_machine(member, group) for member in group.members.values()])


def _dated(row: GenerationFacts, source: Source, move: Moved) -> None:
    """Take the moment of a state; that a generation became Stable must be shown by more than the machine."""
    if move.to_state is PREPARING:
        row.learn_times(source, preparing_at=move.at)
    elif move.to_state is COMPLETING:
        row.learn_times(source, completing_at=move.at)
    elif move.to_state is STABLE:
        row.learn_times(source, foreseen_stable_at=move.at)
    else:
        row.learn_times(source, emptied_at=move.at)


def _triggered(row: GenerationFacts, source: Source, move: Moved, client_reason: str | None, is_member: bool) -> None:
    cause = move.cause
    trigger = BY_EVENT.get(move.event)
    if trigger == "member_left" and not is_member:
        trigger = "pending_member_left"
    if trigger is not None and row.trigger is None:
        row.learn_cause(
            source,
            trigger=refined(trigger, client_reason),
            member_id=cause.member_id,
            client_reason=client_reason or None,
        )


def _of_machine(member: Member, group: Group) -> MemberFacts:
    metadata = member.metadata(group.protocol)
    return MemberFacts(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topics=topics_of(metadata, group.protocol_type),
        subscription=metadata or None,  # a text log has no bytes
    )


def joined(lives: Lives, output: Joined) -> None:
    """Take a member's arrival."""
    session = lives.present.session(output.member_id)
    session.came(
        output.source,
        # A record, or the list that a leader is told, shows that somebody is a member, not since when.
        at=None if output.source in (Source.OFFSETS, ANSWER) else output.at,
        group_instance_id=output.group_instance_id,
        client_id=output.client_id,
        client_host=output.client_host,
    )


def gone(life: Life, output: Gone, client_reason: str | None) -> None:
    """Take a member's departure."""
    cause = output.end_cause
    if cause == "left" and is_poll_timeout(client_reason):
        cause = "poll_timeout"
    if cause == "unknown":
        life.session(output.member_id).went(Source.TIMER, cause, output.at)
    else:
        life.session(output.member_id).went(output.source, cause, output.at, output.at)


def replaced_in_generation(row: GenerationFacts, output: Joined, group: Group) -> None:
    """Take a static member's new id as the machine gave it; the record that follows has the exact moment.

    It may bring other topics, as long as the elected protocol stays the same.
    """
    old = row.members.get(output.replaces or "")
    if old is not None and output.member_id not in row.members:
        brought = _of_machine(group.members[output.member_id], group)
        member = MemberFacts(
            member_id=output.member_id,
            group_instance_id=output.group_instance_id,
            client_id=output.client_id,
            client_host=output.client_host,
            session_timeout_ms=old.session_timeout_ms,
            rebalance_timeout_ms=old.rebalance_timeout_ms,
            topics=brought.topics,
            subscription=brought.subscription,
        )
        hand_over(old, member, output.at)
        row.members[member.member_id] = member


# --- what answers tell ---------------------------------------------------------------------------------------------


def leader_told(row: GenerationFacts, answer: GroupRequestRow) -> None:
    """Take the members that the answer of a leader's JoinGroup lists."""
    row.learn_choice(
        Source.ANSWER,
        leader=answer.answered_leader,
        protocol=answer.answered_protocol,
        protocol_type=answer.protocol_type,
    )
    if not answer.answered_members:
        return
    members = [
        MemberFacts(
            member_id=entry.member_id,
            group_instance_id=entry.group_instance_id,
            topics=topics_of(entry.metadata, answer.protocol_type),
            subscription=entry.metadata,
        )
        for entry in answer.answered_members
    ]
    told = {member.member_id for member in members}
    # A static leader that returns within the generation is told who is in it by then (KIP-814).
    is_news = told != set(row.first_members) and told != set(row.current_members)
    if row.members_authority <= Authority.ANSWERED and is_news:
        row.learn_members(Source.ANSWER, members)


def member_told(row: GenerationFacts, answer: GroupRequestRow) -> None:
    """Take the assignment that the answer of a SyncGroup tells a member."""
    member_id = answer.member_id or ""
    row.told.setdefault(member_id, answer.answered_at)
    row.sources.add(ANSWER)
    member = row.members.get(member_id)
    if member is not None and member.assigned is None:
        member.assigned = _pairs_of(row, answer.answered_assignment)


def _pairs_of(row: GenerationFacts, raw: bytes | None) -> Pairs | None:
    protocol_type = value_of(row.protocol_type)
    return assigned_pairs(raw, protocol_type)


def assignment_sent(row: GenerationFacts, sent: Iterable[SentAssignment], protocol_type: str | None) -> None:
    """Take what the leader assigned; whom it left out got nothing, and so did who came in another's place since.

    A text log has the names of the members, and not what they got.
    """
    assignments = {entry.member_id: entry.assignment for entry in sent}
    for member in row.current_members.values():
        if member.assigned is None:
            member.assigned = assigned_pairs(assignments.get(member.member_id, b""), protocol_type)


def hand_over(old: MemberFacts, new: MemberFacts, at: float | None) -> None:
    """The new id takes the old one's assignment over."""
    new.replaces = old.member_id
    new.valid_from = old.valid_to = at
    if new.assigned is None:
        new.assigned = old.assigned


# --- Kafka's consumer protocol -------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def topics_of(metadata: bytes | None, protocol_type: str | None) -> tuple[str, ...] | None:
    """Return the topics of a subscription; None where they cannot be told."""
    if metadata is None or protocol_type != CONSUMER:
        return None
    topics = read_subscription(metadata).topics
    return None if topics is None else tuple(topics)


@lru_cache(maxsize=4096)
def assigned_pairs(raw: bytes | None, protocol_type: str | None) -> Pairs | None:
    """Decode an assignment into topic and partition pairs; None where it cannot be. A topic may come twice in it."""
    if raw is None or (protocol_type != CONSUMER and raw):
        return None
    assigned: Any = read_assignment(raw).assigned
    if assigned is None:
        return None
    return tuple((entry["topic"], partition) for entry in assigned for partition in entry["partitions"] or ())
