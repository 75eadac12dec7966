"""Sources that come late, or in part: in each run every row is there once, and in the end those of one run."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from math import inf
from typing import Any

import pytest

from schemas.rows import CoordinatorEventRow, GroupMetadataRow, GroupRequestRow
from schemas.tables.gold import REPLAYED
from tests.support.pure_pipeline import evidence_by_group
from tests.unit.coordinator.test_batch import Lake, counted, known_at
from transforms.coordinator.replay import typed_evidence
from transforms.coordinator.rows.tables import Rows

KEYS = {spec.name: spec.key for spec in REPLAYED if spec.key}

Evidence = GroupMetadataRow | CoordinatorEventRow | GroupRequestRow
Source = tuple[str, str]

RUNS = 3
LATENESS_MS = (0.0, 5_000.0, 60_000.0)


@pytest.mark.parametrize("name", ["chaos-2.8.2", "failover-4.2.0", "kafka-4.2.0"])
@pytest.mark.parametrize("lateness_ms", LATENESS_MS)
def test_every_row_is_there_once_and_in_the_end_those_of_one_run(name: str, lateness_ms: float, pure_tables) -> None:
    groups = {group: _evidence(rows) for group, rows in evidence_by_group(pure_tables(name)).items()}
    arrivals = _Arrivals([row for rows in groups.values() for row in rows], random.Random(f"{name} {lateness_ms}"))
    horizons = [newest - lateness_ms for newest in arrivals.newest]
    for group, rows in groups.items():
        several, one = Lake(), Lake()
        for run, horizon in enumerate(horizons):
            several.run([row for row in rows if arrivals.run_of(row) == run], horizon, 2)
            assert not _twice(several), (group, run)
        one.run(rows, horizons[-1], 1)
        assert counted(several.all_rows()) == counted(one.all_rows()), group


class _Arrivals:
    """Which run each row comes in: of each source up to some moment, of some sources nothing at first.

    Attributes:
        newest: by run, how far all sources have come that have begun by then.
    """

    def __init__(self, rows: list[Evidence], dice: random.Random) -> None:
        moments = list(map(known_at, rows))
        first, last = min(moments), max(moments)
        self._until: dict[Source, list[float]] = {}
        for source in sorted(set(map(_source, rows))):
            until = sorted(dice.uniform(first, last) for _ in range(RUNS - 1))
            late = dice.choice([0, 0, 1, RUNS - 1])
            self._until[source] = [-inf if run < late else at for run, at in enumerate([*until, inf])]
        self.newest = list(_newest(self, rows))

    def run_of(self, row: Evidence) -> int:
        at = known_at(row)
        return next(run for run, until in enumerate(self._until[_source(row)]) if at <= until)


def _newest(arrivals: _Arrivals, rows: list[Evidence]) -> Iterator[float]:
    newest: dict[Source, float] = {}
    for run in range(RUNS):
        for row in rows:
            if arrivals.run_of(row) == run:
                newest[_source(row)] = max(newest.get(_source(row), -inf), known_at(row))
        yield min(newest.values(), default=-inf)


def _evidence(rows: Any) -> list[Evidence]:
    return [row for kind in typed_evidence(*rows) for row in kind]


def _source(row: Evidence) -> Source:
    return ("", "") if isinstance(row, GroupMetadataRow) else (row.broker, row.source_file)


def _twice(lake: Lake) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the keys of rows that are there more than once."""
    found: Counter[tuple[str, tuple[Any, ...]]] = Counter()
    for rows in lake.all_rows():
        for table in Rows.__struct_fields__:
            if table in KEYS:
                found.update((table, tuple(getattr(row, name) for name in KEYS[table])) for row in getattr(rows, table))
    return [key for key, count in found.items() if count > 1]
