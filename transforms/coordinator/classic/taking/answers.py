"""Takes what the answer of a JoinGroup or SyncGroup proves, at the time it was sent.

Answers are used for what follows only: a successful JoinGroup shows that its join phase is over, a successful SyncGroup
that the assignment is stored, one that waited and failed that it could not be. Answers of heartbeats, commits and
leaves prove nothing.
"""

from __future__ import annotations

from transforms.coordinator.classic.machine.events import Cause, Event
from transforms.coordinator.classic.machine.group import Member
from transforms.coordinator.classic.machine.moves import bring_to
from transforms.coordinator.classic.taking import observe
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.resync import end_join, let_go_of_waiting
from transforms.coordinator.evidence.exchanges import Observed, exchange_of
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.states import COMPLETING, PREPARING
from transforms.coordinator.timeline.audit import WHY_OWN_ANSWER, WHY_STORE_FAILED


def take(course: Course, item: Item, answer: Observed) -> None:
    """Take an answer that proves something, at the time it was sent."""
    if course.presence.is_modern or course.is_elsewhere(answer.row.broker):
        return
    if answer.row.api == "JoinGroup":
        _join_answered(course, item, answer)
    elif answer.observed_error == Error.NONE:
        _sync_answered(course, item, answer)
    else:
        _store_failed(course, answer)


def _join_answered(course: Course, item: Item, answer: Observed) -> None:
    generation = answer.observed_generation
    if generation is None:
        return
    group = course.machine.present
    if group is not None and group.state is PREPARING and group.generation + 1 == generation:
        _mark_own_answer(course, item)
        end_join(course.machine, answer.answered_at, Source.ANSWER)
    elif answer.row.answered_members and (not course.presence.has_other_evidence or not course.is_known):
        _resync_to_answer(course, item, answer, generation)
    _lead_as_told(course, answer, generation)
    row = course.lives.of_generation(generation).generation(generation)
    row.joined(answer.answered_at)
    if answer.row.answered_members:
        observe.leader_told(row, answer)


def _lead_as_told(course: Course, answer: Observed, generation: int) -> None:
    """Of two that joined an Empty group in one moment, either may have been the first, who leads: answers tell."""
    group, leader = course.machine.present, answer.row.answered_leader
    if group is None or group.state is not COMPLETING or group.generation != generation:
        return
    if group.is_known and leader in group.members:
        group.leader = leader


def _resync_to_answer(course: Course, item: Item, answer: Observed, generation: int) -> None:
    """With nothing else to go by, a leader's answer shows the whole group."""
    group, row = course.machine.present, answer.row
    if group is not None and group.is_known and group.generation >= generation:
        return
    request = exchange_of(item).request
    members = [
        Member(
            member_id=entry.member_id,
            group_instance_id=entry.group_instance_id,
            client_id=None,
            client_host=None,
            session_timeout_ms=request.session_timeout_ms,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            protocols=((row.answered_protocol or "", entry.metadata or b""),),
            is_partial=True,
        )
        for entry in row.answered_members or ()
    ]
    cause = Cause(answer.answered_at, source=Source.ANSWER)
    bring_to(course.machine, COMPLETING, generation, cause, members)
    group = course.machine.group
    group.leader, group.protocol, group.protocol_type = row.answered_leader, row.answered_protocol, row.protocol_type
    course.forget_parked()


def _sync_answered(course: Course, item: Item, answer: Observed) -> None:
    generation, group = _generation_of(answer), course.machine.present
    row = course.lives.of_generation(generation).generation(generation)
    is_denied = row.assigned_at is None and course.witnesses.denies_assignment(generation, answer.answered_at)
    if not is_denied and group is not None and group.generation == generation and group.state is COMPLETING:
        _mark_own_answer(course, item)
        group.pending_syncs.pop(answer.row.member_id or "", None)
        cause = Cause(answer.answered_at, source=Source.ANSWER)
        course.machine.apply(Event.ASSIGNMENT_STORED, cause)
        row = course.lives.of_generation(generation).generation(generation)
    observe.member_told(row, answer)


def _store_failed(course: Course, answer: Observed) -> None:
    """The assignment could not be stored: whoever waited for it got the error, and the group prepares again.

    That an append fails cannot be foreseen (GroupMetadataManager.classicGroupSyncToClassicGroup).
    """
    group, machine = course.machine.present, course.machine
    if group is None or group.state is not COMPLETING or group.generation != _generation_of(answer):
        return
    let_go_of_waiting(course, WHY_STORE_FAILED)
    cause = Cause(answer.answered_at, None, (group.leader or "",), Source.ANSWER)
    machine.apply(Event.ASSIGNMENT_STORE_FAILED, cause)


def _generation_of(answer: Observed) -> int:
    """Generation of a SyncGroup; -1 where the log has none."""
    return -1 if answer.row.generation is None else answer.row.generation


def _mark_own_answer(course: Course, item: Item) -> None:
    verdict = course.audit.verdicts.get(item.token)
    if verdict is not None and verdict.predicted_error is None:
        verdict.use_answer(WHY_OWN_ANSWER)
