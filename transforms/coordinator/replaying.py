"""The replay of one group: its state machine, what is known beside it, and what came of it so far.

What the machine answers becomes the audit; where the group went becomes the timeline. A group has lives: its id may
come back after a deletion, or its generations begin anew after a failover.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

from transforms.coordinator import observe
from transforms.coordinator.audit import (
    WHY_RESYNC,
    Audit,
    view,
)
from transforms.coordinator.brokers import Brokers
from transforms.coordinator.effects import member_timer
from transforms.coordinator.events import Answered, Event, Gone, Joined, Moved
from transforms.coordinator.evidence import Exchange, Row
from transforms.coordinator.facts import Timeline
from transforms.coordinator.group import Group
from transforms.coordinator.machine import Machine
from transforms.coordinator.removals import Removals
from transforms.coordinator.states import GroupState

ONE_DELETION_MS = 1000.0
"""Witnesses of one deletion are no further apart than this."""


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
        pending_leavers: ids that left without having been members.
        heard_from: when the request log begins; before, nobody is seen to send heartbeats, and silence means nothing.
        has_other_evidence: a record or line speaks for the group, so that an answer need not.
        is_modern: the group speaks a newer protocol for the time being.
        homes: partitions of `__consumer_offsets` that the group lived in, one after the other.
        coordinator: broker whose group the machine replays; None = not known.
        is_absence_known: where there is no group, it is known that there is none.
        has_loaded: brokers that found the group when they last loaded its partition.
        removals: whom lines tell to have been removed by timers.
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
    pending_leavers: set[str] = field(default_factory=set)
    last_leaver: str | None = None
    last_record: Row | None = None
    heard_from: float = inf
    has_other_evidence: bool = False
    is_modern: bool = False
    homes: list[int] = field(default_factory=list)
    coordinator: str | None = None
    is_absence_known: bool = False
    has_loaded: set[str] = field(default_factory=set)
    removals: Removals = field(default_factory=Removals)
    assigning: dict[int, Exchange] = field(default_factory=dict)

    def hears_at(self, at: float) -> bool:
        """Whether the request log covers a moment."""
        return at >= self.heard_from

    def step(self, at: float, act: Callable[[], object]) -> None:
        """Do something that may change the group, and take note of all that comes of it."""
        before = view(self.machine.present)
        act()
        self.take_note(at, before)

    def take_note(
        self, at: float, before: Group | None, until: float | None = None, by: Exchange | None = None
    ) -> None:
        """Take note of what the machine did.

        Args:
            at: when.
            before: the group as it was, for races to be seen.
            until: when it was done for sure, if that is not the same.
            by: the request that was handled, if it was one.
        """
        outputs = self.machine.drain()
        for output in outputs:
            if type(output) is not Answered:
                self.audit.left_state(at, at if until is None else until, before, self.machine, by)
                break
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
            # By the time members are told that their group was deleted, its next life is being counted.
            life = self.ended_life if output.end_cause == "group_ended" else self.life
            observe.gone(self.timeline, life, output, self.leave_reasons)

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
                self._wait_for_store(move.at, leader_sync)
                row = self.timeline.generation(self.life, move.generation)
                observe.assignment_sent(
                    row, leader_sync.request.assignments, leader_sync.row["protocol_type"] or group.protocol_type
                )

    def _wait_for_store(self, at: float, leader_sync: Exchange) -> None:
        """Syncs are answered when the assignment is stored, and sessions begin afresh only then."""
        group = self.machine.group
        for member in group.members.values():
            timer = group.timers.get(member_timer(member.member_id))
            if timer is not None and timer.due == at + member.session_timeout_ms:
                self.machine.reset_session(member, max(at, leader_sync.answered_at))

    # --- lives -------------------------------------------------------------------------------------------------

    def _end_life(self, at: float, source: str) -> None:
        """The group was deleted; the id may come back, in its next life."""
        self.died_at, self.ended_life, self.end_witnesses = at, self.life, {source}
        self.is_absence_known = True
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
        return group.is_known if group is not None else self.is_absence_known

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

    def forget_parked(self) -> None:
        """The state was set: whoever was parked in the machine's own state gets no prediction."""
        parked = set()
        if self.machine.present is not None:
            for member in self.machine.present.members.values():
                parked |= {member.parked_join, member.parked_sync}
        for token, verdict in self.audit.verdicts.items():
            if verdict.predicted_error is None and verdict.why is None and token not in parked:
                verdict.why = WHY_RESYNC
