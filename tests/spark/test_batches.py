"""Any batches in any order end in the tables of one run over everything, through the lake and the job itself."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.timelines.changes import NOT_READ
from jobs.timelines.standing import standing
from tests.support.pure_pipeline import Row, Tables, read_silver
from tests.support.silver_batches import WRITTEN_AT, BatchedLake, Piece, in_one_batch, pieces, written_at
from transforms.gold.timelines.columns import TABLES

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("long_histories")]

LATENESS_MS = 5_000

Batches = list[list[Piece]]


def in_turn(rows: list[Piece], dice: random.Random) -> Batches:
    """As they were written, cut anywhere."""
    cuts = sorted(dice.randrange(len(rows)) for _ in range(2))
    return [rows[start:end] for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]


def shuffled(rows: list[Piece], dice: random.Random) -> Batches:
    """Each as late as it likes: older than what has come before."""
    spread = 30_000
    return in_turn(sorted(rows, key=lambda piece: (written_at(piece) or 0.0) + dice.uniform(0, spread)), dice)


def logs_last(rows: list[Piece], dice: random.Random) -> Batches:
    """All records first, then what brokers logged, the other way round in time."""
    records = [piece for piece in rows if "record_offset" in piece[1]]
    lines = [piece for piece in rows if "record_offset" not in piece[1]]
    half = len(lines) // 2
    return [records, lines[half:], [*lines[:half], *lines[half:]]]  # the last of them a second time


SHORT = "chaotic, late"
"""The case that all tests have; it has most in it."""

CASES = {
    "calm, cut anywhere": ("kafka-4.2.0", in_turn),
    "chaotic, late": ("chaos-3.9.1", shuffled),
    "two brokers, records before logs": ("failover-4.2.0", logs_last),
}


@pytest.mark.parametrize(
    "case", [each if each == SHORT else pytest.param(each, marks=pytest.mark.long) for each in CASES]
)
@pytest.mark.parametrize("are_listed", [pytest.param(True, marks=pytest.mark.long), False], indirect=True)
def test_batches_end_in_the_tables_of_one_run(
    case: str,
    are_listed: bool,
    spark: SparkSession,
    capture_dir: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    name, cut = CASES[case]
    silver = read_silver(capture_dir(name))
    lake = BatchedLake(spark, tmp_path / "lake", LATENESS_MS)
    for batch in cut(pieces(silver), random.Random(8)):
        lake.load(batch)
        lake.replay()
    assert_as_in_one_run(lake, silver)


def test_a_stay_that_is_told_of_again_is_judged_as_it_is_told_last(
    spark: SparkSession, capture_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    """Without a request log members are taken to be gone who show themselves again, within a run and after it."""
    silver = read_silver(capture_dir("chaos-2.8.2")) | {"group_requests": []}
    lake = BatchedLake(spark, tmp_path / "lake", lateness_ms=2_000)
    for batch in in_turn(pieces(silver), random.Random(8)):
        lake.load(batch)
        lake.replay()
    assert_as_in_one_run(lake, silver)


def test_groups_that_came_out_as_they_were_are_no_news(
    spark: SparkSession, capture_dir: Callable[[str], Path], tmp_path: Path, many_groups: None
) -> None:
    """Of the groups that are left unfinished only one has new evidence; of the others rows get settled."""
    rows = pieces(read_silver(capture_dir("kafka-4.2.0")))
    half = len(rows) // 2
    of_one = [piece for piece in rows[half:] if piece[1].get("group_id") == "billing-steady"]
    lake = BatchedLake(spark, tmp_path / "lake", LATENESS_MS)
    found = []
    for batch in (rows[:half], of_one):
        lake.load(batch)
        lake.replay()
        found.append({spec.name: lake.rows(spec.name) for spec in TABLES if spec.full_name not in NOT_READ})
    reached = standing(lake.job)
    assert reached is not None
    changed = reached.changes[-1].groups
    assert changed is not None
    assert reached.changes[-1].others is None
    assert "billing-steady" in changed
    before, after = (of_groups(tables) for tables in found)
    assert {group for group in after if unsure(before[group]) != unsure(after[group])} <= {*changed}
    assert [group for group in after if group not in changed and before[group] != after[group]], "none was replayed"


@pytest.mark.parametrize("are_listed", [True, False, pytest.param(None, marks=pytest.mark.long)], indirect=True)
@pytest.mark.parametrize("name", ["kafka-4.2.0", pytest.param("modern-chaos-4.2.0", marks=pytest.mark.long)])
def test_groups_that_are_left_behind_are_settled_by_time_and_caught_up_with(
    name: str,
    are_listed: bool | None,
    spark: SparkSession,
    capture_dir: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Runs with news of one group replay that and the one which is furthest behind, until there are news of others."""
    monkeypatch.setattr("transforms.gold.timelines.starting_points.LEAST_TAKEN_ALONG", 1)
    rows = pieces(read_silver(capture_dir(name)))
    first, last = len(rows) // 2, len(rows) * 4 // 5
    ((talker, _),) = Counter(filter(None, (piece[1].get("group_id") for piece in rows[first:last]))).most_common(1)
    of_talker = [piece for piece in rows[first:last] if piece[1].get("group_id") in (talker, None)]
    half = len(of_talker) // 2
    batches = [
        (rows[:first], False),
        (of_talker[:half], True),
        (of_talker[half:], True),
        (rows[last:], bool(are_listed)),
    ]
    lake, known, stood = BatchedLake(spark, tmp_path / "lake", LATENESS_MS), list[Piece](), list[dict[str, float]]()
    for batch, is_little in batches:
        known += batch
        lake.load(batch)
        lake.replay(is_little)
        assert_as_in_one_run(lake, tables_of(known))
        stood.append(
            {row["group_id"]: row["at"] for row in sorted(lake.rows("replay_snapshots"), key=itemgetter("at"))}
        )
    if are_listed is None:
        return  # nobody goes through them one by one, and none is left behind
    replayed = [
        {group for group, at in after.items() if at > before.get(group, 0.0)} for before, after in pairwise(stood)
    ]
    assert [len(groups) for groups in replayed[:2]] == [2, 2]
    assert talker in replayed[0] & replayed[1]
    assert replayed[0] != replayed[1], "each time another one is caught up with"
    assert replayed[2] > replayed[0] | replayed[1]


def tables_of(rows: list[Piece]) -> Tables:
    """Rows by table."""
    tables: Tables = {table: [] for table in WRITTEN_AT}
    for table, row in rows:
        tables[table].append(row)
    return tables


def of_groups(tables: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """The rows of all tables, by group."""
    found: dict[str, list[Row]] = defaultdict(list)
    for name, rows in tables.items():
        for row in sorted(rows, key=lambda row: told({**row, "is_settled": None, "settled_at": None})):
            found[row["group_id"]].append({"table": name, **row})
    return found


def unsure(rows: list[Row]) -> list[Row]:
    """Rows without what says whether they are settled."""
    return [{**row, "is_settled": None, "settled_at": None} for row in rows]


def assert_as_in_one_run(lake: BatchedLake, silver: Tables) -> None:
    """Assert that the lake has the rows of one run, with the same of them settled, up to the lake's horizon."""
    reached = standing(lake.job)
    assert reached is not None
    assert reached.horizon is not None
    expected = in_one_batch(silver, reached.horizon)
    settled = 0
    for spec in TABLES:
        if spec.name in expected:
            found = lake.rows(spec.name)
            assert sorted(map(told, found)) == sorted(map(told, expected[spec.name])), spec.name
            settled += sum(row["is_settled"] for row in found)
    assert settled, "nothing was settled, so nothing was tested"


def told(row: Row) -> str:
    """A row as text, moments to the microsecond, as Delta keeps them."""
    return repr({name: _rounded(value) for name, value in sorted(row.items())})


def _rounded(value: Any) -> Any:
    return round(float(value), 3) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
