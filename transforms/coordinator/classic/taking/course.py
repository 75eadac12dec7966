"""The replay of a classic group under way: its state, and the rows that have come of it so far.

Whatever is done to the group is done through `let`: it takes note of all that the machine says of it, in one place.
What the machine answers becomes the audit; where the group went becomes the timeline.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from schemas.rows import CoordinatorEventRow, TransitionRow
from transforms.coordinator.classic.machine.events import Answered, Event, Gone, Joined, Moved, Output
from transforms.coordinator.classic.machine.foresight import foresee
from transforms.coordinator.classic.machine.group import Group, Timer, member_timer, view
from transforms.coordinator.classic.taking import observe
from transforms.coordinator.classic.taking.joiners import named_in
from transforms.coordinator.classic.taking.rejoins import is_unprinted
from transforms.coordinator.classic.taking.state import ClassicState
from transforms.coordinator.evidence.exchanges import Exchange, exchange_of
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.evidence.sources import EVIDENCE_OF, TIMER
from transforms.coordinator.evidence.tolerances import LINE_DELAY_MS, SETTLING_MS
from transforms.coordinator.kafka.states import COMPLETING, DEAD, NAMES, STABLE
from transforms.coordinator.rows.counts import say_verdict
from transforms.coordinator.rows.tables import Sink, whole
from transforms.coordinator.shared import Shared
from transforms.coordinator.timeline.audit import Verdict
from transforms.coordinator.timeline.lives import Life


class Course:
    """A classic group's replay under way.

    Attributes:
        cluster: name of the cluster.
        state: the group as a classic one; `machine`, `audit`, `presence`, `departures`, `witnesses` and `counts` are
            its parts.
        lives: the group's lives, of whatever protocol.
        brokers: what is known of the brokers; `ownership` of who coordinates the group's partition.
        sink: where the rows go.
        is_told: they are told; those of a group that never was a classic one are not.
    """

    def __init__(self, shared: Shared, state: ClassicState, sink: Sink) -> None:
        self.cluster = shared.cluster
        self.state = state
        self.machine = state.machine
        self.audit = state.audit
        self.presence = state.presence
        self.departures = state.departures
        self.counts = state.counts
        self.witnesses = state.witnesses
        self.lives = shared.lives
        self.brokers = shared.brokers
        self.ownership = shared.ownership
        self.sink = sink
        self.is_told = True
        self._before: Group | None = None
        self._at = self._until = 0.0
        self._by: Exchange | None = None
        self._exchanged: tuple[Item, Exchange, bool] | None = None

    @property
    def life(self) -> Life:
        """The present life."""
        return self.lives.by_number[self.lives.number]

    @property
    def is_known(self) -> bool:
        """Whether the members of the group are known, or that there is none."""
        group = self.machine.present
        return group.is_known if group is not None else self.presence.is_absence_known

    def is_elsewhere(self, broker: str) -> bool:
        """Whether the group is another broker's by now, though this one may have a copy of it still."""
        return self.presence.coordinator not in (None, broker) and broker in self.ownership.changes

    # --- the one way to do something to the group ---------------------------------------------------------------

    def let(self, at: float, act: Callable[[], object], until: float | None = None, by: Exchange | None = None) -> None:
        """Do something that may change the group, and take note of all that comes of it.

        Args:
            at: when.
            act: what is done.
            until: when it was done for sure, if that is not the same.
            by: the request that is handled, if it is one.
        """
        self._at, self._until, self._by = at, at if until is None else until, by
        self._before = view(self.machine.present)
        act()
        self.note()
        self._before = self._by = None

    def note(self) -> None:
        """Take note of what the machine has said so far; for whoever must know, in the middle of what is done."""
        outbox = self.machine.outbox
        if not outbox:
            return
        self.machine.outbox = []
        if len(outbox) > 1 or type(outbox[0]) is not Answered:
            self._note_change(outbox)
        for output in outbox:
            _NOTES[type(output)](self, output)

    def _note_change(self, outputs: list[Output]) -> None:
        moves = [output for output in outputs if type(output) is Moved]
        if not moves and all(type(output) is Answered for output in outputs):
            return
        self.lives.settle_by(self._at + SETTLING_MS)
        at, until = self._at, self._until
        if moves:
            at, until = self._entered_at(moves[-1], at), self._left_by(moves[0], until)
        self.audit.left_state(at, until, self._before, self.machine.present, self.answer_of, self._by)

    def _entered_at(self, move: Moved, at: float) -> float:
        """When a state was entered at the earliest: in the millisecond of its line."""
        line = self.witnesses.tells_of(move.to_state, move.generation, at)
        if line is None:
            return at
        return max(at, line) if move.to_state is STABLE else line  # that waits for the log

    def _left_by(self, move: Moved, until: float) -> float:
        """When a state was left at the latest: in the millisecond of the line about the next."""
        line = self.witnesses.tells_of(move.to_state, move.generation, until)
        is_done = line is not None and move.to_state is not STABLE  # that waits for the log
        return min(until, line + 2 * LINE_DELAY_MS) if is_done and line is not None else until

    def answer_of(self, group: Group | None, exchange: Exchange) -> int | None:
        """Return what a group in a state answers.

        None for a state that had not reached the request's generation: somebody had been told of that generation. But
        where the generation is not looked at, as in CompletingRebalance before 2.4, it may be any. None too where the
        request would have to wait, for what it waits for may come or not.
        """
        if group is None:
            return None
        is_looked_at = group.state is not COMPLETING or not self.machine.settings.rules.commits_await_sync
        if is_looked_at and group.generation < exchange.request.generation:
            return None
        return foresee(group, exchange.request, self.machine.settings)

    def exchange_of(self, item: Item) -> Exchange:
        """Return a request's exchange, with what lines tell of it.

        A join is looked at twice, as to whether it comes too early and when it is taken, so the last is kept.
        """
        if self._exchanged is None or self._exchanged[0] is not item:
            exchange = exchange_of(item)
            self._exchanged = (item, exchange, is_unprinted(exchange.row))
        _, exchange, is_told_by_lines = self._exchanged
        return self._as_told(exchange) if is_told_by_lines else exchange

    def _as_told(self, exchange: Exchange) -> Exchange:
        """Return a rejoin with what lines tell of it, where the request log does not print what it brought."""
        if not self.witnesses.tells_at(exchange.answered_at):
            return exchange
        is_changed = exchange.request.token in self.state.rejoins.changed
        return replace(exchange, request=replace(exchange.request, is_changed=is_changed))

    def forget_parked(self) -> None:
        """The state was set: whoever was parked in the machine's own state gets no prediction."""
        group = self.machine.present
        self.audit.forget_parked(set() if group is None else group.parked)

    def attend(self, broker: str) -> None:
        """Turn to a broker that handles the group: from here on its settings hold."""
        self.presence.attended = broker
        settings = self.brokers.of(broker)
        if settings is not self.machine.settings:
            self.machine.settings = settings
            if self.machine.present is not None:
                self.machine.present.map_kind = settings.map_kind

    def name_made_up(self, line: CoordinatorEventRow) -> None:
        """Give members that go by an id of ours their own, where a line names one that can only be theirs."""
        group, known = self.machine.present, self.state.joiners.made_up
        if not known or group is None:
            return
        known.intersection_update(group.members)
        for member_id in named_in(line):
            fitting = [each for each in map(group.members.__getitem__, known) if each.could_be(member_id)]
            if len(fitting) == 1 and member_id not in self.taken_ids():
                self._rename(group, fitting[0].member_id, member_id)

    def _rename(self, group: Group, old_id: str, new_id: str) -> None:
        group.rename(old_id, new_id)
        self.state.joiners.made_up.discard(old_id)
        session = self.life.sessions.pop(old_id, None)
        if session is not None:
            session.member_id = new_id
            self.life.sessions[new_id] = session

    def taken_ids(self) -> set[str]:
        """Return the ids that somebody in the group goes by, or went by not long ago."""
        group = self.machine.present
        ids = {*self.life.sessions, *self.state.joiners.given}
        return ids if group is None else ids | {*group.members, *group.pending_joins}

    # --- what the machine says ----------------------------------------------------------------------------------

    def _note_answer(self, output: Answered) -> None:
        verdict = self.audit.answered(output.token, output.error, output.generation, self.answer_of)
        if verdict is not None:
            self.say_audited(verdict)

    def _note_joined(self, output: Joined) -> None:
        observe.joined(self.lives, output)
        group = self.machine.present
        is_begun = group is not None and group.state in (COMPLETING, STABLE)
        if output.replaces is not None and group is not None and is_begun:
            row = self.life.generation(group.generation)
            observe.replaced_in_generation(row, output, group)
            if group.state is STABLE:
                row.was_stable_with(frozenset(group.members))
        self._link(output.member_id)

    def _link(self, member_id: str) -> None:
        session = self.life.sessions[member_id]
        if not session.is_linked and session.identity is not None:
            self.lives.link(session, session.identity)

    def _note_gone(self, output: Gone) -> None:
        life = self.life
        if output.end_cause == "group_ended":
            # By the time members are told that their group was deleted, its next life is being counted.
            life = self.lives.by_number.get(self.lives.ended_number, life)
        observe.gone(life, output, self.departures.reason(output.member_id))

    def _note_move(self, move: Moved) -> None:
        if move.from_state is DEAD:
            return
        self._say_moved(move)
        if move.to_state is DEAD:
            if move.event is not Event.GROUP_UNLOADED:
                self.presence.is_absence_known = True
                self.lives.deleted(move.at, move.cause.source)
            return
        group = self.machine.present
        request = move.cause.request
        reason = (request.reason if request else None) or self.departures.reason(move.cause.member_id)
        observe.moved(self.life, move, group, reason)
        if move.to_state is STABLE and group is not None and group.state is STABLE:
            row = self.life.generation(move.generation)
            row.was_stable_with(frozenset(group.members))
            if self._by is not None and request is not None and request.token == self._by.request.token:
                self._wait_for_store(move.at, self._by)
                protocol_type = self._by.row.protocol_type or group.protocol_type
                observe.assignment_sent(row, self._by.row.assignments or (), protocol_type)

    def _wait_for_store(self, at: float, leader_sync: Exchange) -> None:
        """Syncs are answered when the assignment is stored, and sessions begin afresh only then."""
        group, stored_at = self.machine.group, max(at, leader_sync.answered_at)
        for member in group.members.values():
            key = member_timer(member.member_id)
            timer = group.timers.get(key)
            if timer is not None and timer.due == at + member.session_timeout_ms:
                group.timers.start(key, Timer(stored_at + member.session_timeout_ms))

    def say_audited(self, verdict: Verdict) -> None:
        """Tell of an audited request, and count it."""
        if self.is_told:
            say_verdict(self.counts, self.sink, verdict, self.cluster)

    def _say_moved(self, move: Moved) -> None:
        life = self.life
        life.moves += 1
        # Evidence of two kinds can date one step a few ms after the next; what comes later is not earlier.
        life.moved_at = max(life.moved_at, move.at)
        source = move.cause.source
        self.sink.rows.transitions.append(
            self.sink.stamped(
                TransitionRow(
                    cluster=self.cluster,
                    group_id=self.machine.group_id,
                    life=life.number,
                    seq=life.moves,
                    at=whole(life.moved_at),
                    from_state=NAMES[move.from_state],
                    to_state=NAMES[move.to_state],
                    event=move.event.value,
                    generation=move.generation,
                    member_id=move.cause.member_id or None,
                    source="timer" if source is TIMER else EVIDENCE_OF[source],
                    is_inferred=move.cause.is_inferred,
                )
            )
        )


_NOTES: dict[type[Output], Callable[[Course, Any], None]] = {
    Answered: Course._note_answer,
    Moved: Course._note_move,
    Joined: Course._note_joined,
    Gone: Course._note_gone,
}
