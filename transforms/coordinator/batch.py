"""One batch of a group's evidence: what is settled by it, where the replay stands at the horizon, and what is open.

Evidence before the horizon is final, as far as anybody knows: it goes into the state, which is put down there. What
comes after it is replayed too, so that the tables show the present, and will be replayed again in the next batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from msgspec import Struct

from transforms.coordinator.driver import Driver
from transforms.coordinator.evidence.sequence import EvidenceRow, Sequencer
from transforms.coordinator.evidence.tolerances import LOOK_AHEAD_MS
from transforms.coordinator.rows.tables import Rows, Sink
from transforms.coordinator.state import VERSION, ReplayState, dump
from transforms.coordinator.walk import GroupWalk


class Snapshot(Struct):
    """A group's replay as it was put down.

    Attributes:
        at: moment up to which all evidence is in the state (epoch ms).
        version: version of the state's layout.
        state: the state.
        taken_until: moment up to which evidence was taken; rows that were settled later are not of this state.
        seen_until: the group's newest evidence; not older than `at` by `LOOK_AHEAD_MS` = there is more to take.
    """

    at: float
    version: int
    state: bytes
    taken_until: float
    seen_until: float


class Batch:
    """A group's batch under way.

    Args:
        state: what is known of the group; it is used up.
        horizon: moment before which evidence is final (epoch ms); infinite = no more will come.
        partitions: partitions of `__consumer_offsets` that hold records of the group of whatever kind.
        keeps_audit: give a row for every audited request, and not only for those that give reason to doubt.
        topic_names: names of topics by their ids, as far as they are known.
    """

    def __init__(
        self,
        state: ReplayState,
        horizon: float,
        partitions: Iterable[int] = (),
        keeps_audit: bool = True,
        topic_names: Mapping[str, str] | None = None,
    ) -> None:
        self._state = state
        self._horizon = horizon
        self._sink = Sink(keeps_audit=keeps_audit, topic_names=topic_names or {})
        self._sequencer = Sequencer(state.connections)
        state.shared.reigns.observed.update(partitions)
        self._driver = Driver(state.waiting, state.shared.lives, GroupWalk(state, self._sink))
        self._snapshot: Snapshot | None = None

    def add(self, rows: Iterable[EvidenceRow]) -> None:
        """Take in rows, none of which is older than the newest of those before; and take what is safe to take."""
        self._sequencer.add(rows)
        self._take(self._sequencer.safe)

    def end(self) -> Snapshot:
        """Take what is left, and return how the replay stood at the horizon."""
        self._take(self._horizon)
        snapshot = self._put_down()
        self._driver.see(self._sequencer.emit(inf))
        self._driver.finish()
        snapshot.seen_until = max(self._sequencer.newest, self._state.waiting.front)
        return snapshot

    def told(self) -> Rows:
        """Return the rows that have come since the last call."""
        rows, self._sink.rows = self._sink.rows, Rows()
        return rows

    def superseded(self) -> list[tuple[int, str, float]]:
        """Return the settled rows of `member_sessions` that others stand for now: life, member, when settled."""
        superseded, self._sink.superseded = self._sink.superseded, []
        return superseded

    def _take(self, safe: float) -> None:
        if self._snapshot is None:
            self._driver.see(self._sequencer.emit(min(safe, self._horizon)))
            if safe >= self._horizon:
                self._put_down()
        if self._snapshot is not None:
            self._driver.see(self._sequencer.emit(safe))

    def _put_down(self) -> Snapshot:
        if self._snapshot is None:
            state = self._state
            self._driver.take_until(self._horizon)
            state.connections.until = self._horizon
            taken_until = max(state.waiting.front, self._horizon) - LOOK_AHEAD_MS
            self._snapshot = Snapshot(self._horizon, VERSION, dump(state), taken_until, self._horizon)
            self._sink.is_settling = False
        return self._snapshot
