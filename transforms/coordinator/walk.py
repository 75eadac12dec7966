"""A group on its way through the evidence, whichever protocols it speaks: each piece goes to the one that it is of.

Records say of what type a group is. The classic coordinator's replay sees all else too, for it knows the brokers and
whose the group is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from math import ceil, inf
from typing import Any

from schemas.rows import GroupRequestRow
from transforms.coordinator.asking import asked_of
from transforms.coordinator.classic.taking.walk import ClassicWalk
from transforms.coordinator.epochs.audit import judge
from transforms.coordinator.epochs.audit_rows import audit_row, leave_open
from transforms.coordinator.epochs.converting import has_sent_back
from transforms.coordinator.epochs.course import Course
from transforms.coordinator.epochs.nearby import Operation
from transforms.coordinator.epochs.recall import Recall
from transforms.coordinator.evidence.items import REQUEST, Item
from transforms.coordinator.evidence.tolerances import (
    HOLD_MS,
    LOOK_AHEAD_MS,
    RACE_WINDOW_MS,
    RECORD_DELAY_MS,
    SAME_MOMENT_MS,
    SLOW_APPEND_MS,
)
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.apis import CLASSIC_APIS, MODERN_HEARTBEATS, TYPE_OF_HEARTBEAT
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.moments import PROTOCOLS, read_moment
from transforms.coordinator.neighbourhood import Neighbourhood
from transforms.coordinator.past import Past
from transforms.coordinator.rows.tables import Sink
from transforms.coordinator.state import ReplayState, Spoken
from transforms.coordinator.timeline.audit import WHY_OTHER_COPY, WHY_SETTING, WHY_UNKNOWN

_TELLING_APIS = MODERN_HEARTBEATS | {"JoinGroup"}
"""Requests that tell of their neighbours in time; any tells when the request log begins, if it is the first."""

_OF_CLASSIC_GROUPS = frozenset({"preparing_rebalance", "stabilized", "group_empty", "group_converted"})

_HOLDS_OF_A_CONVERSION = ceil(RECORD_DELAY_MS / HOLD_MS) + 1
"""A conversion's line and what follows stand before its records, which come late as all records do."""

_HOLDS_OF_AN_APPEND = ceil(SLOW_APPEND_MS / HOLD_MS)


class GroupWalk:
    """The replay of a group, as the driver knows it."""

    def __init__(self, state: ReplayState, sink: Sink) -> None:
        self._state = state
        self._sink = sink
        self._classic = ClassicWalk(state.shared, state.classic, sink)
        self._presence = state.classic.presence
        self._ownership = state.shared.ownership
        self._courses: dict[str, Course] = {}
        for group_type in PROTOCOLS:
            if getattr(state.modern, group_type) is not None:
                self._course(group_type)
        waiting = state.waiting.items[state.waiting.position :]
        self._ahead = deque(read_moment(item, item.modern) for item in waiting if item.modern)
        self._recall = Recall()
        self._past = Past(state.modern)
        self._near = Neighbourhood(state, self._courses, self._ahead, self._past)
        self.take_many: Callable[[Sequence[Item], int, float, float], int] = self._classic.take_many
        """Take pieces of evidence as long as they are of the many that change nothing but a timer."""
        self.records_until = inf
        """Newest record of any group that was read (epoch ms): what a younger one would tell is not known yet."""
        self.awaits_records = False
        """Something was left open because of that."""

    def telling(self, items: Sequence[Item]) -> Iterator[int]:
        """Yield the places of those pieces that tell anything of their neighbours in time; the many do not.

        One is noticed before the next is asked for.
        """
        presence = self._presence
        for place, item in enumerate(items):
            row = item.request
            if row is None or ((row.api in _TELLING_APIS or presence.heard_from == inf) and item.kind is REQUEST):
                yield place

    def notice(self, item: Item) -> None:
        """Take note of evidence that is seen, and not taken yet: what it tells of its neighbours in time."""
        if item.request is not None:
            self._classic.notice_request(item, item.request)
        elif item.line is not None:
            if item.line.group_id is not None and not self._ownership.tells_of_the_past(item.line):
                self._state.modern.told.notice(item.line)
            self._classic.notice_line(item.line)
        else:
            self._notice_records(item)

    def _notice_records(self, item: Item) -> None:
        if item.modern:
            self._ahead.append(read_moment(item, item.modern))
            self._classic.notice_modern(item.modern[0].topic_partition_of_record)
            for row in item.modern:
                self._state.shared.brokers.notice_modern(row)
        if item.record is not None:
            self._classic.notice_record(item.record)

    def take(self, item: Item) -> float:
        """Take a piece of evidence, unless it comes too early; as `driver.Walk.take`."""
        row, classic = item.request, self._classic
        classic.let_time_pass(item.at)
        # Whether nothing tells, by now, that the group ever was one of epochs.
        is_plain = not self._courses and not self._ahead and (row is None or row.api not in TYPE_OF_HEARTBEAT)
        if is_plain:
            if wait_ms := classic.waits_ms(item):
                return wait_ms
            classic.take(item)
        elif wait_ms := self._waits_ms(item, row):
            return wait_ms
        else:
            self._take(item, row)
        return 0.0

    def _waits_ms(self, item: Item, row: GroupRequestRow | None) -> float:
        """Return for how long a piece of evidence is put off, as it comes too early; 0 = not at all."""
        most = self._most_holds(item, row)
        if most is None:
            return self._classic.waits_ms(item)
        return HOLD_MS if item.holds < most else 0.0

    def _most_holds(self, item: Item, row: GroupRequestRow | None) -> int | None:
        """Return how often evidence is put off that bears on a group of epochs; None where it does not."""
        if row is None:
            return _HOLDS_OF_A_CONVERSION if self._is_of_classic_group_to_come(item) else None
        if self._is_after_end_to_come(item, row):
            return _HOLDS_OF_A_CONVERSION
        if row.api in TYPE_OF_HEARTBEAT or self._is_join_by_classic_protocol(item, row):
            is_all_seen = item.at + LOOK_AHEAD_MS > row.answered_at + RECORD_DELAY_MS + RACE_WINDOW_MS
            return 0 if is_all_seen else _HOLDS_OF_AN_APPEND
        return None

    def _is_after_end_to_come(self, item: Item, row: GroupRequestRow) -> bool:
        """Whether the group of epochs was no more when a request came, by records that have not been taken yet."""
        is_asked = item.kind is REQUEST and row.api in CLASSIC_APIS
        return is_asked and bool(self._ahead) and self._near.is_over_by(item.handled_at)

    def _is_join_by_classic_protocol(self, item: Item, row: GroupRequestRow) -> bool:
        """Whether a request joins a group of epochs, which answers it once its records are written."""
        is_join = row.api == "JoinGroup" and item.kind is REQUEST
        return is_join and self._near.present() is not None

    def _take(self, item: Item, row: GroupRequestRow | None) -> None:
        if row is not None:
            if item.kind is not REQUEST or not self._take_request(item, row):
                self._classic.take(item)
        elif item.modern:
            self._take_records(item)
        else:
            if item.line is not None and not self._ownership.tells_of_the_past(item.line):
                self._state.modern.unwritten.take_line(item.line)
            if self._courses and self._shows_classic_group(item):
                if self._is_of_group_before(item):
                    return
                self._give_way(item.at if item.record is None else item.record.recorded_at or item.at)
            self._classic.take(item)

    def settle(self, now: float) -> None:
        """Tell what is settled at a moment; infinite = everything, as far as it has come."""
        if now == inf:
            self._sink.is_at_end = True
            for course in self._courses.values():
                course.tell_open()
        self._state.modern.forget(now)
        self._past.forget(now)
        self._classic.settle(now)
        if now == inf:
            self._sink.say_open_stays()

    # --- records -----------------------------------------------------------------------------------------------

    def _is_of_classic_group_to_come(self, item: Item) -> bool:
        """Whether a line tells of a classic group while the records of its conversion have not been taken yet."""
        is_of_classic = item.line is not None and item.line.event in _OF_CLASSIC_GROUPS
        return is_of_classic and self._near.present() is not None

    def _shows_classic_group(self, item: Item) -> bool:
        """Whether a record or line is of a classic group, though no record told of a conversion.

        A coordinator that reads its record has a classic group from then on, whatever the id was before, and whether
        the group has members or not (GroupMetadataManager.replay). A line may be late, so it has to name a generation.
        """
        if item.record is not None:
            return not item.record.is_tombstone
        return item.line is not None and item.line.event in _OF_CLASSIC_GROUPS and item.line.generation is not None

    def _is_of_group_before(self, item: Item) -> bool:
        """Whether a line that was put off is of a group that is no more: another one's records are later than it."""
        last = self._past.last
        if item.line is None or last is None or self._near.present() is None:
            return False
        return (item.line.logged_at or item.at) <= last.at

    def _take_records(self, item: Item) -> None:
        self._recall.forget()
        if item.modern:
            self._ownership.move_to(item.modern[0].topic_partition_of_record)
        ahead = self._ahead.popleft()
        self._past.remember(item, ahead, self._courses)
        if ahead.is_conversion:
            self._classic.take(item)
        for group_type, operations in ahead.operations.items():
            if self._is_gone_already(group_type, operations):
                continue
            self._classic.give_way(ahead.at)
            self._give_way(ahead.at, group_type)
            self._course(group_type).take([each.records for each in operations], ahead.at)
            for operation in operations:
                self._state.modern.unwritten.take_records(operation.records, PROTOCOLS[group_type].types)
        if item.record is not None and not ahead.is_conversion:
            self._give_way(ahead.at)
            self._classic.take(item)
            self._classic.take_over(item.record)
        elif self._near.present() is None:
            self._classic.begin_anew()

    def _is_gone_already(self, group_type: str, operations: Sequence[Operation]) -> bool:
        """Whether records are the end of a group of epochs that has given way to a classic one before."""
        if self._state.classic.machine.present is None or self._course(group_type).is_there:
            return False
        return all(each.is_end for each in operations)

    def _give_way(self, at: float, group_type: str | None = None) -> None:
        """Let go of the group as one of any type but one, which a record shows."""
        self._recall.forget()
        for name, course in self._courses.items():
            if name != group_type and course.is_there:
                self._past.drop()
                course.give_way(at)

    def _course(self, group_type: str) -> Course:
        course = self._courses.get(group_type)
        if course is None:
            protocol = PROTOCOLS[group_type]
            spoken: Any = getattr(self._state.modern, group_type)
            if spoken is None:
                spoken = Spoken(protocol.machine())
                setattr(self._state.modern, group_type, spoken)
            told = self._state.modern.told
            course = Course(self._state.shared, protocol, spoken.known, spoken.machine, told, self._sink)
            self._courses[group_type] = course
        return course

    # --- requests ----------------------------------------------------------------------------------------------

    def _take_request(self, item: Item, row: GroupRequestRow) -> bool:
        """Audit a request to a group of epochs; return whether that is all that is to be done about it."""
        is_heartbeat = row.api in TYPE_OF_HEARTBEAT
        group_type = TYPE_OF_HEARTBEAT[row.api] if is_heartbeat else self._type_at(row, item.handled_at)
        if group_type is None or self._lacks_records(row):
            return False
        protocol = PROTOCOLS[group_type]
        modern, brokers, cluster = self._state.modern, self._state.shared.brokers, self._state.shared.cluster
        is_fenced_join = is_heartbeat and row.generation == 0 and row.error_code == Error.FENCED_MEMBER_EPOCH
        is_learnt = is_fenced_join and brokers.learns_that_joins_are_fenced(row.broker)
        asked = asked_of(self._state, self._near, self._recall, self._sink.topic_names, group_type, item, row)
        settings = asked.world.settings
        if self._ownership.stood_still(row.broker, row.answered_at):
            self._classic.say_audited(audit_row(cluster, protocol, asked, None, WHY_OTHER_COPY))
            return True
        predicted, why = judge(protocol, asked)
        if row.api == "ConsumerGroupHeartbeat":
            near, end = asked.near, sum(each.at <= row.answered_at for each in asked.near.operations)
            modern.unwritten.take_answer(row, item.handled_at, settings.rules, lambda: near.group_at(protocol, end))
        if predicted is None and not is_heartbeat and why == WHY_UNKNOWN:
            self._give_up(self._near.given_up_at(group_type, row))
            return False
        audited = audit_row(cluster, protocol, asked, predicted, why)
        if is_learnt:
            audited.is_answer_used, audited.why = True, WHY_SETTING
        if row.answered_at > self.records_until and leave_open(audited):
            self.awaits_records = True
        self._classic.say_audited(audited)
        self._give_up(self._near.forgotten_at(group_type, row, settings.rules))
        is_by_consumer = group_type == "consumer" and is_heartbeat and asked.elsewhere is GroupType.CLASSIC
        if is_by_consumer and has_sent_back(asked.classic, settings, row.generation, asked.exchange.observed_error):
            self._classic.fail_to_convert(item.handled_at, row.answered_at + SAME_MOMENT_MS)
        return not is_heartbeat or asked.near.tells_by_itself(item.handled_at, row.answered_at)

    def _give_up(self, at: float | None) -> None:
        """Let go of the group of epochs for a classic one, or for none, if it was given up at a moment."""
        if at is not None:
            self._give_way(at)
            self._classic.begin_anew()

    def _lacks_records(self, row: GroupRequestRow) -> bool:
        """Whether a request was let in that must have written records, and there are none of the group."""
        return not row.error_code and not self._courses and not self._ahead

    def _type_at(self, row: GroupRequestRow, handled_at: float) -> str | None:
        """Return the type of the group that a request met, if it is one of epochs."""
        if row.api not in CLASSIC_APIS or not (self._courses or self._ahead):
            return None
        return self._near.type_at(row, handled_at)
