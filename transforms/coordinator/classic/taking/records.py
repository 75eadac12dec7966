"""Takes a GroupMetadata record: confirms what the machine thinks, or puts it right."""

from __future__ import annotations

from schemas.rows import GroupMetadataRow
from transforms.coordinator.classic.machine.events import Cause, Event
from transforms.coordinator.classic.machine.group import Group, Member
from transforms.coordinator.classic.machine.moves import bring_to, create
from transforms.coordinator.classic.taking import stored_generations
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.resync import members_of
from transforms.coordinator.evidence.sources import Authority, Source
from transforms.coordinator.evidence.tolerances import SAME_MOMENT_MS
from transforms.coordinator.kafka.states import COMPLETING, EMPTY, PREPARING, STABLE
from transforms.coordinator.timeline.facts import GenerationFacts, value_of
from transforms.coordinator.timeline.lives import Life


def take(course: Course, record: GroupMetadataRow, at: float) -> None:
    """Take one record, in the order of the offsets topic.

    Args:
        course: the replay.
        record: the record.
        at: its own time, by the coordinator's clock.
    """
    course.presence.last_record = None if record.is_tombstone else record
    if record.members:
        course.presence.is_modern = False
        if len(record.members) > course.machine.settings.max_size:
            course.brokers.learn_room(len(record.members))
    if record.is_tombstone:
        _deleted(course, at)
    elif not record.generation and not record.members:
        _created(course, at)
    elif record.members:
        _stored(course, record, at)
    else:
        _emptied(course, record, at)


def _deleted(course: Course, at: float) -> None:
    if course.machine.present is None and course.lives.died_at is None:
        return
    if course.lives.is_deletion_known(at, Source.OFFSETS) or course.machine.present is None:
        return
    delete(course, Cause(at, source=Source.OFFSETS))


def delete(course: Course, cause: Cause) -> None:
    """Let the group go, as a deletion of an empty group, or else whatever it is doing."""
    if not course.machine.apply(Event.GROUP_DELETED, cause) or course.machine.present is not None:
        course.machine.apply(Event.GROUP_REMOVED, cause)


def _created(course: Course, at: float) -> None:
    """The Java coordinator's marker of a new group; it says nothing but that the group is there."""
    died_at = course.lives.died_at
    if course.machine.present is None and (died_at is None or at > died_at + SAME_MOMENT_MS):
        create(course.machine)


def _stored(course: Course, record: GroupMetadataRow, at: float) -> None:
    generation = record.generation or 0
    member_ids = frozenset(member.member_id for member in record.members or ())
    life = _life_of(course, generation, at)
    row = life.come_about(generation)
    is_confirmed = member_ids in row.stable_sets
    is_replacement = _is_replacement(row, record, at)
    row.is_stored = True
    stored_generations.stored(row, record, is_replacement, _is_reloaded(course, record))
    if life is not course.life:
        return
    group = course.machine.present
    if group is not None and group.generation >= generation and (is_confirmed or _is_overtaken(course, record, at)):
        return
    if group is not None and group.is_known:
        course.presence.lacks_requests = True  # of the leader that synced, or the instance that came back
        life.forget_replayed(generation)
    members = members_of(record)
    if group is not None and (group.state, group.generation) == (STABLE, generation):
        members = [_as_of_now(course, group, member, at) for member in members]
    bring_to(course.machine, STABLE, generation, Cause(at, source=Source.OFFSETS), members)
    group = course.machine.group
    group.protocol, group.protocol_type = record.protocol, record.protocol_type
    group.leader = record.leader_member_id
    row.was_stable_with(member_ids)
    course.forget_parked()


def _as_of_now(course: Course, group: Group, member: Member, at: float) -> Member:
    """Return who is in the place of a record's member: it is taken late, and the instance may have come back since."""
    holder = group.static_members.get(member.group_instance_id or "")
    session = None if holder is None else course.life.sessions.get(holder)
    came_at = None if session is None else value_of(session.joined_at)
    return member if holder is None or came_at is None or came_at <= at else group.members[holder]


def _is_reloaded(course: Course, record: GroupMetadataRow) -> bool:
    """Whether a generation began in the life before, and another coordinator has loaded it."""
    before = course.lives.before
    begun = value_of(before.ended_at) if before is not None else None
    return begun is not None and (record.state_changed_at or begun) < begun


def _is_overtaken(course: Course, record: GroupMetadataRow, at: float) -> bool:
    """Whether the next rebalance began before the record was safe: somebody waits, a line or the leader's answer tells.

    Then the group never was Stable in that generation, although it is stored.
    """
    group, generation = course.machine.group, record.generation or 0
    following = course.life.generations.get(generation + 1)
    if not group.is_known:
        return False
    if group.generation > generation:
        since = at - SAME_MOMENT_MS
        return following is not None and (_begun_since(following, since) or _ended_since(course, following, since))
    leader = group.members.get(group.leader or "")
    if group.state is COMPLETING and leader is not None and leader.parked_sync is not None:
        return True
    if group.state is PREPARING and any(member.parked_join is not None for member in group.members.values()):
        return True
    return following is not None and _begun_since(following, at - SAME_MOMENT_MS)


def _begun_since(row: GenerationFacts, at: float) -> bool:
    """Whether a line tells that a join phase began at a moment or later."""
    begun = row.preparing_at
    return begun is not None and begun.authority >= Authority.LOGGED and begun.value >= at


def _ended_since(course: Course, row: GenerationFacts, at: float) -> bool:
    """Whether a line, which may not have been taken yet, or an answer tells that a join phase ended since a moment."""
    ended = row.completing_at
    is_told = ended is not None and (
        ended.authority >= Authority.LOGGED or course.witnesses.was_completed(row.generation, ended.value)
    )
    if not is_told:
        ended = row.joined_by
    return ended is not None and ended.value >= at


def _is_replacement(row: GenerationFacts, record: GroupMetadataRow, at: float) -> bool:
    """Whether a record was written for a static member's new id, and not by the leader's SyncGroup.

    The state timestamp of the first record of a generation is when it became CompletingRebalance, that of a later
    one when it became Stable. So a record whose first is not there, as after a compaction, still tells itself by what
    lines show, or requests.
    """
    if row.is_stored:
        return True
    stable = value_of(row.assigned_at or row.foreseen_stable_at)
    completing, changed = value_of(row.completing_at), record.state_changed_at
    if completing is None or stable is None or changed is None:
        return False
    return abs(changed - stable) < abs(changed - completing) and at - stable > SAME_MOMENT_MS


def _emptied(course: Course, record: GroupMetadataRow, recorded_at: float) -> None:
    generation = record.generation or 0
    life = _life_of(course, generation, recorded_at)
    at = recorded_at if record.state_changed_at is None else record.state_changed_at
    row = life.come_about(generation)
    is_known = row.emptied_at is not None
    row.learn_times(Source.OFFSETS, emptied_at=at)
    row.learn_choice(Source.OFFSETS, protocol_type=record.protocol_type)
    if life is not course.life:
        return
    group = course.machine.present
    if is_known and group is not None and group.generation >= generation and not was_taken_for_full(group, generation):
        return
    if group is not None and group.generation == generation and group.state is EMPTY:
        return
    bring_to(course.machine, EMPTY, generation, Cause(at, source=Source.OFFSETS), ())
    course.forget_parked()


def was_taken_for_full(group: Group, generation: int) -> bool:
    """Whether the machine gave members to a generation of which a record or a line says that it never had any."""
    return group.generation == generation and group.state in (COMPLETING, STABLE)


def _life_of(course: Course, generation: int, at: float) -> Life:
    """Return the life that a record is of: mostly the present one.

    Records are taken late, so that one that was written just before a deletion is of the life that ended by it. A
    stored generation lower than one stored before, without a deletion between, shows that the group began anew.
    """
    lives = course.lives
    ended = lives.by_number.get(lives.ended_number)
    if ended is not None and lives.died_at is not None and at < lives.died_at and ended.has(generation):
        return ended
    if generation < lives.present.most_stored():
        lives.begin(at, Source.OFFSETS)
    return lives.present
