"""Rows of `gold.member_sessions`: the stays of members in a group."""

from __future__ import annotations

from schemas.rows import MemberSessionRow
from transforms.coordinator.rows.tables import whole
from transforms.coordinator.timeline.facts import GenerationFacts, Session, value_of
from transforms.coordinator.timeline.lives import Life, Lives


def note_members(lives: Lives, life: Life, row: GenerationFacts) -> None:
    """Take note of who was in a generation that is settled: from when to when each stay is seen."""
    for member in row.members.values():
        session = life.session(member.member_id)
        if session.first_generation is None:
            session.first_generation = row.generation
        session.last_generation = row.generation
        if member.group_instance_id is not None and session.group_instance_id is None:
            session.seen_instance_id = member.group_instance_id
        session.seen_client_id = member.client_id or session.seen_client_id
        session.seen_client_host = member.client_host or session.seen_client_host
        if not session.is_linked and session.identity is not None:
            lives.link(session, session.identity)


def session_row(cluster: str, group_id: str, life: Life, session: Session) -> MemberSessionRow:
    """Row of one stay; one whose end nothing shows ends with the life."""
    end_cause, ended_at = value_of(session.end_cause), value_of(session.ended_at)
    if end_cause is None and life.is_over:
        end_cause, ended_at = "group_ended", value_of(life.ended_at)
    return MemberSessionRow(
        cluster=cluster,
        group_id=group_id,
        life=life.number,
        member_id=session.member_id,
        stay=session.stay,
        group_type=life.group_type,
        group_instance_id=value_of(session.group_instance_id) or session.seen_instance_id,
        client_id=value_of(session.client_id) or session.seen_client_id,
        client_host=value_of(session.client_host) or session.seen_client_host,
        joined_at=whole(value_of(session.joined_at)),
        ended_at=whole(ended_at),
        end_cause=end_cause,
        first_generation=session.first_generation,
        last_generation=session.last_generation,
        previous_member_id=session.previous_member_id,
    )
