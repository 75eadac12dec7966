"""Takes the many: heartbeats and commits of members, which change nothing but a timer.

All that the slow way would look at is looked at here; where anything is unusual, or the table answers otherwise than
the broker did, a piece of evidence is left to it.
"""

from __future__ import annotations

from schemas.rows import GroupRequestRow, ReplayAuditRow
from transforms.coordinator.classic.machine.effects import keep_session
from transforms.coordinator.classic.machine.events import Event
from transforms.coordinator.classic.machine.group import Group, Member, Timer, member_timer
from transforms.coordinator.classic.machine.transitions import TRANSITIONS
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.evidence.exchanges import observed_error
from transforms.coordinator.evidence.items import REQUEST, Item
from transforms.coordinator.kafka.states import COMPLETING, EMPTY, STABLE, GroupState

_EVENT_OF_API = {"Heartbeat": Event.HEARTBEAT, "OffsetCommit": Event.COMMIT, "TxnOffsetCommit": Event.TXN_COMMIT}

_CELLS: dict[tuple[str, GroupState], tuple[int, bool, str]] = {
    (api, state): (int(cell.answer), cell.effect is keep_session, state.value)
    for api, event in _EVENT_OF_API.items()
    for (state, each), cell in TRANSITIONS.items()
    if each is event and cell.answer is not None and state is not EMPTY
}
"""By API and state: what a member of the group's generation is answered, if its session begins afresh, the state."""


class Many:
    """Takes the many of one group."""

    def __init__(self, course: Course) -> None:
        self._course = course

    def take_at_once(self, item: Item) -> bool:
        """Take a heartbeat or commit of a member of the group's generation, unless a timer is due before it."""
        course = self._course
        row, group = item.request, course.machine.present
        if row is None or group is None or row.generation != group.generation or item.kind is not REQUEST:
            return False
        cell = _CELLS.get((row.api, group.state))
        if cell is None or not group.is_known:
            return False
        answer, keeps_session, state = cell
        member = group.members.get(row.member_id or "")
        if member is None or not _is_plain(course, group, member, row, answer):
            return False
        timers, at = group.timers, item.handled_at
        if timers.none_before <= item.at and timers.next_until(item.at) is not None:
            return False
        if not course.ownership.is_settled(row.broker, at, row.answered_at):
            return False
        if keeps_session:
            timers.start(member_timer(member.member_id), Timer(at + member.session_timeout_ms))
        course.counts.add_plain(row.api, row.answered_at)
        sink = course.sink
        if sink.keeps_audit:
            sink.now = item.at
            # No more than fifteen keywords: beyond that, Python packs them into a dictionary first, and it takes 6×.
            audited = ReplayAuditRow(
                cluster=course.cluster,
                source_file=row.source_file,
                line_number=row.line_number,
                seq=row.seq,
                at=row.answered_at,
                handled_at=at,
                broker=row.broker,
                api=row.api,
                group_id=row.group_id,
                member_id=row.member_id,
                state_before=state,
                observed_error=answer,
                predicted_error=answer,
                agrees=True,
                is_answer_used=False,
            )
            sink.rows.replay_audit.append(sink.stamped(audited))
        return True


def _is_plain(course: Course, group: Group, member: Member, row: GroupRequestRow, answer: int) -> bool:
    """Whether a member of the group was answered by it as the table says."""
    presence, broker = course.presence, row.broker
    if presence.is_modern:
        return False
    if row.group_instance_id is not None and group.static_members.get(row.group_instance_id) != member.member_id:
        return False
    if presence.attended != broker or (presence.coordinator != broker and presence.coordinator is not None):
        return False
    if group.state is not STABLE and not _is_as_today(course, group, member):
        return False
    error = row.error_code if not row.partition_errors else observed_error(row)
    return error == answer


def _is_as_today(course: Course, group: Group, member: Member) -> bool:
    """Whether the broker's release has no other rule for a member before the group is Stable."""
    rules = course.machine.settings.rules
    if group.state is COMPLETING:
        return not rules.heartbeats_await_sync
    return not (rules.spares_new_members and member.is_new)
