"""The audit: does the replayed state machine answer as the broker did?"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from transforms.coordinator.admission import admit
from transforms.coordinator.answers import Error
from transforms.coordinator.evidence import Exchange
from transforms.coordinator.group import Group
from transforms.coordinator.machine import Machine
from transforms.coordinator.settings import CoordinatorSettings
from transforms.coordinator.states import GroupState
from transforms.coordinator.transitions import TRANSITIONS

RACE_WINDOW_MS = 1.0
"""Two things this close together may have happened in either order."""

RACING_APIS = frozenset({"Heartbeat", "OffsetCommit", "SyncGroup"})
"""Requests whose answer is a function of the state alone, so that it can be asked of the state before and after."""

REFUSALS_OF_JOIN = frozenset(
    {
        Error.GROUP_MAX_SIZE_REACHED,
        Error.UNKNOWN_MEMBER_ID,
        Error.INCONSISTENT_GROUP_PROTOCOL,
        Error.FENCED_INSTANCE_ID,
    }
)
"""Answers to a JoinGroup that depend on who is in the group."""

WHY_RACE = "race"
WHY_OWN_ANSWER = "own answer ended the wait"
WHY_HELD = "held for the rebalance that its answer shows"
WHY_UNKNOWN = "state not known yet"
WHY_NOT_COORDINATOR = "not the coordinator, and no line shows when"
WHY_OTHER_COPY = "answered by a broker while another coordinates the group already"
WHY_MODERN = "the group speaks a newer protocol"
WHY_BROKER = "refused by the broker before the coordinator"
WHY_NEVER = "still parked when the evidence ends"
WHY_SETTING = "own answer shows the broker's setting"
WHY_RESYNC = "parked when the state was taken from the evidence"


@dataclass(slots=True)
class Verdict:
    """One audited request.

    Attributes:
        state_before: state of the replayed group when the request was handled; None if there was no group.
        is_predicted: the machine gave an answer of its own.
    """

    exchange: Exchange
    state_before: GroupState | None
    predicted_error: int | None = None
    predicted_generation: int | None = None
    why: str | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether error and generation are the broker's; None where nothing was predicted."""
        if self.predicted_error is None:
            return None
        exchange = self.exchange
        if self.predicted_error != exchange.observed_error:
            return False
        if exchange.observed_generation is None:
            return True
        return self.predicted_generation == exchange.observed_generation

    def row(self) -> dict[str, Any]:
        """Row of `gold.replay_audit`, without cluster and group."""
        exchange, row, agrees = self.exchange, self.exchange.row, self.agrees
        return {
            "source_file": row["source_file"],
            "line_number": row["line_number"],
            "seq": row["seq"],
            "at": exchange.answered_at,
            "handled_at": exchange.handled_at,
            "broker": row["broker"],
            "api": exchange.request.api,
            "member_id": exchange.request.member_id,
            "state_before": None if self.state_before is None else self.state_before.value,
            "observed_error": exchange.observed_error,
            "predicted_error": self.predicted_error,
            "observed_generation": exchange.observed_generation,
            "predicted_generation": self.predicted_generation,
            "agrees": agrees,
            "why": self.why if self.why or agrees else self._why_not(),
        }

    def _why_not(self) -> str:
        if self.predicted_error is None:
            return WHY_NEVER
        where = "no group" if self.state_before is None else self.state_before.value
        if self.predicted_error != self.exchange.observed_error:
            return f"in {where} the state machine answers {self.predicted_error}"
        return f"in {where} the state machine is at generation {self.predicted_generation}"


def foresee(group: Group | None, exchange: Exchange, settings: CoordinatorSettings) -> int:
    """Return the error that a group in this state answers a request with, in the end."""
    verdict = admit(group, exchange.request, settings)
    if isinstance(verdict, Error):
        return verdict
    cell = TRANSITIONS.get((group.state if group is not None else GroupState.EMPTY, verdict))
    return Error.NONE if cell is None or cell.answer is None else cell.answer


@dataclass(slots=True)
class Audit:
    """Collects verdicts, and settles those that lie within reach of a race.

    Attributes:
        verdicts: by token.
        past: states that the group left a moment ago, each with the time by which it was left, and by which request.
        open_races: disagreements that a state to come may still explain.
    """

    verdicts: dict[int, Verdict] = field(default_factory=dict)
    past: deque[tuple[float, Group | None, Exchange | None]] = field(default_factory=lambda: deque(maxlen=8))
    open_races: list[Verdict] = field(default_factory=list)

    def left_state(
        self, at: float, until: float, group: Group | None, machine: Machine, by: Exchange | None = None
    ) -> None:
        """The group changed from one moment on, and by the other for sure.

        Args:
            at: the one moment.
            until: the other.
            group: what the group was before.
            machine: the group's machine, which has what it is now.
            by: the request that changed it, if it was one.
        """
        self.past.append((until, group, by))
        still_open = []
        for verdict in self.open_races:
            if verdict.exchange.answered_at + RACE_WINDOW_MS < at or _is_in_order(verdict.exchange, by):
                continue
            if not _settles(verdict, machine.present, machine.settings):
                still_open.append(verdict)
        self.open_races = still_open

    def is_refused_in_a_race(self, verdict: Verdict, machine: Machine) -> bool:
        """Settle a JoinGroup that only the state of a moment ago would have refused; it changed nothing then."""
        exchange = verdict.exchange
        if exchange.observed_error not in REFUSALS_OF_JOIN:
            return False
        if foresee(machine.present, exchange, machine.settings) == exchange.observed_error:
            return False
        return self._settled_by_past(verdict, machine.settings)

    def _settled_by_past(self, verdict: Verdict, settings: CoordinatorSettings) -> bool:
        since = verdict.exchange.handled_at - RACE_WINDOW_MS
        for left_at, group, by in reversed(self.past):
            if left_at < since or _is_in_order(verdict.exchange, by):
                return False
            if _settles(verdict, group, settings):
                return True
        return False

    def answered(self, token: int, error: int, generation: int | None, machine: Machine) -> None:
        """The machine answered a request."""
        verdict = self.verdicts.get(token)
        if verdict is None or verdict.predicted_error is not None:
            return
        exchange = verdict.exchange
        verdict.predicted_error, verdict.predicted_generation = error, generation
        if verdict.agrees or exchange.request.api not in RACING_APIS:
            return
        if not self._settled_by_past(verdict, machine.settings):
            self.open_races.append(verdict)


def _is_in_order(exchange: Exchange, other: Exchange | None) -> bool:
    """Whether two requests came on one connection, where nothing races."""
    if other is None or exchange.row["connection"] is None:
        return False
    return all(exchange.row[name] == other.row[name] for name in ("broker", "connection"))


def _settles(verdict: Verdict, group: Group | None, settings: CoordinatorSettings) -> bool:
    """Take a neighbouring state's answer if it is the broker's.

    A state that had not reached the request's generation is none: somebody had been told of that generation.
    """
    if group is None or group.generation < verdict.exchange.request.generation:
        return False
    observed = verdict.exchange.observed_error
    if foresee(group, verdict.exchange, settings) != observed:
        return False
    verdict.predicted_error = observed
    verdict.why = WHY_RACE
    return True


def view(group: Group | None) -> Group | None:
    """Return what `foresee` needs of a group, cut off from what happens to it later."""
    if group is None:
        return None
    return Group(
        group.group_id,
        group.dialect,
        group.state,
        group.previous_state,
        group.generation,
        group.protocol_type,
        group.protocol,
        group.leader,
        group.is_known,
        dict(group.members),
        dict(group.static_members),
        group.largest,
        dict(group.pending_joins),
    )
