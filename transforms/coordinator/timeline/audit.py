"""The audit: does the replayed state machine answer as the broker did?

A prediction uses what came before the answer. Where the answer itself was needed, to end a wait that nothing else
shows or to tell which of two things happened first, the row says so (`is_answer_used`) and why.

Nothing here knows a protocol: what a group would answer is asked of the state machine, by a function that the caller
brings along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from msgspec import Struct, field

from schemas.rows import ReplayAuditRow
from transforms.coordinator.evidence.exchanges import Exchange, Observed
from transforms.coordinator.evidence.tolerances import RACE_WINDOW_MS, SETTLING_MS
from transforms.coordinator.kafka.apis import RACING_APIS

WHY_RACE = "race"
WHY_OWN_ANSWER = "own answer ended the wait"
WHY_HELD = "held for the rebalance that its answer shows"
WHY_UNSTORED = "own answer shows that what it brought was not stored in time"
WHY_UNPRINTED = "own answer shows whether it brought something new, which the log does not print"
WHY_SETTING = "own answer shows the broker's setting"
WHY_NEW_GROUP = "own answer shows that the group was new"
WHY_EITHER = "answered while the coordinator was loading or giving up: one of two answers that were possible"
WHY_LATE = "own answer shows that its line, or what was written, is late in the log"
WHY_UNKNOWN = "state not known yet"
WHY_NOT_COORDINATOR = "not the coordinator, and no line shows when"
WHY_OTHER_COPY = "answered by a broker while another coordinates the group already"
WHY_MODERN = "the group speaks a newer protocol"
WHY_BROKER = "refused by the broker before the coordinator"
WHY_TRANSACTION = "refused for its transaction, of which no evidence tells"
WHY_UNTOLD = "the answer rests on topics or fields that no evidence tells of"
WHY_LATER_RELEASE = "the broker is of a later release than all that are known, and read as the last of those"
WHY_UNREPLICATED = "its answer tells that the log was not replicated within offsets.commit.timeout.ms"
WHY_STORE_FAILED = "its answer tells that the assignment could not be stored"
WHY_NEVER = "still parked when the evidence ends"
WHY_UNWRITTEN = "its records would be younger than all that were read"
WHY_RESYNC = "parked when the state was taken from the evidence"

View = TypeVar("View")
"""A group as it was at a moment."""

AnswerOf = Callable[[View, Exchange], int | None]
"""What a group in that state answers in the end; None where it cannot have been asked."""

_PAST_MS = 100.0
"""How long a state that was left is kept; no race reaches as far back."""

_MOST_PAST = 8


class Verdict(Struct, array_like=True):
    """One audited request.

    Attributes:
        state_before: state of the replayed group when the request was handled; None if there was no group.
        predicted_error: what the machine answers; None = no answer of its own (yet).
        is_answer_used: the prediction needed the broker's own answer.
    """

    exchange: Exchange
    state_before: str | None
    predicted_error: int | None = None
    predicted_generation: int | None = None
    is_answer_used: bool = False
    why: str | None = None

    def use_answer(self, why: str) -> None:
        """Say that the prediction needs the broker's own answer, and for what; the first reason stands."""
        if not self.is_answer_used:
            self.is_answer_used, self.why = True, why

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

    def row(self, cluster: str, agrees: bool | None) -> ReplayAuditRow:
        """Row of `gold.replay_audit`, of a verdict that agrees or not."""
        audited = observed_row(cluster, self.exchange, self.exchange.request.member_id)
        audited.state_before, audited.predicted_error, audited.agrees = self.state_before, self.predicted_error, agrees
        audited.is_answer_used = self.is_answer_used and self.predicted_error is not None
        audited.predicted_generation = self.predicted_generation
        audited.why = self.why if self.why or agrees else self._why_not()
        return audited

    def _why_not(self) -> str:
        if self.predicted_error is None:
            return WHY_NEVER
        where = "no group" if self.state_before is None else self.state_before
        if self.predicted_error != self.exchange.observed_error:
            return f"in {where} the state machine answers {self.predicted_error}"
        return f"in {where} the state machine is at generation {self.predicted_generation}"


class Past(Struct, Generic[View], array_like=True):
    """A state that the group left: by when for sure, what it was, and the connection whose request changed it."""

    until: float
    view: View
    by: tuple[str, str] | None = None


class Audit(Struct, Generic[View], array_like=True):
    """Verdicts that are not settled yet, and what may still settle those that lie within reach of a race.

    Attributes:
        verdicts: by token.
        past: states that the group left a moment ago.
        open_races: tokens of disagreements that a state to come may still explain.
        seconds: tokens of requests that were answered twice, with those of the second answer.
    """

    verdicts: dict[int, Verdict] = field(default_factory=dict)
    past: list[Past[View]] = field(default_factory=list)
    open_races: list[int] = field(default_factory=list)
    seconds: dict[int, int] = field(default_factory=dict)

    def begin(self, exchange: Exchange, state: str | None) -> Verdict:
        """Begin the row of a request."""
        token = exchange.request.token
        if token in self.open_races:  # evidence that contradicts itself: a request of that place has its row already
            self.open_races.remove(token)
        verdict = self.verdicts[token] = Verdict(exchange, state)
        return verdict

    def expect_second(self, first: Exchange, second: Exchange, state: str | None) -> None:
        """Begin the row of a request's second answer."""
        self.seconds[first.request.token] = second.request.token
        self.begin(second, state)

    def left_state(
        self, at: float, until: float, before: View, now: View, answer_of: AnswerOf[View], by: Exchange | None = None
    ) -> None:
        """The group changed from one moment on, and by the other for sure.

        Args:
            at: the one moment.
            until: the other.
            before: what the group was before.
            now: what it is now.
            answer_of: what a state answers.
            by: the request that changed it, if it was one.
        """
        connection = None if by is None else by.connection
        self.past = [past for past in self.past if past.until >= at - _PAST_MS][1 - _MOST_PAST :]
        self.past.append(Past(until, before, connection))
        still_open = []
        for token in self.open_races:
            verdict = self.verdicts[token]
            if _handled_by(verdict.exchange) < at or _is_in_order(verdict.exchange, connection):
                continue
            if not _settles(verdict, now, answer_of):
                still_open.append(token)
        self.open_races = still_open

    def is_settled_by_past(self, verdict: Verdict, answer_of: AnswerOf[View]) -> bool:
        """Whether a state of a moment ago explains the broker's answer; then the verdict is a race."""
        handled_at = verdict.exchange.handled_at
        for past in reversed(self.past):
            is_in_order = _is_in_order(verdict.exchange, past.by)
            if is_in_order and past.until > handled_at:
                continue  # it changed the group itself, as a LeaveGroup does that some may leave by and others not
            if is_in_order or past.until < handled_at - RACE_WINDOW_MS:
                return False
            if _settles(verdict, past.view, answer_of):
                return True
        return False

    def answered(self, token: int, error: int, generation: int | None, answer_of: AnswerOf[View]) -> Verdict | None:
        """The machine answered a request; returns its verdict, and lets go of it, if the broker answered so too."""
        verdict = self.verdicts.get(token)
        if (verdict is None or verdict.predicted_error is not None) and token in self.seconds:
            token = self.seconds[token]
            verdict = self.verdicts.get(token)
        if verdict is None or verdict.predicted_error is not None:
            return None
        verdict.predicted_error, verdict.predicted_generation = error, generation
        if not verdict.agrees:
            if verdict.exchange.row.api not in RACING_APIS:
                return None
            if not self.is_settled_by_past(verdict, answer_of):
                self.open_races.append(token)
                return None
            if not verdict.agrees:
                return None
        return self.verdicts.pop(token)

    def forget_parked(self, parked: set[int | None]) -> None:
        """The state was set: whoever was parked in the machine's own state gets no prediction."""
        parked = self._with_seconds(parked)
        for token, verdict in self.verdicts.items():
            if verdict.predicted_error is None and verdict.why is None and token not in parked:
                verdict.why = WHY_RESYNC

    def settled(self, now: float, parked: set[int | None]) -> Iterator[Verdict]:
        """Yield the verdicts that nothing can change any more, and let go of them."""
        parked = self._with_seconds(parked)
        over = [token for token, verdict in self.verdicts.items() if self._is_over(token, verdict, now, parked)]
        for token in over:
            yield self.verdicts.pop(token)
        if over and self.open_races:
            self.open_races = [token for token in self.open_races if token in self.verdicts]
        if over and self.seconds:
            self.seconds = {first: second for first, second in self.seconds.items() if second in self.verdicts}

    def forget(self, now: float) -> None:
        """Forget the states that were left too long ago to explain an answer."""
        if self.past:
            self.past = [past for past in self.past if past.until >= now - _PAST_MS]

    def _with_seconds(self, parked: set[int | None]) -> set[int | None]:
        """Return the tokens of what is parked with those of its second answers."""
        if not self.seconds:
            return parked
        return parked | {second for first, second in self.seconds.items() if first in parked}

    def _is_over(self, token: int, verdict: Verdict, now: float, parked: set[int | None]) -> bool:
        if verdict.agrees:
            return True
        return verdict.exchange.answered_at + SETTLING_MS < now and token not in parked


def observed_row(cluster: str, exchange: Observed, member_id: str | None) -> ReplayAuditRow:
    """Row of `gold.replay_audit` of a request, with what was observed; of what is predicted nothing yet."""
    row = exchange.row
    return ReplayAuditRow(
        cluster=cluster,
        source_file=row.source_file,
        line_number=row.line_number,
        seq=row.seq,
        at=exchange.answered_at,
        handled_at=exchange.handled_at,
        broker=row.broker,
        api=row.api,
        group_id=row.group_id,
        member_id=member_id,
        observed_error=exchange.observed_error,
        observed_generation=exchange.observed_generation,
        is_answer_used=False,
    )


def _handled_by(exchange: Exchange) -> float:
    """Return until when a request may have been handled; the Scala coordinator's wait for the group's lock is in it."""
    return max(exchange.handled_at + RACE_WINDOW_MS, exchange.answered_at - exchange.parked_ms)


def _is_in_order(exchange: Exchange, by: tuple[str, str] | None) -> bool:
    """Whether two requests came on one connection, where nothing races."""
    return by is not None and exchange.connection == by


def _settles(verdict: Verdict, view: View, answer_of: AnswerOf[View]) -> bool:
    """Take a neighbouring state's answer if it is the broker's."""
    if answer_of(view, verdict.exchange) != verdict.exchange.observed_error:
        return False
    verdict.predicted_error = verdict.exchange.observed_error
    verdict.is_answer_used, verdict.why = False, WHY_RACE
    return True
