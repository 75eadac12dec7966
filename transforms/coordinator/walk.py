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

from transforms.coordinator import lines, observe, records
from transforms.coordinator.answers import Error
from transforms.coordinator.audit import (
    WHY_BROKER,
    WHY_HELD,
    WHY_NOT_COORDINATOR,
    WHY_OWN_ANSWER,
    WHY_RESYNC,
    WHY_UNKNOWN,
    Audit,
    Verdict,
    view,
)
from transforms.coordinator.brokers import Brokers
from transforms.coordinator.effects import JOIN_TIMER
from transforms.coordinator.events import REFUSALS, Answered, Cause, Event, Gone, Joined, Moved
from transforms.coordinator.evidence import Exchange, Item, Kind, Row
from transforms.coordinator.facts import Timeline
from transforms.coordinator.machine import Machine
from transforms.coordinator.resync import bring_to, members_of
from transforms.coordinator.states import GroupState

HOLD_MS = 5.0
MOST_HOLDS = 10

MEMBER_TIMER_LAG_MS = 1.0
JOIN_TIMER_LAG_MS = 3.0
"""How late a timer of the machine runs out, so that what shows its end comes first."""

EXPIRY_SLACK_MS = 50.0
"""At the end of a join phase, members whose session ends this soon ended by it, and not for not rejoining."""

TRIGGERS_OF_TIMERS = frozenset({"session_expired", "sync_timeout", "group_over_capacity", "assignment_store_failed"})
"""Rebalances that no request causes."""

BROKER_REFUSALS = frozenset({24, 29, 30, 35, 42, 100})
"""Errors that a broker answers without asking the coordinator (invalid, not authorized, unsupported)."""


@dataclass(slots=True)
class Replay:
    """The replay of one group.

    Attributes:
        life: number of the group's present (or next) life.
        transitions: the changes of state, each with its life.
        stored: member sets that records or the machine showed for each generation when it was Stable.
        leave_reasons: reasons that leavers gave, by member id.
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
    stored: dict[tuple[int, int], list[frozenset[str]]] = field(default_factory=dict)
    leave_reasons: dict[str, str] = field(default_factory=dict)
    last_leaver: str | None = None
    has_requests: bool = False
    has_other_evidence: bool = False
    assigning: dict[int, Exchange] = field(default_factory=dict)

    # --- the walk ----------------------------------------------------------------------------------------------

    def run(self, items: list[Item]) -> None:
        """Walk the evidence. Timers due after the last of it do not run out: nobody saw them."""
        heapq.heapify(items)
        while items:
            timer = self.machine.next_timer()
            if timer is not None:
                due, key = timer
                lag = JOIN_TIMER_LAG_MS if key[0] == "join" else MEMBER_TIMER_LAG_MS
                if due + lag <= items[0].at:
                    self._step(due, lambda key=key: self.machine.fire(key))
                    continue
            item = heapq.heappop(items)
            if item.holds < MOST_HOLDS and self._comes_too_early(item):
                item.at += HOLD_MS
                item.holds += 1
                heapq.heappush(items, item)
                continue
            self._take(item)

    def _take(self, item: Item) -> None:
        if item.kind is Kind.RECORD and item.row is not None:
            row = item.row
            self._step(row["recorded_at"], lambda: records.take(self, row))
        elif item.kind is Kind.LINE and item.row is not None:
            row = item.row
            self._step(row["logged_at"], lambda: lines.take(self, row))
        elif item.kind is Kind.ANSWER and item.exchange is not None:
            exchange = item.exchange
            self._step(exchange.answered_at, lambda: self._learn_from_answer(exchange))
        elif item.exchange is not None:
            self._request(item.exchange, item)

    def _step(self, at: float, act: Callable[[], object]) -> None:
        """Do something to the machine, and take note of all that came of it."""
        before = view(self.machine.present)
        act()
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
            self._end_life(move.at, move.cause.source)
            return
        group = self.machine.present
        observe.moved(self.timeline, self.life, move, group, self.leave_reasons)
        if move.to_state is GroupState.STABLE and group is not None and group.state is GroupState.STABLE:
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
        if self.has_lived:
            self.timeline.end_of_life(self.life).learn(source, ended_at=at)
            self.life += 1
        self.died_at = at

    @property
    def has_lived(self) -> bool:
        """Whether the present life has a generation; the id of a group that only has offsets does not count."""
        return any(life == self.life for life, _ in self.timeline.generations)

    def begin_life(self, at: float, source: str) -> None:
        """The generations began anew without a deletion: a failover lost the last of them."""
        if self.has_lived:
            self.timeline.end_of_life(self.life).learn(source, ended_at=at)
            self.life += 1

    # --- order -------------------------------------------------------------------------------------------------

    def _comes_too_early(self, item: Item) -> bool:
        """Whether what this piece of evidence shows cannot have happened yet."""
        group = self.machine.present
        if group is None or not group.is_known:
            return False
        if item.kind is Kind.REQUEST and item.exchange is not None:
            return self._request_comes_too_early(item.exchange)
        if item.kind is Kind.LINE and item.row is not None and item.row["event"] == "preparing_rebalance":
            return self._line_comes_too_early(item.row)
        if item.kind is Kind.LINE and item.row is not None and item.row["event"] == "group_empty":
            return self.has_requests and group.generation < item.row["generation"] and not group.all_joined
        if group.state is not GroupState.PREPARING:
            return False
        if item.kind is Kind.ANSWER and item.exchange is not None and item.exchange.request.api == "JoinGroup":
            told = item.exchange.row["answered_members"]
            ends = item.exchange.observed_generation == group.generation + 1
            return ends and not self._can_complete(item.at, len(told) if told else None)
        if item.kind is Kind.LINE and item.row is not None and item.row["event"] == "stabilized":
            return item.row["generation"] == group.generation + 1 and not self._can_complete(
                item.at, item.row["member_count"]
            )
        return False

    def _request_comes_too_early(self, exchange: Exchange) -> bool:
        group, request = self.machine.group, exchange.request
        if group.state is GroupState.PREPARING and request.generation == group.generation + 1:
            return True
        waited = exchange.parked_ms > 0 and exchange.observed_generation == group.generation + 1
        if request.api == "JoinGroup" and waited and group.state is not GroupState.PREPARING:
            return self.machine.foresee(request) == Error.NONE
        return False

    def _line_comes_too_early(self, line: Row) -> bool:
        """Whether a rebalance is told of whose request, which the request log has, was not handled yet."""
        group = self.machine.group
        begun = group.generation > line["generation"] or group.state is GroupState.PREPARING
        trigger = (line["attributes"] or {}).get("trigger")
        return self.has_requests and not begun and trigger not in TRIGGERS_OF_TIMERS

    def _can_complete(self, at: float, member_count: int | None) -> bool:
        """Whether the join phase can be over: everybody has joined, or its time is up.

        If neither, somebody's join, leave or expiry of the same moment has not been handled yet.
        """
        group = self.machine.group
        timer = group.timers.get(JOIN_TIMER)
        if timer is not None and timer.due <= at + JOIN_TIMER_LAG_MS:
            return True
        if member_count is not None and group.awaiting_join < member_count:
            return False
        return all(member.parked_join is not None for member in group.members.values())

    # --- requests ----------------------------------------------------------------------------------------------

    def _request(self, exchange: Exchange, item: Item) -> None:
        request, group = exchange.request, self.machine.present
        verdict = Verdict(exchange, None if group is None else group.state)
        self.audit.verdicts[request.token] = verdict
        refusal = self.brokers.refusal(exchange.row["broker"], exchange.handled_at)
        if exchange.observed_error in REFUSALS and exchange.observed_error != Error.COORDINATOR_NOT_AVAILABLE:
            verdict.predicted_error = refusal
            verdict.why = WHY_NOT_COORDINATOR if refusal is None else None
            return
        if exchange.observed_error in BROKER_REFUSALS:
            verdict.why = WHY_BROKER
            return
        if request.api == "LeaveGroup":
            for leaver in request.leavers:
                if leaver.reason:
                    self.leave_reasons[leaver.member_id] = leaver.reason
        if not self._is_predictable(exchange):
            verdict.why = WHY_UNKNOWN
            self._learn_unpredicted(exchange)
            return
        if item.holds and request.api == "JoinGroup":
            verdict.why = WHY_HELD
        if request.api == "SyncGroup":
            self.assigning[request.token] = exchange
        was_absent = group is None
        self._step(exchange.handled_at, lambda: self.machine.handle(request, exchange.handled_at))
        if was_absent and self.machine.present is not None:
            self.born_at = exchange.handled_at

    def _is_predictable(self, exchange: Exchange) -> bool:
        group = self.machine.present
        if group is not None:
            return group.is_known
        return self.brokers.begins_empty or self.died_at is not None or not exchange.request.member_id

    def _learn_unpredicted(self, exchange: Exchange) -> None:
        """A group whose members are not known learns nothing from a request but that somebody spoke."""
        if exchange.request.api == "LeaveGroup" and exchange.observed_error == Error.NONE:
            group = self.machine.present
            for leaver in exchange.request.leavers:
                if group is not None and leaver.member_id in group.members:
                    cause = Cause(exchange.handled_at, None, (leaver.member_id,))
                    self._step(exchange.handled_at, lambda cause=cause: self.machine.apply(Event.MEMBERS_LEFT, cause))

    def _learn_from_answer(self, exchange: Exchange) -> None:
        if exchange.request.api == "JoinGroup":
            self._join_answered(exchange)
        else:
            self._sync_answered(exchange)

    def _join_answered(self, exchange: Exchange) -> None:
        generation = exchange.observed_generation
        if generation is None:
            return
        group = self.machine.present
        if group is not None and group.state is GroupState.PREPARING and group.generation + 1 == generation:
            self._mark_own_answer(exchange)
            self.end_join(exchange.answered_at, "answer")
        elif not self.has_other_evidence and exchange.row["answered_members"]:
            self._resync_to_answer(exchange, generation)
        life = self.life_of(generation)
        row = self.timeline.generation(life, generation)
        row.facts.learn("answer", joined_by=exchange.answered_at)
        if exchange.row["answered_members"]:
            observe.leader_told(row, exchange)

    def _resync_to_answer(self, exchange: Exchange, generation: int) -> None:
        """With nothing else to go by, a leader's answer shows the whole group."""
        group = self.machine.present
        if group is not None and group.is_known and group.generation >= generation:
            return
        record = {
            "protocol": exchange.row["answered_protocol"],
            "members": [
                {
                    "member_id": entry["member_id"],
                    "group_instance_id": entry["group_instance_id"],
                    "client_id": None,
                    "client_host": None,
                    "session_timeout_ms": exchange.request.session_timeout_ms,
                    "rebalance_timeout_ms": exchange.request.rebalance_timeout_ms,
                    "subscription": entry["metadata"],
                    "assignment": b"",
                }
                for entry in exchange.row["answered_members"]
            ],
        }
        cause = Cause(exchange.answered_at, source="answer")
        bring_to(self.machine, GroupState.COMPLETING, generation, cause, members_of(record))
        group = self.machine.group
        group.leader, group.protocol = exchange.row["answered_leader"], exchange.row["answered_protocol"]
        group.protocol_type = exchange.request.protocol_type
        self.forget_parked()

    def _sync_answered(self, exchange: Exchange) -> None:
        generation, group = exchange.request.generation, self.machine.present
        if group is not None and group.generation == generation and group.state is GroupState.COMPLETING:
            self._mark_own_answer(exchange)
            group.pending_syncs.pop(exchange.request.member_id, None)
            self.machine.apply(Event.ASSIGNMENT_STORED, Cause(exchange.answered_at, source="answer"))
        row = self.timeline.generation(self.life_of(generation), generation)
        observe.member_told(row, exchange)

    def _mark_own_answer(self, exchange: Exchange) -> None:
        verdict = self.audit.verdicts.get(exchange.request.token)
        if verdict is not None and verdict.predicted_error is None:
            verdict.why = WHY_OWN_ANSWER

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
