"""A history that comes in batches, each a little out of order, ends in the rows of one batch over everything."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from math import inf
from typing import Any

import msgspec
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from schemas.rows import GroupRequestRow
from tests.unit.coordinator.random_history import Evidence, histories, moment
from transforms.coordinator.batch import Batch
from transforms.coordinator.evidence.sequence import EvidenceRow
from transforms.coordinator.evidence.tolerances import LOOK_AHEAD_MS, REORDER_MS
from transforms.coordinator.fold import begin, load
from transforms.coordinator.rows.tables import Rows

LATENESS_MS = 30_000.0
"""Longer than anything in a random history waits for its answer, but for joins that are parked."""


def known_at(row: EvidenceRow) -> float:
    """When a row is written: a request when it is answered."""
    return row.answered_at if isinstance(row, GroupRequestRow) else moment(row)


def copied(rows: list[EvidenceRow]) -> list[EvidenceRow]:
    return [msgspec.json.decode(msgspec.json.encode(row), type=type(row)) for row in rows]


def counted(rows: list[Rows]) -> dict[str, Counter[str]]:
    """Rows by table."""
    found: dict[str, Counter[str]] = {}
    for table in Rows.__struct_fields__:
        all_rows = [row for each in rows for row in getattr(each, table)]
        found[table] = Counter(map(repr, all_rows))
    return found


class Lake:
    """What a lake does for one group: keeps rows and snapshots, and goes back where evidence comes late."""

    def __init__(self) -> None:
        self.rows: list[EvidenceRow] = []
        self.snapshots: list[Any] = []
        self.told: list[tuple[float, Any, str]] = []
        self.open: Rows = Rows()

    def run(self, new: list[EvidenceRow], horizon: float, pieces: int, stops_ms: Sequence[float] = ()) -> None:
        self.rows += new
        oldest = min(map(moment, new), default=inf)
        while self.snapshots and self.snapshots[-1].at + REORDER_MS > oldest:
            self.snapshots.pop()
        last = self.snapshots[-1] if self.snapshots else None
        state = load(last.state) if last else begin("c", "orders", 50)
        since = last.at - REORDER_MS if last else -inf
        rows = sorted((row for row in self.rows if known_at(row) >= since), key=moment)
        stands = last.at if last else -inf
        batch = Batch(state, horizon, stops=[horizon - before for before in stops_ms if horizon - before > stands])
        size = max(1, len(rows) // pieces)
        for start in range(0, len(rows), size):
            batch.add(copied(rows[start : start + size]))
        self.snapshots += batch.end()
        gone = set(batch.superseded())
        self._replace(batch.told(), gone, -inf if last is None else last.taken_until)

    def wait(self, horizon: float) -> None:
        """Let time pass: nothing is new, and nothing is replayed."""
        was, self.open = self.open, Rows()
        for table in Rows.__struct_fields__:
            for row in getattr(was, table):
                if row.settled_at is not None and row.settled_at < horizon - LOOK_AHEAD_MS:
                    row.is_settled = True
                    self.told.append((row.settled_at, row, table))
                else:
                    getattr(self.open, table).append(row)

    def _replace(self, rows: Rows, gone: set[tuple[int, str, float]], taken_until: float) -> None:
        kept = [each for each in self.told if each[0] < taken_until]
        self.open = Rows()
        for table in Rows.__struct_fields__:
            for row in getattr(rows, table):
                if row.is_settled:
                    kept.append((row.settled_at, row, table))
                else:
                    getattr(self.open, table).append(row)
        self.told = [each for each in kept if not _is_of_a_stay_in(gone, each[1], each[2])]

    def all_rows(self) -> list[Rows]:
        settled = Rows()
        for _, row, table in self.told:
            getattr(settled, table).append(row)
        return [settled, self.open]


def _is_of_a_stay_in(gone: set[tuple[int, str, float]], row: Any, table: str) -> bool:
    return table == "member_sessions" and (row.life, row.member_id, row.settled_at) in gone


def batches(
    evidence: Evidence, dice: random.Random, runs: int, is_late: bool, waits: bool = False
) -> tuple[Lake, Lake]:
    """The same evidence in several runs and in one, each up to the same horizon.

    It may be that time goes on by the evidence of others, so that several wait for more of their own.
    """
    rows: list[EvidenceRow] = [row for kind in evidence for row in kind]
    rows.sort(key=lambda row: known_at(row) + dice.uniform(0, LATENESS_MS * (3 if is_late else 0.5)))
    cuts = sorted(dice.randrange(len(rows) + 1) for _ in range(runs - 1))
    several, one, last = Lake(), Lake(), 0
    horizon = -inf
    for cut in [*cuts, len(rows)]:
        newest = max(map(known_at, rows[:cut]), default=0.0)
        horizon = max(horizon, newest - LATENESS_MS)
        stops_ms = sorted((dice.uniform(1, 10 * LATENESS_MS) for _ in range(dice.randint(0, 3))), reverse=True)
        if cut > last or not waits:
            several.run(rows[last:cut], horizon, dice.randint(1, 4), stops_ms)
        for _ in range(dice.randint(0, 2) if waits else 0):
            horizon += dice.uniform(0, LATENESS_MS)
            several.wait(horizon)
        last = cut
    one.run(rows, horizon, 1)
    return several, one


@given(histories(), st.randoms(use_true_random=False), st.integers(1, 6), st.booleans())
@settings(max_examples=120, deadline=None)
def test_batches_end_in_the_rows_of_one(evidence: Evidence, dice: random.Random, runs: int, is_late: bool) -> None:
    several, one = batches(evidence, dice, runs, is_late)
    assert counted(several.all_rows()) == counted(one.all_rows())
    assert load(several.snapshots[-1].state) == load(one.snapshots[-1].state)


@given(histories(), st.randoms(use_true_random=False), st.integers(1, 6), st.booleans())
@settings(max_examples=120, deadline=None)
def test_time_settles_what_a_replay_would(evidence: Evidence, dice: random.Random, runs: int, is_late: bool) -> None:
    """Whatever a run leaves behind is settled by the horizon alone, and what is new later goes on from before it."""
    assume(any(evidence))
    several, one = batches(evidence, dice, runs, is_late, waits=True)
    assert counted(several.all_rows()) == counted(one.all_rows())
