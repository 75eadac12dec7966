"""Walks one group's evidence through the state machine.

The replay walks the evidence in its order and lets the machine's own timers run out in between. What the machine
answers becomes the audit; where the group went becomes the timeline. Rules, each bought with a wrong timeline:

* A request is judged by what came before it. Its own answer only ends a wait (a successful JoinGroup of generation n
  shows that the join phase of n is over), and where it did the audit's row says so.
* Estimates of time can put an effect before its cause. A request of a generation that the group has not reached yet,
  and the end of a join phase in which somebody is still missing, are held for a few ms until the cause turns up.
* A record confirms, and where it does not it is right: the machine goes where the record is, backwards too.
* Nothing here raises on data.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any

from transforms.coordinator import exchanges, lines, observe, records
from transforms.coordinator.answers import Error
from transforms.coordinator.audit import (
    WHY_RESYNC,
    Audit,
    view,
)
from transforms.coordinator.brokers import Brokers
from transforms.coordinator.events import Answered, Cause, Event, Gone, Joined, Moved
from transforms.coordinator.evidence import Exchange, Item, Kind, Row
from transforms.coordinator.facts import Timeline
from transforms.coordinator.group import Group, Timer
from transforms.coordinator.holds import HOLD_MS, JOIN_TIMER_LAG_MS, MOST_HOLDS, comes_too_early
from transforms.coordinator.machine import Machine
from transforms.coordinator.states import GroupState

MEMBER_TIMER_LAG_MS = 1.0
"""How late a timer that removes a member runs out, so that a heartbeat of the same moment comes first."""

ONE_DELETION_MS = 1000.0
"""Witnesses of one deletion are no further apart than this."""

EXPIRY_SLACK_MS = 50.0
"""At the end of a join phase, members whose session ends this soon ended by it, and not for not rejoining."""


@dataclass(slots=True)
class Replay:
    """The replay of one group.

    Attributes:
        life: number of the group's present (or next) life.
        transitions: the changes of state, each with its life.
        born_at: when the group last came into being.
        died_at: when it was last deleted; `ended_life` is the life that ended, `end_witnesses` its witnesses.
        last_record: the group's last record, which is all that a new coordinator would know of it.
        stored: member sets that records or the machine showed for each generation when it was Stable.
        leave_reasons: reasons that leavers gave, by member id.
        heard_from: when the request log begins; before, nobody is seen to send heartbeats, and silence means nothing.
        has_other_evidence: a record or line speaks for the group, so that an answer need not.
    """

    machine: Machine
    brokers: Brokers
    timeline: Timeline = field(default_factory=Timeline)
    audit: Audit = field(default_factory=Audit)
    transitions: list[tuple[int, Moved]] = field(default_factory=list)
    life: int = 1
    born_at: float = 0.0
    died_at: float | None = None
    ended_life: int = 0
    end_witnesses: set[str] = field(default_factory=set)
    stored: dict[tuple[int, int], list[frozenset[str]]] = field(default_factory=dict)
    leave_reasons: dict[str, str] = field(default_factory=dict)
    last_leaver: str | None = None
    last_record: Row | None = None
    heard_from: float = inf
    has_other_evidence: bool = False
    assigning: dict[int, Exchange] = field(default_factory=dict)

    # --- the walk ----------------------------------------------------------------------------------------------

    def run(self, items: list[Item]) -> None:
        """Walk the evidence, which is in order. Timers due after the last of it do not run out: nobody saw them."""
        waiting = _Queue(items)
        while waiting:
            if self._let_timer_run_out(waiting.next_at):
                continue
            item = waiting.pop()
            if item.holds < MOST_HOLDS and comes_too_early(self, item):
                waiting.put_off(item)
            else:
                self._take(item)

    def _let_timer_run_out(self, before: float) -> bool:
        """Let the next timer run out if it is due."""
        timer = self.machine.next_timer() if self.hears_at(before) else None
        if timer is None:
            return False
        due, key = timer
        if due < self.heard_from:
            self._start_listening()
            return True
        if due + (JOIN_TIMER_LAG_MS if key[0] == "join" else MEMBER_TIMER_LAG_MS) > before:
            return False
        self.step(due, partial(self.machine.fire, key))
        return True

    def hears_at(self, at: float) -> bool:
        """Whether the request log covers a moment."""
        return at >= self.heard_from

    def _start_listening(self) -> None:
        """The request log begins: every session starts afresh, what should have happened before has."""
        group = self.machine.group
        group.timers = {
            ("member", member.member_id): Timer(self.heard_from + member.session_timeout_ms)
            for member in group.members.values()
        }

    def _take(self, item: Item) -> None:
        if item.kind is Kind.RECORD and item.row is not None:
            row = item.row
            self.step(row["recorded_at"], partial(records.take, self, row))
        elif item.kind is Kind.LINE and item.row is not None:
            row = item.row
            self.step(row["logged_at"], partial(lines.take, self, row))
        elif item.kind is Kind.ANSWER and item.exchange is not None:
            exchange = item.exchange
            self.step(exchange.answered_at, partial(exchanges.learn_from_answer, self, exchange))
        elif item.exchange is not None:
            exchanges.take(self, item.exchange, item.holds > 0)

    def step(self, at: float, act: Callable[[], object]) -> None:
        """Do something that may change the group, and take note of all that comes of it."""
        before = view(self.machine.present)
        act()
        self.take_note(at, before)

    def take_note(self, at: float, before: Group | None) -> None:
        """Take note of what the machine did; `before` is the group as it was, for races to be seen."""
        outputs = self.machine.drain()
        if any(not isinstance(output, Answered) for output in outputs):
            self.audit.left_state(at, before, self.machine)
        for output in outputs:
            self._note(output)

    def _note(self, output: Answered | Moved | Joined | Gone) -> None:
        if isinstance(output, Answered):
            self.audit.answered(output.token, output.error, output.generation, self.machine)
        elif isinstance(output, Moved):
            self._note_move(output)
        elif isinstance(output, Joined):
            observe.joined(self.timeline, self.life, output)
            group = self.machine.present
            if output.replaces is not None and group is not None and group.state is GroupState.STABLE:
                row = self.timeline.generation(self.life, group.generation)
                observe.replaced_in_generation(row, output)
                self.stored.setdefault((self.life, group.generation), []).append(frozenset(group.members))
        else:
            observe.gone(self.timeline, self.life, output, self.leave_reasons)

    def _note_move(self, move: Moved) -> None:
        if move.from_state is GroupState.DEAD:
            return
        self.transitions.append((self.life, move))
        if move.to_state is GroupState.DEAD:
            if move.event is not Event.GROUP_UNLOADED:
                self._end_life(move.at, move.cause.source)
            return
        group = self.machine.present
        observe.moved(self.timeline, self.life, move, group, self.leave_reasons)
        if move.to_state is GroupState.STABLE and group is not None and group.state is move.to_state:
            self.stored.setdefault((self.life, move.generation), []).append(frozenset(group.members))
            leader_sync = self.assigning.pop(move.cause.request.token, None) if move.cause.request else None
            if leader_sync is not None:
                row = self.timeline.generation(self.life, move.generation)
                observe.assignment_sent(
                    row, leader_sync.request.assignments, leader_sync.row["protocol_type"] or group.protocol_type
                )

    # --- lives -------------------------------------------------------------------------------------------------

    def _end_life(self, at: float, source: str) -> None:
        """The group was deleted; the id may come back, in its next life."""
        self.died_at, self.ended_life, self.end_witnesses = at, self.life, {source}
        if self.has_lived:
            self.timeline.end_of_life(self.life).learn(source, ended_at=at)
            self.life += 1

    def is_deletion_known(self, at: float, source: str) -> bool:
        """Whether a deletion that a source shows is the one that another source has shown already.

        Request, line and tombstone are three witnesses of one deletion, a few ms apart; the best of them dates it.
        """
        if self.died_at is None or source in self.end_witnesses or abs(at - self.died_at) > ONE_DELETION_MS:
            return False
        self.end_witnesses.add(source)
        if self.ended_life in self.timeline.life_ends:
            self.timeline.end_of_life(self.ended_life).learn(source, ended_at=at)
        return True

    @property
    def has_lived(self) -> bool:
        """Whether the present life has a generation; the id of a group that only has offsets does not count."""
        return any(life == self.life for life, _ in self.timeline.generations)

    @property
    def is_known(self) -> bool:
        """Whether the members of the group are known, or that there is none."""
        group = self.machine.present
        return group.is_known if group is not None else self.brokers.begins_empty or self.died_at is not None

    def begin_life(self, at: float, source: str) -> None:
        """The generations began anew without a deletion: a failover lost the last of them."""
        if self.has_lived:
            self.timeline.end_of_life(self.life).learn(source, ended_at=at)
            self.life += 1

    # --- for the other kinds of evidence -----------------------------------------------------------------------

    def life_of(self, generation: int) -> int:
        """Return the life in which a generation that was just told of lies: this one, or one that just ended."""
        if (self.life, generation) in self.timeline.generations or self.life == 1:
            return self.life
        if (self.life - 1, generation) in self.timeline.generations and not self.has_lived:
            return self.life - 1
        return self.life

    def end_join(self, at: float, source: str) -> None:
        """Something shows that the join phase is over."""
        group = self.machine.group
        for member in list(group.members.values()):
            timer = group.timers.get(("member", member.member_id))
            is_out = member.parked_join is None and timer is not None and timer.due <= at + EXPIRY_SLACK_MS
            if is_out and group.state is GroupState.PREPARING and len(group.members) > 1:
                self.machine.remove(
                    member.member_id, Cause(at, source="timer"), "session_expired", Error.UNKNOWN_MEMBER_ID
                )
        self.machine.complete_join(Cause(at, source=source))

    def forget_parked(self) -> None:
        """The state was set: whoever was parked in the machine's own state gets no prediction."""
        parked = set()
        if self.machine.present is not None:
            for member in self.machine.present.members.values():
                parked |= {member.parked_join, member.parked_sync}
        for token, verdict in self.audit.verdicts.items():
            if verdict.predicted_error is None and verdict.why is None and token not in parked:
                verdict.why = WHY_RESYNC


class _Queue:
    """Evidence in its order, and beside it the little that was put off."""

    def __init__(self, items: list[Item]) -> None:
        self._items = items
        self._position = 0
        self._held: list[tuple[tuple[Any, ...], int, Item]] = []
        self._count = 0

    def __bool__(self) -> bool:
        return self._position < len(self._items) or bool(self._held)

    @property
    def _is_held_next(self) -> bool:
        if not self._held:
            return False
        return self._position >= len(self._items) or self._held[0][0] < self._items[self._position].rank

    @property
    def next_at(self) -> float:
        """Moment of the next piece of evidence."""
        return self._held[0][2].at if self._is_held_next else self._items[self._position].at

    def pop(self) -> Item:
        """Take the next piece of evidence."""
        if self._is_held_next:
            return heapq.heappop(self._held)[2]
        self._position += 1
        return self._items[self._position - 1]

    def put_off(self, item: Item) -> None:
        """Put a piece of evidence off for a moment."""
        item.at += HOLD_MS
        item.holds += 1
        self._count += 1
        heapq.heappush(self._held, (item.rank, self._count, item))
