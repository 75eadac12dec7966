"""Rows of a table on a local disk are put in the place of others as Delta does it, and without it."""

from __future__ import annotations

import shutil
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tests.support.written_rows import AT, CLUSTERS, TRANSITIONS, frame, lake_of, operation, told, transition

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_table_is_small")]

UNSETTLED = "NOT is_settled"
LATE = AT + timedelta(seconds=2)
CONDITIONS = {
    "what is not settled": UNSETTLED,
    "all": "",
    "all of a group, and what is not settled": f"({UNSETTLED} OR group_id IN ('a', 'it\\'s', '\\u0024{{HOME}}'))",
    "what begins late": f"group_id IN ('a') AND at >= timestamp_micros({int(LATE.timestamp() * 1_000_000)})",
    "what there is not": "group_id IN ('c')",
}
ROWS = [transition("a", 3, True), transition("b", 5, False), transition("b", 6, False)]
"""Some of what is put in is settled by now, some is what was there, and a row is gone."""


def in_files(spark: Any, folder: Path, *parts: list[dict[str, Any]]) -> Any:
    """Rows that lie in files of this machine."""
    from jobs.frame.row_files import of_files

    paths = []
    for number, part in enumerate(parts):
        paths.append(str(folder / f"{number}.parquet"))
        parquet.write_table(frame(spark, TRANSITIONS, part).toArrow(), paths[-1])
    return of_files(spark, paths, frame(spark, TRANSITIONS, []).schema)


def twin(spark: Any, lake: Any, name: str = "its twin") -> Any:
    """The same lake somewhere else."""
    root = Path(lake.root)
    return lake_of(spark, shutil.copytree(root, root.with_name(name)), lake.cluster)


@pytest.mark.parametrize(
    ("settled_and_others", "condition", "where_they_are"),
    [*zip(cycle(CLUSTERS), CONDITIONS, cycle(["many", "in files", "few"]))],
    indirect=["settled_and_others"],
)
def test_rows_are_replaced_as_delta_does_it(
    spark: Any, settled_and_others: Any, tmp_path: Path, condition: str, where_they_are: str
) -> None:
    lake, where = settled_and_others, CONDITIONS[condition]
    others, same = told(lake_of(spark, Path(lake.root), "other")), twin(spark, lake)
    rows = frame(spark, TRANSITIONS, ROWS)
    same._tables._replaced_by_delta(TRANSITIONS, rows, where)
    with lake.brief(where_they_are == "few"):
        given = in_files(spark, tmp_path, ROWS[:2], ROWS[2:]) if where_they_are == "in files" else rows
        assert lake.replace(TRANSITIONS, given, where) == 3
    assert "delta-rs" in operation(lake) and "delta-rs" not in operation(same)
    assert told(lake) == told(same)
    assert lake.contents.row_counts([TRANSITIONS])[TRANSITIONS.full_name] == len(told(lake))
    assert told(lake_of(spark, Path(lake.root), "other")) == others


@pytest.mark.parametrize(
    ("settled_and_others", "condition"),
    [*zip(CLUSTERS, ("what is not settled", "all"), strict=True)],
    indirect=["settled_and_others"],
)
def test_rows_of_other_groups_and_from_before_a_run_stay_as_delta_has_them_stay(
    spark: Any, settled_and_others: Any, monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    """Of group a what was settled before its third moment stays, of b nothing, of a group without news all."""
    from transforms.gold.timelines.replacing import staying

    lake = settled_and_others
    more = [transition(group, number, number < 3) for group in ("b", "without news") for number in range(5)]
    lake.add(TRANSITIONS, frame(spark, TRANSITIONS, more))
    begins = [("a", LATE.timestamp() * 1000), ("b", None)]
    groups = spark.createDataFrame(
        [(lake.cluster, group, at, True) for group, at in begins],
        "cluster STRING, group_id STRING, taken_until DOUBLE, is_in_run BOOLEAN",
    )
    same, small = twin(spark, lake), twin(spark, lake, "a small one")
    monkeypatch.setattr(same._tables, "_given", lambda *given: None)
    for each in (lake, same):
        each.replace(TRANSITIONS, frame(spark, TRANSITIONS, ROWS), CONDITIONS[condition], staying(groups))
    assert "delta-rs" in operation(lake) and "delta-rs" not in operation(same)
    assert told(lake) == told(same)
    monkeypatch.setattr("jobs.lake.small_tables.FEW_ROWS", 20_000)
    with small.brief(True):
        put = small.replace(TRANSITIONS, frame(spark, TRANSITIONS, ROWS), CONDITIONS[condition], staying(groups))
    assert put == len(ROWS), "not what stays"
    assert told(small) == told(same)
    assert len(told(lake, by_spark=True)) == {"what is not settled": 9 + 2 + 3, "all": 2 + 5 + 3}[condition]


@pytest.mark.parametrize("settled_and_others", CLUSTERS, indirect=True)
@pytest.mark.parametrize("are_replayed", [True, False], ids=["some groups are replayed", "none is"])
def test_rows_that_stay_are_settled_as_delta_settles_them(
    spark: Any, settled_and_others: Any, monkeypatch: pytest.MonkeyPatch, are_replayed: bool
) -> None:
    """Of those that were over before a moment, be they in a file with others or not."""
    from transforms.coordinator.evidence.tolerances import LOOK_AHEAD_MS
    from transforms.gold.timelines.replacing import settled_by, staying, staying_all

    lake = settled_and_others
    over = [{**transition("over", number, False), "settled_at": AT + timedelta(seconds=number)} for number in range(5)]
    for rows in (over[:1], [*over[1:], transition("open", 9, False)]):
        lake.add(TRANSITIONS, frame(spark, TRANSITIONS, rows))
    groups = spark.createDataFrame(
        [(lake.cluster, group, None, True) for group in ("a", "b")],
        "cluster STRING, group_id STRING, taken_until DOUBLE, is_in_run BOOLEAN",
    )
    stay, come = (staying(groups), ROWS) if are_replayed else (staying_all(), [])
    settling = settled_by((AT + timedelta(seconds=3)).timestamp() * 1000 + LOOK_AHEAD_MS)
    same, small = twin(spark, lake), twin(spark, lake, "a small one")
    before = len(told(lake))
    monkeypatch.setattr(same._tables, "_given", lambda *given: None)
    for each in (lake, same):
        assert each.replace(TRANSITIONS, frame(spark, TRANSITIONS, come), UNSETTLED, stay, settling) >= len(come)
    assert "delta-rs" in operation(lake) and "delta-rs" not in operation(same)
    monkeypatch.setattr("jobs.lake.small_tables.FEW_ROWS", 20_000)
    with small.brief(True):
        assert small.replace(TRANSITIONS, frame(spark, TRANSITIONS, come), UNSETTLED, stay, settling) == len(come)
    assert told(lake) == told(same) == told(small)
    assert told(lake, by_spark=True) == told(small, by_spark=True)
    rows = (
        lake.read(TRANSITIONS).where("group_id IN ('over', 'open')").select("group_id", "seq", "is_settled").collect()
    )
    expected = {("over", number, number < 3) for number in range(5)} | {("open", 9, False)}
    assert {tuple(row) for row in rows} == expected
    for each in (lake, small):
        assert each.contents.row_counts([TRANSITIONS])[TRANSITIONS.full_name] == len(told(lake))
    assert are_replayed or len(told(lake)) == before


def test_rows_are_put_in_by_key_as_delta_does_it(
    spark: Any, settled_and_others: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is changed, one is not there to be taken out, one is taken out, one is new."""
    lake, same = settled_and_others, twin(spark, settled_and_others)
    given = [
        (transition("a", 1, False), False),
        (transition("b", 1, True), True),
        (transition("a", 3, False), True),
        (transition("b", 6, True), False),
    ]
    kind = frame(spark, TRANSITIONS, []).schema.names
    parts = [frame(spark, TRANSITIONS, [row]).selectExpr("*", f"{gone} AS is_gone") for row, gone in given]
    rows = parts[0].unionByName(parts[1]).unionByName(parts[2]).unionByName(parts[3])
    assert rows.columns == [*kind, "is_gone"]
    assert lake._tables.put(TRANSITIONS, rows, "is_gone") == (1, 1)
    with lake.brief(True):
        assert lake._tables.put(TRANSITIONS, rows, "is_gone") == (0, 0), "the same once more"
    assert "delta-rs" in operation(lake)
    monkeypatch.setattr(same._tables, "_given", lambda *given: None)
    assert same._tables.put(TRANSITIONS, rows, "is_gone") == (1, 1)
    assert "delta-rs" not in operation(same)
    rest = frame(spark, TRANSITIONS, [transition("b", 6, True), transition("b", 7, False)])
    assert lake._tables.put(TRANSITIONS, rest) == (1, 0), "where nothing says what goes, nothing does"
    assert same._tables.put(TRANSITIONS, rest) == (1, 0)
    assert told(lake) == told(same)
    assert told(lake, by_spark=True) == told(same, by_spark=True)


def test_files_in_which_nothing_changes_stay(spark: Any, settled_and_others: Any) -> None:
    lake = settled_and_others
    lake.add(TRANSITIONS, frame(spark, TRANSITIONS, [transition("b", 9, True)]))
    before = {file.name for file in lake._tables._small.files(TRANSITIONS)}
    lake.replace(TRANSITIONS, frame(spark, TRANSITIONS, [transition("b", 8, True)]), "group_id IN ('b')")
    after = {file.name for file in lake._tables._small.files(TRANSITIONS)}
    assert len(before - after) == len(after - before) == 1
    assert len(told(lake)) == 6


def test_of_no_change_there_is_no_commit(spark: Any, settled_and_others: Any) -> None:
    lake = settled_and_others
    assert lake.replace(TRANSITIONS, frame(spark, TRANSITIONS, []), UNSETTLED) == 0
    assert len(told(lake)) == 3
    version = lake.version(TRANSITIONS)
    assert lake.replace(TRANSITIONS, frame(spark, TRANSITIONS, []), UNSETTLED) == 0
    assert lake.version(TRANSITIONS) == version, "a commit that changes nothing"


def test_rows_of_which_it_is_not_known_whether_they_are_settled_are_not_dropped(
    spark: Any, settled_and_others: Any
) -> None:
    lake = settled_and_others
    before = told(lake)
    rows = frame(spark, TRANSITIONS, [{**transition("b", 8, True), "is_settled": None}])
    with pytest.raises(ValueError, match=r"gold\.transitions: 1 rows are neither settled nor not"):
        lake.replace(TRANSITIONS, rows, UNSETTLED)
    assert told(lake) == before


@pytest.mark.parametrize("there", ["what is not settled", "nothing"])
def test_whoever_comes_second_is_turned_away(
    spark: Any, settled_and_others: Any, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    """Between its look at the table and its commit another one replaces the same rows, or fills it first."""
    from deltalake.exceptions import CommitFailedError

    from jobs.lake.conflicts import Overtaken
    from jobs.lake.local_tables import LocalTables
    from jobs.lake.rewriting import Rewriting, Write
    from jobs.lake.rows import few

    root, cluster = Path(settled_and_others.root), settled_and_others.cluster if there != "nothing" else "new"
    first, second = (
        few(TRANSITIONS, frame(spark, TRANSITIONS, [transition(name, 7, False)]), cluster)
        for name in ("first", "second")
    )

    def replace(rows: Any, name: str, turn: int) -> Any:
        rewriting = Rewriting(LocalTables(spark, root, cluster), TRANSITIONS)
        return rewriting.replace(rows, UNSETTLED, Write(name, ("me", turn)))

    inner, meanwhile = Rewriting._written, iter([True])

    def written(those: Any, *given: Any) -> Any:
        if next(meanwhile, False):
            assert replace(first, "first", 0) == (1, 2 if there != "nothing" else 0)
        return inner(those, *given)

    monkeypatch.setattr(Rewriting, "_written", written)
    with pytest.raises(CommitFailedError):
        replace(second, "second", 0)
    with pytest.raises(Overtaken):
        replace(second, "second", 0)
    rows = told(lake_of(spark, root, cluster))
    assert [len([row for row in rows if name in row]) for name in ("first", "second")] == [1, 0]
    assert replace(second, "second", 1) == (1, 1)
