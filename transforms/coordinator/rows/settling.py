"""Which rows of the timeline are settled: what they tell is over, and evidence in order does not come back to it."""

from __future__ import annotations

from collections.abc import Container
from itertools import zip_longest
from math import inf

from transforms.coordinator.evidence.sources import AUTHORITY, Source
from transforms.coordinator.evidence.tolerances import SETTLING_MS
from transforms.coordinator.rows.generations import say_generation
from transforms.coordinator.rows.sessions import note_members, session_row
from transforms.coordinator.rows.tables import Sink
from transforms.coordinator.timeline.facts import GenerationFacts, Session, better, value_of
from transforms.coordinator.timeline.lives import Life, Lives


class Settling:
    """Turns what is over into rows, and lets go of it.

    Args:
        cluster: name of the cluster.
        group_id: the group.
        lives: its lives, which are changed.
        sink: where the rows go.
        modern_sink: where those of lives go in which the group was no classic one.
    """

    def __init__(self, cluster: str, group_id: str, lives: Lives, sink: Sink, modern_sink: Sink) -> None:
        self._cluster = cluster
        self._group_id = group_id
        self._lives = lives
        self._sink = sink
        self._modern_sink = modern_sink

    def settle(self, now: float, members: Container[str] | None) -> None:
        """Tell what is settled at a moment.

        Args:
            now: the moment; infinite = tell everything, as far as it has come.
            members: ids that are in the group now; None = not known.
        """
        for life in list(self._lives):
            self._settle_generations(life, now)
            self._settle_sessions(life, now, members)
            if life.number < self._lives.number and not life.generations and not life.sessions:
                del self._lives.by_number[life.number]

    # --- generations --------------------------------------------------------------------------------------------

    def _settle_generations(self, life: Life, now: float) -> None:
        known = [row for row in life.in_order() if row.sources]
        for row, following in zip_longest(known, known[1:]):
            if not _is_generation_settled(life, following, now):
                return
            if row.generation > life.settled_through:
                say_generation(self._sink, self._cluster, self._group_id, life, row, following)
                note_members(self._lives, life, row)
            life.settle(row)
        if life.is_over:
            life.generations.clear()  # of which nothing but the number is known

    # --- stays --------------------------------------------------------------------------------------------------

    def _settle_sessions(self, life: Life, now: float, members: Container[str] | None) -> None:
        if not life.sessions:
            return
        open_ids: set[str] = set().union(*[row.members for row in life.generations.values()])
        for session in [each for each in life.sessions.values() if each.member_id not in open_ids]:
            is_present = life.is_classic and life.number == self._lives.number
            if is_present and members is not None and session.member_id not in members:
                _end_unseen(life, session)
            if now == inf or _is_session_settled(life, session, now):
                self._tell_session(life, session)

    def _tell_session(self, life: Life, session: Session) -> None:
        sink = self._sink if life.is_classic else self._modern_sink
        if session.settled_at is not None:
            sink.superseded.append((life.number, session.member_id, session.settled_at))
        row = sink.say_stay(session_row(self._cluster, self._group_id, life, session))
        session.settled_at = row.settled_at if row.is_settled else None
        life.end_session(session)


def _is_generation_settled(life: Life, following: GenerationFacts | None, now: float) -> bool:
    if now == inf:
        return True
    if life.is_over:
        return (value_of(life.ended_at) or 0.0) + SETTLING_MS < now
    counted_at = None if following is None else following.counted_at
    return counted_at is not None and counted_at + SETTLING_MS < now


def _is_session_settled(life: Life, session: Session, now: float) -> bool:
    """Whether a stay is over for good: it was gone when a later generation, which is settled, had its members."""
    if life.is_over:
        return not life.generations and (value_of(life.ended_at) or 0.0) + SETTLING_MS < now
    if session.gone_at is None or session.end_cause is None:
        return False
    ended_at = value_of(session.ended_at)
    gone_at = session.gone_at if ended_at is None else max(ended_at, session.gone_at)
    is_passed = gone_at < life.settled_at or not life.is_classic  # records alone tell who is in a group of epochs
    return is_passed and gone_at + SETTLING_MS < now


def _end_unseen(life: Life, session: Session) -> None:
    """End a stay that nothing ended: the member is not in the group, and was in no generation that came after."""
    joined_at = value_of(session.joined_at) or 0.0
    if session.end_cause is None and joined_at < life.settled_at:
        session.end_cause = better(None, "unknown", AUTHORITY[Source.TIMER])
        session.gone_at = life.settled_at
