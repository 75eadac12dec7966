"""What lines witness, seen ahead of their turn: where such lines are logged, what none tells did not happen.

A session that the replay sees end may have gone on: the broker was down, or loading, or waited for its assignment to
be replicated, or its timer was late and the heartbeat in time. The broker logs each member that it removes, and the end
of each join phase. A member that is said to have got its assignment may not have: the broker logs each that comes in.
"""

from __future__ import annotations

from bisect import bisect_left
from math import inf
from typing import NamedTuple

from msgspec import Struct, field

from schemas.rows import CoordinatorEventRow
from transforms.coordinator.classic.machine.group import JOIN_TIMER, SYNC_TIMER, TimerKey, member_timer
from transforms.coordinator.evidence.tolerances import (
    HOLD_MS,
    LOOK_AHEAD_MS,
    MOST_HOLDS,
    REMOVAL_SLACK_MS,
    SAME_MOMENT_MS,
)
from transforms.coordinator.kafka.states import COMPLETING, PREPARING, STABLE, GroupState

ROUNDS = frozenset({"preparing_rebalance", "stabilized", "group_empty"})
"""Lines of the same level as those about removals: where they are logged, so are these."""

_ENDS_OF_JOINS = frozenset({"stabilized", "group_empty", "rebalance_extended", "members_not_rejoined"})

_TOLD = {"preparing_rebalance": "preparations", "stabilized": "completions", "assignment_received": "assigned"}

_MEMORY_MS = 10 * LOOK_AHEAD_MS


class RoundTold(NamedTuple):
    """What a line tells of a round: of which generation, when it was logged, and how many members it names, if any."""

    generation: int
    at: float
    member_count: int | None


class ReplacementTold(NamedTuple):
    """What a line tells of a static member that came back: who had its instance, and who has it now, if it says so."""

    at: float
    instance_id: str
    old: str
    new: str | None


class Witnesses(Struct, array_like=True):
    """What lines of the last moments tell of a group's timers and rounds.

    Attributes:
        first: when the lines about the group's rebalances begin.
        first_assigned: when those about the leader's assignments begin.
        moments: by timer, when lines tell what it brings about, in order.
        preparations: lines that tell of the begin of a join phase, in order of time.
        completions: the same of its end.
        assigned: the same of the leader's assignment.
        replacements: lines that tell of static members that came back, in order of time.
        lacks_lines: the broker's log was found to lack some, and none was taken since: it has ended, or begins anew.
    """

    first: float = inf
    first_assigned: float = inf
    moments: dict[TimerKey, list[float]] = field(default_factory=dict)
    preparations: list[RoundTold] = field(default_factory=list)
    completions: list[RoundTold] = field(default_factory=list)
    assigned: list[RoundTold] = field(default_factory=list)
    replacements: list[ReplacementTold] = field(default_factory=list)
    lacks_lines: bool = False

    def tells_at(self, at: float) -> bool:
        """Whether the broker's log covers a moment."""
        return self.first <= at and not self.lacks_lines

    def tell_again(self, at: float) -> None:
        """Take note of a line that is taken: from it on the broker's log tells, if it did not."""
        if self.lacks_lines:
            self.lacks_lines = False
            self.first, self.first_assigned = max(self.first, at), max(self.first_assigned, at)

    def notice(self, row: CoordinatorEventRow) -> None:
        """Take a line about the group, in order of time."""
        at = row.logged_at or 0.0
        if row.event in ROUNDS:
            self.first = min(self.first, at)
        attribute = _TOLD.get(row.event)
        if attribute is not None and row.generation is not None:
            told = [each for each in getattr(self, attribute) if each.at >= at - _MEMORY_MS]
            setattr(self, attribute, [*told, RoundTold(row.generation, at, row.member_count)])
        if row.event == "assignment_received":
            self.first_assigned = min(self.first_assigned, at)
        if row.event == "static_member_replaced" and row.member_id and row.group_instance_id:
            young = [each for each in self.replacements if each.at >= at - _MEMORY_MS]
            new = (row.attributes or {}).get("new_member_id")
            self.replacements = [*young, ReplacementTold(at, row.group_instance_id, row.member_id, new)]
        timer = _timer(row)
        if timer is not None:
            self._forget(timer, at - _MEMORY_MS)
            self.moments.setdefault(timer, []).append(at)

    def _forget(self, timer: TimerKey, before: float) -> None:
        """Forget what was told before a moment: of a timer that is told of again, and where there are many of all."""
        if len(self.moments) > 8 and any(moments[-1] < before for moments in self.moments.values()):
            self.moments = {key: moments for key, moments in self.moments.items() if moments[-1] >= before}
        again = self.moments.get(timer)
        if again is not None and again[0] < before:
            del again[: bisect_left(again, before)]

    def tells_of(self, state: GroupState, generation: int, at: float) -> float | None:
        """Return the moment of the line about a change of state; None where there is none at about this time.

        A line is written when the thing is done, or just before: its moment is cut to the ms, and not late.

        Args:
            state: the state that was entered; that of Stable is told of when the assignment comes in, just before.
            generation: the generation after it.
            at: when it was entered, as far as is known.
        """
        lines = self.preparations if state is PREPARING else self.completions
        lines = self.assigned if state is STABLE else lines
        for number, told, _ in lines:
            if number == generation and abs(told - at) <= SAME_MOMENT_MS:
                return told
        return None

    def was_completed(self, generation: int, at: float) -> bool:
        """Whether a line tells that a join phase of this generation ended at a moment."""
        return self.tells_of(COMPLETING, generation, at) is not None

    def denies_completion(self, generation: int, at: float, member_count: float = inf) -> bool:
        """Whether a line would tell that a join phase ended just before a moment or soon after, and none does.

        Nor does one that tells of more members than had joined by then.
        """
        return self.tells_at(at) and not any(
            number == generation and _is_near(completed, at) and (count or 0) <= member_count
            for number, completed, count in self.completions
        )

    def member_count(self, generation: int, at: float) -> int | None:
        """Return how many members a line about the end of a join phase counts, at a moment; None = no line does."""
        told = (
            count for number, completed, count in self.completions if number == generation and _is_near(completed, at)
        )
        return next(told, None)

    def failed_within(self, member_id: str, begin: float, end: float) -> bool:
        """Whether a line tells that a member's session ended while a request of it was under way."""
        return any(begin <= at <= end for at in self.moments.get(member_timer(member_id), ()))

    def replaced_by(self, instance_id: str, member_id: str, at: float) -> str | None:
        """Return whom a static member took the place of at a moment, by the lines; None where they do not tell.

        The Java coordinator's say whose place is taken, and not by whom: it is who is replaced next, or the last.
        """
        told = [each for each in self.replacements if each.instance_id == instance_id]
        told = [each for each in told if abs(each.at - at) <= SAME_MOMENT_MS]
        for place, line in enumerate(told):
            following = told[place + 1].old if place + 1 < len(told) else None
            if member_id == (line.new or following):
                return line.old
        is_last = bool(told) and told[-1].new is None and all(each.old != member_id for each in told)
        return told[-1].old if is_last else None

    def denies_assignment(self, generation: int, at: float) -> bool:
        """Whether a line would tell that the leader's assignment for a generation came in, and none of these does."""
        is_told = self.first_assigned <= at and not self.lacks_lines
        return is_told and all(number != generation for number, _, _ in self.assigned)

    def moment(self, timer: TimerKey, due: float) -> float | None:
        """Return when a timer ran out: when it was due, or by its line if that is much later; None if it did not.

        Where no line would tell it did.
        """
        moments = self.moments.get(timer, ())
        index = bisect_left(moments, due - REMOVAL_SLACK_MS)
        if index < len(moments) and moments[index] <= due + REMOVAL_SLACK_MS:
            return moments[index] if moments[index] > due + SAME_MOMENT_MS else due
        return None if self.tells_at(due) else due


def _is_near(told: float, at: float) -> bool:
    """Whether a line is of the same moment as what happened, which may be held for as long."""
    return abs(at - told) <= MOST_HOLDS * HOLD_MS


def _timer(row: CoordinatorEventRow) -> TimerKey | None:
    if row.event in ("member_failed", "pending_member_expired"):
        return member_timer(row.member_id or "")
    if row.event in _ENDS_OF_JOINS:
        return JOIN_TIMER
    if row.event == "preparing_rebalance" and (row.attributes or {}).get("trigger") == "sync_timeout":
        return SYNC_TIMER
    return None
