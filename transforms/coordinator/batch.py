"""One batch of a group's evidence: what is settled by it, where the replay stands at the horizon, and what is open.

Evidence before the horizon is final, as far as anybody knows: it goes into the state, which is put down there. What
comes after it is replayed too, so that the tables show the present, and will be replayed again in the next batch. The
state can be put down on the way as well, for evidence that comes too late for the horizon.
"""

from __future__ import annotations

from collections import deque
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
        awaits_records: something behind it was left open, as records that would tell of it had not been read; what else
            lies behind it comes out the same as long as there is nothing new of the group.
    """

    at: float
    version: int
    state: bytes
    taken_until: float
    seen_until: float
    awaits_records: bool = False


class Batch:
    """A group's batch under way.

    Args:
        state: what is known of the group; it is used up.
        horizon: moment before which evidence is final (epoch ms); infinite = no more will come.
        partitions: partitions of `__consumer_offsets` that hold records of the group of whatever kind.
        keeps_audit: give a row for every audited request, and not only for those that give reason to doubt.
        topic_names: names of topics by their ids, as far as they are known.
        stops: moments before the horizon at which the state is put down as well, in order.
        records_until: newest record of any group that was read (epoch ms); what comes behind the horizon and needs
            younger ones is left open.
    """

    def __init__(
        self,
        state: ReplayState,
        horizon: float,
        partitions: Iterable[int] = (),
        keeps_audit: bool = True,
        topic_names: Mapping[str, str] | None = None,
        stops: Iterable[float] = (),
        records_until: float = inf,
    ) -> None:
        self._state = state
        self._horizon = horizon
        self._ahead = deque([*stops, horizon])
        self._sink = Sink(keeps_audit=keeps_audit, topic_names=topic_names or {})
        self._sequencer = Sequencer(state.connections)
        state.shared.reigns.observed.update(partitions)
        self._records_until = max(records_until, horizon)
        self._walk = GroupWalk(state, self._sink)
        self._driver = Driver(state.waiting, state.shared.lives, self._walk)
        self._snapshots: list[Snapshot] = []

    def add(self, rows: Iterable[EvidenceRow]) -> None:
        """Take in rows, none of which is older than the newest of those before; and take what is safe to take."""
        self._sequencer.add(rows)
        self._take(self._sequencer.safe)

    def end(self) -> list[Snapshot]:
        """Take what is left, and return how the replay stood at the stops and, last, at the horizon."""
        self._take(self._horizon)
        self._driver.see(self._sequencer.emit(inf))
        self._driver.finish()
        self._snapshots[-1].seen_until = max(self._sequencer.newest, self._state.waiting.front)
        self._snapshots[-1].awaits_records = self._walk.awaits_records
        return self._snapshots

    def told(self) -> Rows:
        """Return the rows that have come since the last call."""
        rows, self._sink.rows = self._sink.rows, Rows()
        return rows

    def superseded(self) -> list[tuple[int, str, float]]:
        """Return the settled rows of `member_sessions` that others stand for now: life, member, when settled."""
        superseded, self._sink.superseded = self._sink.superseded, []
        return superseded

    def _take(self, safe: float) -> None:
        while self._ahead and safe >= self._ahead[0]:
            self._put_down(self._ahead.popleft())
        self._driver.see(self._sequencer.emit(min(safe, self._ahead[0] if self._ahead else inf)))

    def _put_down(self, at: float) -> None:
        state = self._state
        self._driver.see(self._sequencer.emit(at))
        self._driver.take_until(at)
        state.connections.until = at
        if at == self._horizon:
            self._sink.is_final = False
            self._walk.records_until = self._records_until
        elif state.waiting.front == -inf:
            return  # nothing is known of the group yet
        taken_until = max(state.waiting.front, at) - LOOK_AHEAD_MS
        self._snapshots.append(Snapshot(at, VERSION, dump(state), taken_until, seen_until=at))
