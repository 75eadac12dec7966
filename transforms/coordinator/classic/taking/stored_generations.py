"""What GroupMetadata records hold of a generation: when it was stored, who was in it, and who got what."""

from __future__ import annotations

from schemas.rows import GroupMetadataRow, StoredMember
from transforms.coordinator.classic.taking.observe import hand_over
from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.timeline.facts import GenerationFacts, MemberFacts


def stored(row: GenerationFacts, record: GroupMetadataRow, is_replacement: bool, is_reloaded: bool) -> None:
    """Take a GroupMetadata record of a generation that has members.

    Args:
        row: the generation.
        record: row of `silver.group_metadata`.
        is_replacement: a further record of a generation, written because a static member came under a new id.
        is_reloaded: the generation began in the life before, and another coordinator has loaded it.
    """
    members = [_of_record(member) for member in record.members or ()]
    if is_replacement:
        _replace(row, members, record.recorded_at)
        return
    completing_at = None if is_reloaded else record.state_changed_at
    row.learn_times(Source.OFFSETS, completing_at=completing_at, stable_at=record.recorded_at)
    _elected(row, record)
    row.learn_members(Source.OFFSETS, members)
    _inherit(row)


def _inherit(row: GenerationFacts) -> None:
    """Whoever came in another's place before the record told what that one had been given has the same."""
    for member in row.members.values():
        if member.assigned is None and member.replaces is not None and member.replaces in row.members:
            member.assigned = row.members[member.replaces].assigned


def reloaded(row: GenerationFacts, record: GroupMetadataRow, at: float) -> None:
    """Take a generation of the life before that another coordinator has loaded: it is in force again."""
    row.learn_times(Source.OFFSETS, stable_at=at)
    row.learn_cause(Source.OFFSETS, trigger="coordinator_failover")
    row.is_stored = True
    _elected(row, record)
    row.learn_members(Source.OFFSETS, [_of_record(member) for member in record.members or ()])


def _elected(row: GenerationFacts, record: GroupMetadataRow) -> None:
    row.learn_choice(
        Source.OFFSETS,
        protocol=record.protocol,
        protocol_type=record.protocol_type,
        leader=record.leader_member_id,
    )


def _of_record(member: StoredMember) -> MemberFacts:
    return MemberFacts(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topics=None if member.topics is None else tuple(member.topics),
        subscription=member.subscription,
        assigned=None
        if member.assigned is None
        else tuple([(entry.topic, partition) for entry in member.assigned for partition in entry.partitions or ()]),
        is_stored=True,
    )


def _replace(row: GenerationFacts, members: list[MemberFacts], at: float | None) -> None:
    """Add the ids that a record brings into a generation, each as the successor of its instance's last id."""
    current = {member.group_instance_id: member for member in row.current_members.values()}
    current.pop(None, None)
    for member in members:
        known = row.members.get(member.member_id)
        if known is not None:
            if known.replaces is not None and not known.is_stored:
                # The machine saw it come; the first record that holds it has the exact moment.
                hand_over(row.members[known.replaces], known, at)
            known.is_stored = True
            continue
        old = current.get(member.group_instance_id)
        if old is not None:
            hand_over(old, member, at)
        row.members[member.member_id] = member
    row.sources.add(Source.OFFSETS)
