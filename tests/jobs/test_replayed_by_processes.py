"""What processes of this machine replay, a share of the groups each, is what one makes of all of it in order."""

from __future__ import annotations

import random
from collections import defaultdict
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from pyarrow import parquet

from jobs.lake.duckdb_files import connected, part_of, put_apart
from jobs.timelines import part_files
from jobs.timelines.part_files import PARTED_BY, replayed_by_processes
from schemas.rows import CoordinatorEventRow, GroupMetadataRow, GroupRequestRow
from tests.unit.coordinator.random_history import history, moment
from transforms.errors import SourceError
from transforms.gold.timelines.evidence import LINE, RECORD, REQUEST
from transforms.gold.timelines.kernel import IN_ORDER, Replay, replay_groups

HOW = Replay(inf, 50)
SHARES = 3
_KINDS = {GroupMetadataRow: RECORD, CoordinatorEventRow: LINE, GroupRequestRow: REQUEST}

Told = dict[str, list[str]]


@pytest.fixture(scope="module")
def evidence() -> pa.Table:
    """What five groups are replayed from, in no order."""
    rows = [
        ("c", f"group {number}", moment(row), _KINDS[type(row)], msgspec.json.encode(row))
        for number in range(5)
        for kind in history(number, 12, "4.2.0", 0.0, False)
        for row in kind
    ]
    random.Random(1).shuffle(rows)
    names = ("cluster", "group_id", "at", "kind", "row")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture(scope="module")
def expected(evidence: pa.Table) -> Told:
    found: dict[str, list[Any]] = defaultdict(list)
    ordered = evidence.sort_by([(name, "ascending") for name in IN_ORDER])
    for name, rows in replay_groups(iter(ordered.to_batches()), HOW):
        found[name] += rows.to_pylist()
    assert found["generations"]
    return in_any_order(found)


def in_any_order(rows: dict[str, list[Any]]) -> Told:
    return {name: sorted(map(repr, of_part)) for name, of_part in rows.items() if name != "replay_snapshots"}


def told(evidence: pa.Table, folder: Path) -> Told:
    with connected(is_ordered=False) as connection:
        connection.register("evidence", evidence)
        apart = put_apart(connection, "SELECT * FROM evidence", part_of(PARTED_BY, SHARES), folder)
    found: dict[str, list[Any]] = defaultdict(list)
    for each in replayed_by_processes(apart, SHARES, HOW, folder):
        rows = parquet.ParquetFile(each.file).read().to_pylist()
        assert len(rows) == each.row_count
        found[each.part] += rows
    return in_any_order(found)


@pytest.mark.parametrize("processes", [1, 2])
def test_shares_give_what_one_pass_gives(
    evidence: pa.Table, expected: Told, processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_files, "processes", lambda: processes)
    assert told(evidence, tmp_path) == expected


def test_what_takes_too_much_memory_is_given_more(
    evidence: pa.Table, expected: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_files, "processes", lambda: 1)
    monkeypatch.setattr(part_files, "_MEMORY", "10kB")
    assert told(evidence, tmp_path) == expected
    monkeypatch.setattr(part_files, "_MOST_MEMORY", "10kB")
    with pytest.raises(SourceError, match=r"spark\.local\.dir"):
        told(evidence, tmp_path)
