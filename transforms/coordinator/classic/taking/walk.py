"""A classic group on its way through the evidence: what the driver asks of it.

Rules, each bought with a wrong timeline:

* A request is judged by what came before it. Its own answer only ends a wait (a successful JoinGroup of generation n
  shows that the join phase of n is over), and where it did the audit's row says so.
* Estimates of time can put an effect before its cause. A request of a generation that the group has not reached yet,
  and the end of a join phase in which somebody is still missing, are held for a few ms until the cause turns up.
* A record confirms, and where it does not it is right: the machine goes where the record is, backwards too.
* Nothing here raises on data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf

from schemas.rows import CoordinatorEventRow, GroupMetadataRow, GroupRequestRow, ReplayAuditRow
from transforms.coordinator.classic.machine.events import Cause
from transforms.coordinator.classic.machine.group import JOIN_TIMER, Timer
from transforms.coordinator.classic.taking import answers, lines, records, requests
from transforms.coordinator.classic.taking.conversion import become_modern, conversion_failed
from transforms.coordinator.classic.taking.course import Course
from transforms.coordinator.classic.taking.holds import waits_ms
from transforms.coordinator.classic.taking.homes import is_at_home, is_line_at_home
from transforms.coordinator.classic.taking.many import Many
from transforms.coordinator.classic.taking.state import ClassicState
from transforms.coordinator.evidence.items import REQUEST, Item
from transforms.coordinator.evidence.ownership import COORDINATOR_EVENTS
from transforms.coordinator.evidence.sources import OFFSETS, Source
from transforms.coordinator.evidence.tolerances import (
    HOLD_MS,
    JOIN_TIMER_LAG_MS,
    MEMBER_TIMER_LAG_MS,
    SETTLING_MS,
    TIMER_LATE_MS,
)
from transforms.coordinator.kafka.apis import MODERN_HEARTBEATS
from transforms.coordinator.rows.counts import over_at, say_audited
from transforms.coordinator.rows.settling import Settling
from transforms.coordinator.rows.tables import Rows, Sink
from transforms.coordinator.shared import Shared
from transforms.coordinator.timeline.lives import Life

FIRST_GENERATION = 1

SETTLE_EVERY_MS = 5_000.0
"""How often, in the time of the evidence, the timeline is looked through while something is about to be settled."""


class ClassicWalk:
    """The replay of a classic group, as the driver knows it."""

    def __init__(self, shared: Shared, state: ClassicState, sink: Sink) -> None:
        self._sink = sink
        self._course = Course(shared, state, sink)
        self._machine = state.machine
        self._reigns = shared.reigns
        self._place = shared.place
        self._untold = Sink()
        self._choose_sink()
        self.waits_ms: Callable[[Item], float] = partial(waits_ms, self._course)
        """For how long a piece of evidence is put off, as what it shows cannot have happened yet; 0 = not at all."""
        self.take_many: Callable[[Sequence[Item], int, float, float], int] = Many(self._course).take
        """Take pieces of evidence as long as they are of the many that change nothing but a timer."""

    def notice_modern(self, partition: int) -> None:
        """Take note of records of a newer protocol, and of the partition that they are in."""
        self._reigns.observed.add(partition)
        self._course.presence.has_spoken_modern = True
        self._choose_sink()

    def give_way(self, at: float) -> None:
        """A record shows that the group speaks a newer protocol."""
        if not self._course.presence.is_modern:
            cause = Cause(at, source=Source.OFFSETS)
            self._course.let(at, partial(become_modern, self._course, cause))

    def begin_anew(self) -> None:
        """A group of a newer protocol is no more: it was deleted, or has given way to a classic one, about to begin."""
        presence = self._course.presence
        presence.is_modern, presence.is_absence_known = False, True

    def fail_to_convert(self, at: float, until: float) -> None:
        """An answer shows that the group could not be made one of a newer protocol: tried then, over a moment later."""
        cause = Cause(at, source=Source.ANSWER)
        self._course.let(at, partial(conversion_failed, self._course, cause, until))

    def say_audited(self, row: ReplayAuditRow) -> None:
        """Tell of a request to a group of another type."""
        course = self._course
        course.lives.settle_by(row.at + SETTLING_MS)
        say_audited(course.state.counts, self._sink, row)

    def take_over(self, record: GroupMetadataRow) -> None:
        """The group was of another type up to this record."""
        self._course.presence.is_modern = False
        facts = self._course.life.generations.get(record.generation or 0)
        if facts is not None:
            facts.learn_cause(Source.OFFSETS, trigger="converted")

    def notice_request(self, item: Item, row: GroupRequestRow) -> None:
        """Take note of a request that is seen, and not taken yet: what it tells of its neighbours in time."""
        presence = self._course.presence
        if presence.heard_from == inf:
            self._course.brokers.notice_request(row)
            # What the first request brings about can look a few ms older than it.
            presence.heard_from = item.handled_at - HOLD_MS
        if row.api == "JoinGroup":
            self._notice_join(item, row)
        elif row.api in MODERN_HEARTBEATS and not presence.has_spoken_modern:
            presence.has_spoken_modern = True
            self._choose_sink()

    def _notice_join(self, item: Item, row: GroupRequestRow) -> None:
        course, at = self._course, item.handled_at
        course.presence.has_spoken_classic = True
        course.state.joiners.notice_request(row, at)
        if item.second is not None:
            course.state.joiners.notice_request(item.second, at)
        course.state.rejoins.notice_request(item.token, row, at)
        if row.answered_generation == FIRST_GENERATION and not course.is_known:
            course.presence.shown_new_by = item.token
        if not course.is_told:
            self._choose_sink()

    def notice_line(self, line: CoordinatorEventRow) -> None:
        """Likewise of a line."""
        course = self._course
        course.brokers.notice_line(line)
        if line.event in COORDINATOR_EVENTS:
            course.ownership.notice(line, course.brokers.of(line.broker).dialect)
        is_of_past = course.ownership.tells_of_the_past(line)
        if line.event != "load_finished" or not is_of_past:
            self._reigns.notice(line)
        if line.group_id is not None and not is_of_past:
            course.presence.has_other_evidence = True
            course.witnesses.notice(line)
            course.state.joiners.notice_line(line)
            course.state.rejoins.notice_line(line)

    def notice_record(self, record: GroupMetadataRow) -> None:
        """Likewise of a record of the classic group."""
        course = self._course
        course.brokers.notice_record(record)
        self._reigns.observed.add(record.topic_partition_of_record)
        if record.members:
            course.presence.has_other_evidence = course.presence.has_spoken_classic = True
            self._choose_sink()

    def _choose_sink(self) -> None:
        """A group that never spoke the classic protocol has a coordinator, and no other rows of a classic group."""
        self._course.is_told = not self._course.presence.is_other_kind
        self._course.sink = self._sink if self._course.is_told else self._untold

    def let_time_pass(self, until: float) -> None:
        """Let the timers run out that are due before something that is about to be taken."""
        self._course.sink.now = self._sink.now = until
        group = self._machine.present
        if group is not None and group.timers.none_before <= until:
            while self._let_timer_run_out(until):
                pass

    def take(self, item: Item) -> None:
        """Take a piece of evidence."""
        course = self._course
        if item.kind is REQUEST:
            requests.take(course, item)
        elif item.request is not None:
            answers.take(course, item, item.request)
        elif item.record is not None:
            record, at = item.record, item.record.recorded_at or 0.0
            if is_at_home(course, record.topic_partition_of_record, at, OFFSETS):
                course.let(at, partial(records.take, course, record, at))
        elif item.line is not None:
            line, at = item.line, item.line.logged_at or 0.0
            if is_line_at_home(course, line, at):
                if line.group_id is not None:
                    course.witnesses.tell_again(at)
                course.name_made_up(line)
                if line.event in lines.HANDLERS:
                    course.let(at, partial(lines.take, course, line, at))

    def settle(self, now: float) -> None:
        """Tell what is settled at a moment; infinite = everything, as far as it has come."""
        course, group, is_final = self._course, self._machine.present, now == inf
        course.sink.now = self._sink.now = now
        if not course.is_told:
            self._untold.rows = Rows()
        if course.audit.verdicts:
            parked: set[int | None] = set() if group is None or is_final else group.parked
            for verdict in course.audit.settled(now, parked):
                course.say_audited(verdict)
        course.audit.forget(now)
        course.departures.forget(now)
        members = group.members if group is not None and group.is_known else None
        settling = Settling(course.cluster, self._machine.group_id, course.lives, course.sink, self._sink)
        settling.settle(now, members)
        open_since = min((each.exchange.answered_at for each in course.audit.verdicts.values()), default=inf)
        counted = course.state.counts.settled(course.cluster, self._machine.group_id, min(now, open_since))
        self._sink.rows.audit_counts += self._sink.all_stamped(counted)
        reigns = self._reigns.open(self._place) if is_final else self._reigns.settled(self._place)
        self._sink.rows.coordinators += self._sink.all_stamped(reigns)
        is_waiting = course.audit.verdicts or any(map(_is_under_way, course.lives))
        course.lives.settle_at = now + SETTLE_EVERY_MS if is_waiting else over_at(now)

    def _let_timer_run_out(self, before: float) -> bool:
        """Let the next timer run out if it is due."""
        course, machine = self._course, self._machine
        timer = machine.next_timer(before) if course.presence.hears_at(before) else None
        if timer is None:
            return False
        due, key = timer
        if due < course.presence.heard_from:
            self._start_listening()
            return True
        if due + (JOIN_TIMER_LAG_MS if key == JOIN_TIMER else MEMBER_TIMER_LAG_MS) > before:
            return False
        is_drawn_out = key == JOIN_TIMER and machine.draws_out_join()
        ran_out = due if is_drawn_out else course.witnesses.moment(key, due)
        if self._is_out(due):
            ran_out = None
        if ran_out is None:
            machine.group.timers.stop(key)
        elif ran_out > due:
            machine.group.timers.start(key, Timer(ran_out))
        elif is_drawn_out or key != JOIN_TIMER or not machine.draw_out_unattended_join(before):
            course.let(due, partial(machine.fire, key), due + TIMER_LATE_MS)
        return True

    def _is_out(self, at: float) -> bool:
        """Whether the group's broker had given it up, and its timers with it."""
        presence = self._course.presence
        broker = presence.coordinator or presence.attended
        return broker is not None and self._course.ownership.is_out(broker, at)

    def _start_listening(self) -> None:
        """The request log begins: every session starts afresh, what should have happened before has."""
        group = self._machine.group
        group.timers.clear()
        for member in group.members.values():
            self._machine.reset_session(member, self._course.presence.heard_from)


def _is_under_way(life: Life) -> bool:
    """Whether a life has more to settle than what stays open until something happens."""
    return len(life.generations) > 1 or life.is_over or any(each.gone_at is not None for each in life.sessions.values())
