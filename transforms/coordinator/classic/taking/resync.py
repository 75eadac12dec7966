"""What a record, a line or an answer makes of the group's members, and of a join phase that must be over."""

from __future__ import annotations

from msgspec.structs import replace

from schemas.rows import GroupMetadataRow
from transforms.coordinator.classic.machine.events import Cause
from transforms.coordinator.classic.machine.group import Group, Member, member_timer
from transforms.coordinator.classic.machine.machine import Machine
from transforms.coordinator.classic.machine.moves import bring_to
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.evidence.tolerances import EXPIRY_SLACK_MS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.states import COMPLETING, PREPARING, STABLE, GroupState


def members_of(record: GroupMetadataRow, is_load: bool = False) -> list[Member]:
    """Build the members that a record holds.

    Args:
        record: row of `silver.group_metadata`.
        is_load: the coordinator itself has only the record, so what it knows is complete.
    """
    protocol = record.protocol or ""
    return [
        Member(
            member_id=member.member_id,
            group_instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            session_timeout_ms=max(member.session_timeout_ms or 0, 0),
            rebalance_timeout_ms=max(member.rebalance_timeout_ms or 0, 0),
            protocols=((protocol, member.subscription or b""),),
            assignment=member.assignment or b"",
            is_partial=not is_load,
        )
        for member in record.members or ()
    ]


def reloaded(member: Member, protocol: str | None) -> Member:
    """Return a member as it is once its group was stored and loaded: of its protocols, the elected one is left."""
    metadata = member.metadata(protocol)
    kept = () if protocol is None or metadata is None else ((protocol, metadata),)
    return replace(member, protocols=kept, is_new=False, parked_join=None, parked_sync=None)


def let_go_of_waiting(course: Course, why: str) -> None:
    """Let go of the requests that wait in the group; of their answers nothing can be foreseen, and this is why."""
    group = course.machine.group
    for member in list(group.members.values()):
        for token in (member.parked_join, member.parked_sync):
            verdict = course.audit.verdicts.get(token or 0)
            if verdict is not None:
                verdict.why = why
        group.put(replace(member, parked_join=None, parked_sync=None))


def bring_to_unknown(course: Course, state: GroupState, generation: int, cause: Cause) -> None:
    """Bring the group to a state in which its members are not known; whoever waits in it gets no prediction."""
    bring_to(course.machine, state, generation, cause, None)
    course.forget_parked()


def end_join(machine: Machine, at: float, source: Source) -> None:
    """Something shows that the join phase is over."""
    group = machine.group
    for member in list(group.members.values()):
        timer = group.timers.get(member_timer(member.member_id))
        is_out = member.parked_join is None and timer is not None and timer.due <= at + EXPIRY_SLACK_MS
        if is_out and group.state is PREPARING and len(group.members) > 1:
            cause = Cause(at, source=Source.TIMER)
            machine.remove(member.member_id, cause, "session_expired", Error.UNKNOWN_MEMBER_ID)
    machine.complete_join(Cause(at, source=source))


def accounts_for(group: Group, member_count: int | None) -> bool:
    """Whether those who are known to have joined, and who may stay without, are as many as a line counts.

    They are not where the request log ends amid a join phase, or lacks a stretch: others may have joined, and who has
    not need not be put out.

    Args:
        group: in a join phase, of which something shows that it is over.
        member_count: how many there are after it; None = no line tells.
    """
    absent = [member for member in group.members.values() if member.parked_join is None]
    may_stay = sum(member.group_instance_id is not None for member in absent)
    return member_count is None or 0 <= member_count - group.awaiting_join <= may_stay


def is_miscounted(group: Group, generation: int, member_count: int | None) -> bool:
    """Whether the machine ended a join phase with others than there were: a line about its end counts them."""
    is_of_it = group.generation == generation and group.state in (COMPLETING, STABLE)
    return is_of_it and group.is_known and member_count not in (None, len(group.members))


def are_answered(course: Course, group: Group) -> bool:
    """Whether the request log has all who joined: whoever did was answered by the end of the join phase."""
    return group.parked <= course.audit.verdicts.keys() | {None}
