"""Turns what the machine says and what the evidence shows into facts of the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from transforms.coordinator.events import Event, Gone, Joined, Moved
from transforms.coordinator.evidence import Exchange, Row
from transforms.coordinator.facts import GenerationFacts, MemberFacts, Timeline
from transforms.coordinator.group import Group
from transforms.coordinator.states import GroupState
from transforms.coordinator.triggers import BY_EVENT, POLL_TIMEOUT, refined
from transforms.wire.consumer_protocol import read_assignment, read_subscription

CONSUMER = "consumer"


def moved(timeline: Timeline, life: int, move: Moved, group: Group | None, leave_reasons: Mapping[str, str]) -> None:
    """Take a change of state as the machine made it."""
    cause = move.cause
    if (
        move.event is Event.GROUP_LOADED
        or move.to_state is GroupState.DEAD
        or (move.to_state is GroupState.EMPTY and move.from_state is not GroupState.PREPARING)
    ):
        return
    row = timeline.generation(life, move.generation + (move.to_state is GroupState.PREPARING))
    if row.was_lost:
        row.begin_again()
    row.is_inferred |= cause.is_inferred
    source = "follows_from_line" if cause.source == "broker_log" else cause.source
    if not cause.is_inferred:
        row.facts.learn(source, **{_TIME_OF[move.to_state]: move.at})
    if move.to_state is GroupState.PREPARING:
        _triggered(row, move, leave_reasons, (life, cause.member_id) in timeline.sessions)
    elif move.to_state is GroupState.COMPLETING and group is not None and group.is_known and group.members:
        row.facts.learn(source, protocol=group.protocol, protocol_type=group.protocol_type, leader=group.leader)
        row.learn_members("request_log", [_of_machine(member, group) for member in group.members.values()])


_TIME_OF = {
    GroupState.PREPARING: "preparing_at",
    GroupState.COMPLETING: "completing_at",
    GroupState.STABLE: "foreseen_stable_at",
    GroupState.EMPTY: "emptied_at",
}
"""The fact that entering a state yields; that a generation became Stable must be shown by more than the machine."""


def _triggered(row: GenerationFacts, move: Moved, leave_reasons: Mapping[str, str], is_member: bool) -> None:
    cause = move.cause
    client_reason = (cause.request.reason if cause.request else None) or leave_reasons.get(cause.member_id or "")
    trigger = BY_EVENT.get(move.event)
    if trigger == "member_left" and not is_member:
        trigger = "pending_member_left"
    if trigger is not None and row.facts.get("trigger") is None:
        row.facts.learn(
            "follows_from_line" if cause.source == "broker_log" else cause.source,
            trigger=refined(trigger, client_reason),
            trigger_member_id=cause.member_id,
            client_reason=client_reason or None,
        )


def _of_machine(member: Any, group: Group) -> MemberFacts:
    metadata = member.metadata(group.protocol)
    return MemberFacts(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topics=_topics(metadata, group.protocol_type),
        subscription=metadata,
    )


@lru_cache(maxsize=4096)
def _topics(metadata: bytes | None, protocol_type: str | None) -> tuple[str, ...] | None:
    if metadata is None or protocol_type != CONSUMER:
        return None
    topics = read_subscription(metadata).topics
    return None if topics is None else tuple(topics)


def joined(timeline: Timeline, life: int, output: Joined) -> None:
    """Take a member's arrival."""
    session = timeline.session(life, output.member_id)
    session.is_member = True
    session.facts.learn(
        output.source,
        # A record shows that somebody is a member, not since when.
        joined_at=None if output.source == "offsets" else output.at,
        group_instance_id=output.group_instance_id,
        client_id=output.client_id,
        client_host=output.client_host,
    )


def gone(timeline: Timeline, life: int, output: Gone, leave_reasons: Mapping[str, str]) -> None:
    """Take a member's departure."""
    cause = output.end_cause
    if cause == "left" and leave_reasons.get(output.member_id) == POLL_TIMEOUT:
        cause = "poll_timeout"
    session = timeline.session(life, output.member_id)
    session.is_member = True
    if cause == "unknown":
        session.facts.learn("timer", end_cause=cause)
    else:
        session.facts.learn(output.source, ended_at=output.at, end_cause=cause)


def leader_told(row: GenerationFacts, exchange: Exchange) -> None:
    """Take the members that the answer of a leader's JoinGroup lists."""
    answered = exchange.row["answered_members"]
    row.facts.learn(
        "answer",
        leader=exchange.row["answered_leader"],
        protocol=exchange.row["answered_protocol"],
        protocol_type=exchange.row["protocol_type"],
    )
    if not answered:
        return
    members = [
        MemberFacts(
            member_id=entry["member_id"],
            group_instance_id=entry["group_instance_id"],
            topics=_topics(entry["metadata"], exchange.row["protocol_type"]),
            subscription=entry["metadata"],
        )
        for entry in answered
    ]
    told = {member.member_id for member in members}
    # A static leader that returns within the generation is told who is in it by then (KIP-814).
    if row.members_authority <= 2 and told != set(row.first_members) and told != set(row.current_members):
        row.learn_members("answer", members)


def member_told(row: GenerationFacts, exchange: Exchange) -> None:
    """Take the assignment that the answer of a SyncGroup tells a member."""
    member_id = exchange.request.member_id
    row.told.setdefault(member_id, exchange.answered_at)
    row.facts.learn("answer", told_at=exchange.answered_at)
    member = row.members.get(member_id)
    if member is not None and member.assigned is None:
        member.assigned = assigned_pairs(exchange.row["answered_assignment"], row.facts.get("protocol_type"))


def assignment_sent(row: GenerationFacts, assignments: Mapping[str, bytes], protocol_type: str | None) -> None:
    """Take what the leader assigned; whom it left out got nothing."""
    for member in row.members.values():
        if member.assigned is None:
            member.assigned = assigned_pairs(assignments.get(member.member_id, b""), protocol_type)


@lru_cache(maxsize=4096)
def assigned_pairs(raw: bytes | None, protocol_type: str | None) -> tuple[tuple[str, int], ...] | None:
    """Decode an assignment into topic and partition pairs; None where it cannot be."""
    if raw is None or (protocol_type != CONSUMER and raw):
        return None
    return pairs(read_assignment(bytes(raw)).assigned)


def pairs(assigned: Any) -> tuple[tuple[str, int], ...] | None:
    """Flatten topics with partitions; a topic may come twice in one assignment."""
    if assigned is None:
        return None
    return tuple((entry["topic"], partition) for entry in assigned for partition in entry["partitions"] or ())


def stored(timeline: Timeline, life: int, record: Row, is_replacement: bool, is_reloaded: bool) -> None:
    """Take a GroupMetadata record of a generation that has members.

    Args:
        timeline: the group's timeline.
        life: life of the group that the record belongs to.
        record: row of `silver.group_metadata`.
        is_replacement: a further record of a generation, written because a static member came under a new id.
        is_reloaded: the generation began in the life before, and another coordinator has loaded it.
    """
    row = timeline.generation(life, record["generation"])
    members = [_of_record(member) for member in record["members"]]
    if is_replacement:
        _replace(row, members, record["recorded_at"])
        return
    row.facts.learn(
        "offsets",
        completing_at=None if is_reloaded else record["state_changed_at"],
        stable_at=record["recorded_at"],
        protocol=record["protocol"],
        protocol_type=record["protocol_type"],
        leader=record["leader_member_id"],
    )
    row.learn_members("offsets", members)


def reloaded(row: GenerationFacts, record: Row, at: float) -> None:
    """Take a generation of the life before that another coordinator has loaded: it is in force again."""
    row.facts.learn(
        "offsets",
        stable_at=at,
        trigger="coordinator_failover",
        stored_count=1,
        protocol=record["protocol"],
        protocol_type=record["protocol_type"],
        leader=record["leader_member_id"],
    )
    row.learn_members("offsets", [_of_record(member) for member in record["members"]])


def _of_record(member: Row) -> MemberFacts:
    topics = member["topics"]
    return MemberFacts(
        member_id=member["member_id"],
        group_instance_id=member["group_instance_id"],
        client_id=member["client_id"],
        client_host=member["client_host"],
        session_timeout_ms=member["session_timeout_ms"],
        rebalance_timeout_ms=member["rebalance_timeout_ms"],
        topics=None if topics is None else tuple(topics),
        subscription=member["subscription"],
        assigned=pairs(member["assigned"]),
        is_stored=True,
    )


def _replace(row: GenerationFacts, members: list[MemberFacts], at: float) -> None:
    """Add the ids that a record brings into a generation, each as the successor of its instance's last id."""
    current = {member.group_instance_id: member for member in row.current_members.values()}
    current.pop(None, None)
    for member in members:
        known = row.members.get(member.member_id)
        if known is not None:
            if known.replaces is not None and not known.is_stored:
                # The machine saw it come; the first record that holds it has the exact moment.
                _hand_over(row.members[known.replaces], known, at)
            known.is_stored = True
            continue
        old = current.get(member.group_instance_id)
        if old is not None:
            _hand_over(old, member, at)
        row.members[member.member_id] = member
    row.facts.sources.add("offsets")


def replaced_in_generation(row: GenerationFacts, output: Joined) -> None:
    """Take a static member's new id as the machine gave it; the record that follows has the exact moment."""
    old = row.members.get(output.replaces or "")
    if old is not None and output.member_id not in row.members:
        member = MemberFacts(
            member_id=output.member_id,
            group_instance_id=output.group_instance_id,
            client_id=output.client_id,
            client_host=output.client_host,
            session_timeout_ms=old.session_timeout_ms,
            rebalance_timeout_ms=old.rebalance_timeout_ms,
            topics=old.topics,
            subscription=old.subscription,
        )
        _hand_over(old, member, output.at)
        row.members[member.member_id] = member


def _hand_over(old: MemberFacts, new: MemberFacts, at: float) -> None:
    """The new id takes the old one's assignment over."""
    new.replaces = old.member_id
    new.valid_from = old.valid_to = at
    if new.assigned is None:
        new.assigned = old.assigned
