"""A run over a long history puts down snapshots on its way, so that what is late by little costs little behind it."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
import pytest

from schemas.rows import CoordinatorEventRow, GroupMetadataRow, GroupRequestRow
from tests.unit.coordinator.random_history import history, moment
from transforms.coordinator.evidence.sequence import EvidenceRow
from transforms.coordinator.evidence.tolerances import REORDER_MS
from transforms.coordinator.state import load
from transforms.gold.timelines.evidence import LINE, RECORD, REQUEST, STATE
from transforms.gold.timelines.kernel import Replay, replayed_here
from transforms.gold.timelines.snapshots import CLOSEST_MS, stops_between

PARTITIONS = 50
_KINDS = {GroupMetadataRow: RECORD, CoordinatorEventRow: LINE, GroupRequestRow: REQUEST}

Snapshot = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> list[EvidenceRow]:
    """The history of a group, in order."""
    return sorted((row for kind in history(3, 80, "4.2.0", 0.0, False) for row in kind), key=moment)


def replay(rows: list[EvidenceRow], horizon: float, state: bytes | None = None) -> list[Snapshot]:
    """Replay a group, from a state if there is one; return the snapshots that are put down, in their order."""
    packed = [] if state is None else [(0.0, STATE, state)]
    packed += [(moment(row), _KINDS[type(row)], msgspec.json.encode(row)) for row in rows]
    evidence = pa.table(
        {
            "cluster": ["c"] * len(packed),
            "group_id": ["orders"] * len(packed),
            "at": [at for at, _, _ in packed],
            "kind": [kind for _, kind, _ in packed],
            "row": pa.array([row for _, _, row in packed], pa.binary()),
        }
    )
    told = replayed_here(evidence, Replay(horizon, PARTITIONS)).column("replay_snapshots").to_pylist()
    return sorted((row for row in told if row is not None), key=lambda row: row["at"])


def epoch_ms(snapshot: Snapshot) -> float:
    return float(snapshot["at"].timestamp() * 1000)


def test_the_state_is_put_down_on_the_way_as_if_a_run_had_ended_there(rows: list[EvidenceRow]) -> None:
    middle = float(round((moment(rows[0]) + moment(rows[-1])) / 2))
    horizon = middle + CLOSEST_MS
    on_the_way, last = replay(rows, horizon)
    assert (epoch_ms(on_the_way), epoch_ms(last)) == (middle, horizon)
    (ended_there,) = replay([row for row in rows if moment(row) < middle], middle)
    assert load(on_the_way["state"]) == load(ended_there["state"])
    (gone_on,) = replay([row for row in rows if moment(row) >= middle - REORDER_MS], horizon, on_the_way["state"])
    assert load(gone_on["state"]) == load(last["state"])
    assert load(last["state"]) != load(on_the_way["state"])


def test_nothing_is_put_down_before_a_group_is_known_of(rows: list[EvidenceRow]) -> None:
    (only,) = replay(rows, moment(rows[0]) - 1 + CLOSEST_MS)
    assert only["at"] is not None


def test_stops_are_none_close_to_where_a_run_goes_on_from() -> None:
    day, horizon = 86_400_000.0, 1e12
    assert stops_between(float("-inf"), horizon) == [horizon - day, horizon - CLOSEST_MS]
    assert stops_between(horizon - day, horizon) == [horizon - CLOSEST_MS]
    assert stops_between(horizon - 2 * CLOSEST_MS, horizon) == []
    assert stops_between(float("-inf"), float("-inf")) == []
