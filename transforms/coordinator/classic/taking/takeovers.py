"""Takes the lines by which a coordinator takes a group over or gives it up."""

from __future__ import annotations

from collections.abc import Callable

from schemas.rows import CoordinatorEventRow
from transforms.coordinator.classic.machine.events import Cause, Event
from transforms.coordinator.classic.machine.group import Member
from transforms.coordinator.classic.machine.moves import take_over
from transforms.coordinator.classic.taking import stored_generations
from transforms.coordinator.classic.taking.conversion import CLASSIC_TYPES, become_modern, converted
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.resync import let_go_of_waiting, members_of, reloaded
from transforms.coordinator.evidence.sources import Source
from transforms.coordinator.kafka.states import GroupState
from transforms.coordinator.timeline.audit import WHY_OTHER_COPY

Handler = Callable[[Course, CoordinatorEventRow, float], None]
"""Takes a line, which was logged at a moment."""


def _cause(at: float) -> Cause:
    return Cause(at, source=Source.BROKER_LOG)


def _load_scheduled(course: Course, line: CoordinatorEventRow, at: float) -> None:
    presence = course.presence
    presence.has_loaded.discard(line.broker)
    if presence.coordinator is None and presence.attended == line.broker:
        presence.coordinator = line.broker  # it spoke for the group before: it is elected once more


def _loaded(course: Course, line: CoordinatorEventRow, at: float) -> None:
    """A broker found the group in the partition; one that coordinates it already keeps what it has."""
    presence = course.presence
    presence.has_loaded.add(line.broker)
    if (line.attributes or {}).get("group_type", "classic") not in CLASSIC_TYPES:
        presence.coordinator = line.broker
        become_modern(course, _cause(at))
    elif presence.coordinator != line.broker or course.machine.present is None:
        presence.coordinator = line.broker
        _load(course, line, _cause(at))


def _load(course: Course, line: CoordinatorEventRow, cause: Cause) -> None:
    """A coordinator takes the group over: it knows what the last record holds, and nothing else.

    A generation that was counted but never stored is lost with the old coordinator; its number will be used again, in
    another life. A join phase that had only begun is lost too: if it begins again, it begins then.
    """
    record, generation = course.presence.last_record, line.generation
    members = _loaded_members(course, line)
    if generation is None:
        generation = record.generation if record is not None else 0 if not line.member_count else None
    if generation is None:
        return
    present = course.machine.present
    elected = None if present is None else (present.protocol, present.protocol_type, present.leader)
    is_fallen = generation < course.life.most_counted()
    if is_fallen:
        course.lives.begin(cause.at, cause.source)
    elif generation + 1 in course.life.generations:
        course.life.generation(generation + 1).was_lost = True
    state = GroupState.STABLE if members or (members is None and generation) else GroupState.EMPTY
    course.presence.loaded_at = cause.at
    take_over(course.machine, state, generation, cause, members)
    group = course.machine.group
    is_of_record = record is not None and record.generation == generation
    if record is not None and is_of_record:
        elected = (record.protocol, record.protocol_type, record.leader_member_id)
    if elected is not None and members:
        group.protocol, group.protocol_type, group.leader = elected
    if is_fallen and generation:
        row = course.life.generation(generation)
        if members and record is not None and is_of_record:
            stored_generations.reloaded(row, record, cause.at)
        else:
            row.learn_cause(cause.source, trigger="coordinator_failover")
    course.forget_parked()


def _loaded_members(course: Course, line: CoordinatorEventRow) -> list[Member] | None:
    """Return the members that a coordinator loads: those of the last record; None if they are not known.

    Where compaction took that record, the replayed group knows them, if it was Stable.
    """
    record, group, count = course.presence.last_record, course.machine.present, line.member_count
    generation = line.generation
    if count == 0 or generation == 0:
        return []
    if record is not None and generation in (None, record.generation) and count in (None, len(record.members or ())):
        return members_of(record, is_load=True)
    if group is None or not group.is_known or group.state is not GroupState.STABLE:
        return None
    if generation not in (None, group.generation) or count not in (None, len(group.members)):
        return None
    return [reloaded(member, group.protocol) for member in group.members.values()]


def _load_finished(course: Course, line: CoordinatorEventRow, at: float) -> None:
    """A new coordinator that did not find the group has none, whatever the old one held."""
    broker, presence = line.broker, course.presence
    if broker in presence.has_loaded or presence.coordinator == broker:
        return
    if presence.coordinator is not None:
        _leave_waiting(course, presence.coordinator, at)
        _unload(course, at)
        course.note()  # in the life that may end here
        life = course.life
        counted = [row for row in life.generations.values() if row.is_counted]
        is_stored = life.highest_stored or any(Source.OFFSETS in row.sources for row in counted)
        if (counted or life.highest_counted) and not is_stored:
            course.lives.begin(at, Source.BROKER_LOG)  # none of its generations was stored
        for row in life.generations.values():
            row.was_lost = not row.is_counted
    presence.coordinator = broker
    presence.is_absence_known = True


def _leave_waiting(course: Course, broker: str, at: float) -> None:
    """Let those wait that wait at a broker that stands still, and hears of the next coordinator only later.

    It may answer them as if the group were still its own; what it answers then is not for this group to tell.
    """
    if course.machine.present is not None and course.ownership.stood_still(broker, at):
        let_go_of_waiting(course, WHY_OTHER_COPY)


def _unloaded(course: Course, line: CoordinatorEventRow, at: float) -> None:
    if course.presence.coordinator in (None, line.broker):
        _unload(course, at)


def _unload(course: Course, at: float) -> None:
    course.presence.is_absence_known, course.presence.attended = False, None
    if course.machine.present is not None:
        course.presence.shown_new_by, course.presence.is_shown_new = None, False  # it is that group that was new
        course.machine.apply(Event.GROUP_UNLOADED, _cause(at))


def _started(course: Course, line: CoordinatorEventRow, at: float) -> None:
    """A broker begins with nothing: what it coordinated before is gone, until it or another loads it."""
    presence = course.presence
    if presence.coordinator == line.broker:
        presence.coordinator = None
    if presence.attended == line.broker:
        presence.attended = None


def _converted(course: Course, line: CoordinatorEventRow, at: float) -> None:
    converted(course, line, _cause(at))


TAKEOVERS: dict[str, Handler] = {
    "load_scheduled": _load_scheduled,
    "group_loaded": _loaded,
    "load_finished": _load_finished,
    "group_unloaded": _unloaded,
    "coordinator_started": _started,
    "group_converted": _converted,
}
"""What each such event does."""
