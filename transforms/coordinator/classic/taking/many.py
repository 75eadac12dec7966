"""Takes the many: heartbeats and commits of members, which change nothing but a timer.

All that the slow way would look at is looked at here; where anything is unusual, or the table answers otherwise than
the broker did, a piece of evidence is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from schemas.rows import GroupRequestRow, ReplayAuditRow
from transforms.coordinator.classic.machine.effects import keep_session
from transforms.coordinator.classic.machine.events import Event
from transforms.coordinator.classic.machine.group import Group, Member, Timer, member_timer
from transforms.coordinator.classic.machine.transitions import TRANSITIONS
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.evidence.exchanges import observed_error
from transforms.coordinator.evidence.items import REQUEST, Item
from transforms.coordinator.kafka.states import COMPLETING, NAMES, PREPARING, STABLE, GroupState

_EVENT_OF_API = {"Heartbeat": Event.HEARTBEAT, "OffsetCommit": Event.COMMIT, "TxnOffsetCommit": Event.TXN_COMMIT}

_Answer = tuple[int, bool]

_ANSWERS: dict[GroupState, dict[str, _Answer]] = {
    state: {
        api: (int(cell.answer), cell.effect is keep_session)
        for api, event in _EVENT_OF_API.items()
        if (cell := TRANSITIONS.get((state, event))) is not None and cell.answer is not None
    }
    for state in (PREPARING, COMPLETING, STABLE)
}
"""By state and API: what a member of the group's generation is answered, and whether its session begins afresh."""


class Many:
    """Takes the many of one group."""

    def __init__(self, course: Course) -> None:
        self._course = course

    def take(self, items: Sequence[Item], position: int, before: float, until: float) -> int:
        """Take heartbeats and commits of members of the group's generation, as long as no timer is due.

        They change nothing, so what holds for the group at the first of a run holds for all of it, and is looked up
        once. Arguments as for `driver.Walk.take_many`.
        """
        first = items[position].request
        if first is None or first.api not in _EVENT_OF_API:
            return position  # mostly
        group = self._group()
        if group is None:
            return position
        run = self._run(group, items, position, before, until)
        end = position + len(run)
        if run:
            self._course.counts.add_plain(run)
            if self._course.sink.keeps_audit:
                self._say(group, items[position:end], run)
        return end

    def _run(
        self, group: Group, items: Sequence[Item], position: int, before: float, until: float
    ) -> list[GroupRequestRow]:
        """Start the sessions of those afresh that keep up; return the requests that are taken, one after the other."""
        run: list[GroupRequestRow] = []
        course = self._course
        is_stable, generation, broker = group.state is STABLE, group.generation, course.presence.attended
        answers, members, timers, ownership = _ANSWERS[group.state], group.members, group.timers, course.ownership
        asks_since = ownership.asks_for_sure_since(broker)
        for place in range(position, len(items)):
            item = items[place]
            row, at, handled_at = item.request, item.at, item.handled_at
            if row is None or row.generation != generation or row.broker != broker or at >= before:
                return run
            answer, member = answers.get(row.api), members.get(row.member_id or "")
            if answer is None or member is None or item.kind is not REQUEST:
                return run
            if (row.group_instance_id is not None or not is_stable) and not _is_plain(course, group, member, row):
                return run
            error, keeps_session = answer
            if (row.error_code if not row.partition_errors else observed_error(row)) != error:
                return run
            if timers.none_before <= at and timers.next_until(at) is not None:
                return run
            if handled_at <= asks_since and not ownership.is_settled(row.broker, handled_at, row.answered_at):
                return run
            if keeps_session:
                timers.start(member_timer(member.member_id), Timer(handled_at + member.session_timeout_ms))
            run.append(row)
            if at >= until:
                return run
        return run

    def _group(self) -> Group | None:
        """Return the group, if there is one whose members are asked as the table says, at the broker they turn to."""
        presence, group = self._course.presence, self._course.machine.present
        if group is None or not group.is_known or group.state not in _ANSWERS:
            return None
        if presence.is_modern or presence.lacks_requests:
            return None
        return group if presence.coordinator in (None, presence.attended) else None

    def _say(self, group: Group, items: Sequence[Item], rows: Sequence[GroupRequestRow]) -> None:
        """Tell of requests that were answered as the table says."""
        cluster, sink = self._course.cluster, self._course.sink
        answers, state, audit = _ANSWERS[group.state], NAMES[group.state], sink.rows.replay_audit
        for item, row in zip(items, rows, strict=True):
            error, _ = answers[row.api]
            sink.now = item.at
            # No more than fifteen keywords: beyond that, Python packs them into a dictionary first, and it takes 6×.
            audited = ReplayAuditRow(
                cluster=cluster,
                source_file=row.source_file,
                line_number=row.line_number,
                seq=row.seq,
                at=row.answered_at,
                handled_at=item.handled_at,
                broker=row.broker,
                api=row.api,
                group_id=row.group_id,
                member_id=row.member_id,
                state_before=state,
                observed_error=error,
                predicted_error=error,
                agrees=True,
                is_answer_used=False,
            )
            audit.append(sink.stamped(audited))


def _is_plain(course: Course, group: Group, member: Member, row: GroupRequestRow) -> bool:
    """Whether a member is who it says, and the group has no other rule for it before it is Stable."""
    if row.group_instance_id is not None and group.static_members.get(row.group_instance_id) != member.member_id:
        return False
    return group.state is STABLE or _is_as_today(course, group, member)


def _is_as_today(course: Course, group: Group, member: Member) -> bool:
    """Whether the broker's release has no other rule for a member before the group is Stable."""
    rules = course.machine.settings.rules
    if group.state is COMPLETING:
        return not rules.heartbeats_await_sync
    return not (rules.spares_new_members and member.is_new)
