"""Evidence reaches the kernel in batches that end anywhere, also amid what a group begins with."""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from schemas.rows import CoordinatorEventRow, GroupMetadataRow, GroupRequestRow
from tests.unit.coordinator.random_history import history, moment
from transforms.coordinator.evidence.sequence import EvidenceRow
from transforms.coordinator.evidence.tolerances import REORDER_MS
from transforms.gold.timelines.evidence import LINE, PLACE, RECORD, REQUEST, STATE
from transforms.gold.timelines.kernel import Replay, replay_groups

PARTITIONS = 50
GROUPS = ("orders", "payments")
_KINDS = {GroupMetadataRow: RECORD, CoordinatorEventRow: LINE, GroupRequestRow: REQUEST}

Told = dict[str, list[dict[str, Any]]]


def evidence(rows: list[EvidenceRow], state: bytes | None) -> pa.RecordBatch:
    """What two groups are replayed from that have the same history: where they live, their states, their rows."""
    begun = [] if state is None else [(STATE, state)]
    of_group = [(PLACE, b"8"), *begun, (PLACE, b"31"), *((_KINDS[type(row)], msgspec.json.encode(row)) for row in rows)]
    packed = [(group, kind, row) for group in GROUPS for kind, row in of_group]
    names, kinds, texts = zip(*packed, strict=True)
    columns = {"cluster": ["c"] * len(packed), "group_id": names, "kind": kinds, "row": pa.array(texts, pa.binary())}
    return pa.RecordBatch.from_pydict(columns)


def told(batches: list[pa.RecordBatch], horizon: float) -> Told:
    found: Told = defaultdict(list)
    for name, rows in replay_groups(iter(batches), Replay(horizon, PARTITIONS)):
        found[name] += rows.to_pylist()
    return found


@pytest.mark.parametrize("is_going_on", [False, True])
def test_wherever_a_batch_ends_the_rows_are_the_same(is_going_on: bool) -> None:
    rows = sorted((row for kind in history(5, 12, "4.2.0", 0.0, False) for row in kind), key=moment)
    middle = float(round((moment(rows[0]) + moment(rows[-1])) / 2))
    state = None
    if is_going_on:
        (first, _) = told([evidence([row for row in rows if moment(row) < middle], None)], middle)["replay_snapshots"]
        state = first["state"]
        rows = [row for row in rows if moment(row) >= middle - REORDER_MS]
    whole = evidence(rows, state)
    expected = told([whole], inf)
    assert expected["generations"]
    for end in range(1, whole.num_rows):
        assert told([whole.slice(0, end), whole.slice(end)], inf) == expected, end
    assert told([whole.slice(at, 1) for at in range(whole.num_rows)], inf) == expected
