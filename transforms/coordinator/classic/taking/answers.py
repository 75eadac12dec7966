"""Takes what the answer of a JoinGroup or SyncGroup proves, at the time it was sent.

Answers are used for what follows only: a successful JoinGroup shows that its join phase is over, a successful SyncGroup
that the assignment is stored, one that waited and failed that it could not be. Answers of heartbeats, commits and
leaves prove nothing.
"""

from __future__ import annotations

from functools import partial

from schemas.rows import GroupRequestRow
from transforms.coordinator.classic.machine.events import Cause, Event
from transforms.coordinator.classic.machine.group import Member
from transforms.coordinator.classic.machine.moves import bring_to
from transforms.coordinator.classic.taking import observe
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.resync import accounts_for, bring_to_unknown, end_join, let_go_of_waiting
from transforms.coordinator.evidence.exchanges import exchange_of, observed_error
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.states import COMPLETING, PREPARING
from transforms.coordinator.timeline.audit import WHY_OWN_ANSWER, WHY_STORE_FAILED
from transforms.coordinator.timeline.facts import GenerationFacts


def take(course: Course, item: Item, row: GroupRequestRow) -> None:
    """Take an answer that proves something, at the time it was sent; mostly it proves what is known already."""
    if course.presence.is_modern or course.is_elsewhere(row.broker):
        return
    if row.api == "JoinGroup":
        _join_answered(course, item, row)
    elif observed_error(row) == Error.NONE:
        _sync_answered(course, item, row)
    else:
        course.let(row.answered_at, partial(_store_failed, course, row))


# --- joins ---------------------------------------------------------------------------------------------------------


def _join_answered(course: Course, item: Item, row: GroupRequestRow) -> None:
    generation = None if observed_error(row) else row.answered_generation
    if generation is None:
        return
    group = course.machine.present
    if group is not None and group.state is PREPARING and group.generation + 1 == generation:
        if course.witnesses.denies_completion(generation, row.answered_at):
            course.witnesses.lacks_lines = True
        course.let(row.answered_at, partial(_end_join, course, item, row, generation))
    elif row.answered_members and (not course.presence.has_other_evidence or not course.is_known):
        course.let(row.answered_at, partial(_resync_to_answer, course, item, row, generation))
    else:
        _take_generation(course, row, generation)


def _end_join(course: Course, item: Item, row: GroupRequestRow, generation: int) -> None:
    _mark_own_answer(course, item)
    if accounts_for(course.machine.group, course.witnesses.member_count(generation, row.answered_at)):
        end_join(course.machine, row.answered_at, Source.ANSWER)
    else:
        bring_to_unknown(course, COMPLETING, generation, Cause(row.answered_at, source=Source.ANSWER))
    _take_generation(course, row, generation)


def _take_generation(course: Course, row: GroupRequestRow, generation: int) -> None:
    """Take what an answer tells of the generation that it names."""
    _lead_as_told(course, row, generation)
    facts = course.lives.of_generation(generation).generation(generation)
    facts.joined(row.answered_at)
    if row.answered_members:
        observe.leader_told(facts, row)


def _lead_as_told(course: Course, row: GroupRequestRow, generation: int) -> None:
    """Of two that joined an Empty group in one moment, either may have been the first, who leads: answers tell."""
    group, leader = course.machine.present, row.answered_leader
    if group is None or group.state is not COMPLETING or group.generation != generation:
        return
    if group.is_known and leader in group.members:
        group.leader = leader


def _resync_to_answer(course: Course, item: Item, row: GroupRequestRow, generation: int) -> None:
    """With nothing else to go by, a leader's answer shows the whole group."""
    group = course.machine.present
    if group is None or not group.is_known or group.generation < generation:
        _set_as_told(course, item, row, generation)
    _take_generation(course, row, generation)


def _set_as_told(course: Course, item: Item, row: GroupRequestRow, generation: int) -> None:
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
    bring_to(course.machine, COMPLETING, generation, Cause(row.answered_at, source=Source.ANSWER), members)
    group = course.machine.group
    group.leader, group.protocol, group.protocol_type = row.answered_leader, row.answered_protocol, row.protocol_type
    course.forget_parked()


# --- syncs ---------------------------------------------------------------------------------------------------------


def _sync_answered(course: Course, item: Item, row: GroupRequestRow) -> None:
    generation, group = _generation_of(row), course.machine.present
    facts = course.lives.of_generation(generation).generation(generation)
    is_awaited = group is not None and group.generation == generation and group.state is COMPLETING
    if is_awaited and not _is_denied(course, facts, row):
        course.let(row.answered_at, partial(_end_sync, course, item, row, generation))
    else:
        observe.member_told(facts, row)


def _is_denied(course: Course, facts: GenerationFacts, row: GroupRequestRow) -> bool:
    """Whether the leader's assignment cannot have come in, as no line tells of it."""
    return facts.assigned_at is None and course.witnesses.denies_assignment(facts.generation, row.answered_at)


def _end_sync(course: Course, item: Item, row: GroupRequestRow, generation: int) -> None:
    _mark_own_answer(course, item)
    course.machine.group.pending_syncs.pop(row.member_id or "", None)
    course.machine.apply(Event.ASSIGNMENT_STORED, Cause(row.answered_at, source=Source.ANSWER))
    observe.member_told(course.lives.of_generation(generation).generation(generation), row)


def _store_failed(course: Course, row: GroupRequestRow) -> None:
    """The assignment could not be stored: whoever waited for it got the error, and the group prepares again.

    That an append fails cannot be foreseen (GroupMetadataManager.classicGroupSyncToClassicGroup).
    """
    group, machine = course.machine.present, course.machine
    if group is None or group.state is not COMPLETING or group.generation != _generation_of(row):
        return
    let_go_of_waiting(course, WHY_STORE_FAILED)
    cause = Cause(row.answered_at, None, (group.leader or "",), Source.ANSWER)
    machine.apply(Event.ASSIGNMENT_STORE_FAILED, cause)


def _generation_of(row: GroupRequestRow) -> int:
    """Generation of a SyncGroup; -1 where the log has none."""
    return -1 if row.generation is None else row.generation


def _mark_own_answer(course: Course, item: Item) -> None:
    verdict = course.audit.verdicts.get(item.token)
    if verdict is not None and verdict.predicted_error is None:
        verdict.use_answer(WHY_OWN_ANSWER)
