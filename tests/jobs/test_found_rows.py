"""Few rows out of a large table are the same, whether DuckDB or Spark looks for them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from schemas.catalog import BY_NAME
from schemas.spark import struct_type
from transforms.wanted_rows import Wanted

pytestmark = pytest.mark.spark

LINES = BY_NAME["coordinator_events"]
TRANSITIONS = BY_NAME["transitions"]
BEGIN_US = 1_767_225_600_000_000

WANTED = {
    "all": Wanted(),
    "of groups": Wanted(["it's", "b%"]),
    "of no group": Wanted([]),
    "late": Wanted(None, {"settled_at": BEGIN_US + 5_000_001}),
    "late, of groups": Wanted(["a"], {"settled_at": BEGIN_US + 5_000_000}),
    "late, or of a group": Wanted(["a", "b%"], {"settled_at": BEGIN_US + 8_000_000}, {"group_id": ["b%"]}),
    "late, or of some generations": Wanted(None, {"settled_at": BEGIN_US + 8_000_000}, {"generation": [1, 3]}),
    "late, or of none": Wanted(None, {"settled_at": BEGIN_US + 8_000_000}, {"generation": []}),
    "late by either of two moments": Wanted(None, {"settled_at": BEGIN_US + 9_000_000, "at": BEGIN_US + 3_000_000}),
    "late, some columns": Wanted(None, {"settled_at": BEGIN_US + 8_000_000}, columns=("seq", "cluster", "at")),
}

BESIDE = [("c's", "a", 4), ("c's", "it's", None)]
"""Of one group from which generation on rows are wanted, of another that this is not known, of the third nothing."""


def _rows(spark: Any) -> Any:
    """Return rows of three groups; those of the last seconds are not settled yet, and some know no moment."""
    names = ("cluster", "group_id", "life", "seq", "generation", "at", "settled_at", "is_settled", "source")
    values = [
        (
            "c's",
            group,
            1,
            second,
            second,
            None if second == 2 else _moment(10 - second),
            None if second > 6 else _moment(second),
            second <= 6,
            "record",
        )
        for group in ("a", "it's", "b%")
        for second in range(10)
    ]
    kind = struct_type(TRANSITIONS)
    known = [dict(zip(names, row, strict=True)) for row in values]
    filler = {"to_state": "Stable", "event": "record", "is_inferred": False, "group_type": "classic"}
    rows = [tuple({**filler, **row}.get(name) for name in kind.names) for row in known]
    return spark.createDataFrame(rows, kind.toNullable())


def _moment(second: int) -> datetime:
    return datetime.fromtimestamp(BEGIN_US / 1_000_000 + second, timezone.utc)


@pytest.fixture(scope="module")
def lake(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    from jobs.lake.lake import Lake

    lake = Lake(spark, str(tmp_path_factory.mktemp("a lake's")), "", "c's")
    lake.replace(TRANSITIONS, _rows(spark))
    Lake(spark, lake.root, "", "other").replace(TRANSITIONS, _rows(spark).drop("cluster"))
    return lake


@pytest.fixture(params=[True, False], ids=["small", "large"])
def is_small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the table is small, so that its rows are at hand; of a large one there are its files."""
    if not request.param:
        monkeypatch.setattr("jobs.lake.small_tables.FEW_ROWS", -1)
    return bool(request.param)


@pytest.mark.parametrize("name", WANTED)
def test_duckdb_finds_the_rows_that_spark_finds(lake: Any, name: str, is_small: bool) -> None:
    from transforms.given_rows import rows_held

    by_spark = WANTED[name].of(lake.read(TRANSITIONS))
    found = _found_in(lake, WANTED[name])
    assert rows_held(found) is not None, "nobody looked for them without Spark"
    assert found.schema == WANTED[name].kind_of(TRANSITIONS)
    assert found.columns == list(WANTED[name].columns or TRANSITIONS.columns)
    assert sorted(map(str, found.collect())) == sorted(map(str, by_spark.collect()))
    assert (found.count() > 0) == (name != "of no group")


def _wanted_beside(spark: Any) -> Wanted:
    from transforms.given_rows import given

    rows = [dict(zip(("cluster", "group_id", "wanted_from"), row, strict=True)) for row in BESIDE]
    beside = given(spark, "cluster STRING, group_id STRING, wanted_from INT", rows)
    return Wanted(["a", "it's"], beside=beside, where="wanted_from IS NULL OR generation >= wanted_from")


def test_rows_are_wanted_by_what_lies_beside_them(spark: Any, lake: Any, is_small: bool) -> None:
    from transforms.given_rows import rows_held

    wanted = _wanted_beside(spark)
    by_spark = wanted.of(lake.read(TRANSITIONS))
    found = _found_in(lake, wanted)
    assert rows_held(found) is not None
    assert sorted(map(str, found.collect())) == sorted(map(str, by_spark.collect()))
    assert found.count() == 6 + 10


def _found_in(lake: Any, wanted: Wanted, keep: Any = None) -> Any:
    """Return the rows, as one finds them who is about to write little, and has read nothing of the lake yet."""
    from jobs.lake.lake import Lake

    another = Lake(lake.spark, lake.root, "", lake.cluster)
    with another.brief(True):
        return another.some(TRANSITIONS, wanted, keep)


@pytest.mark.parametrize("columns", [(), ("seq", "cluster", "at")], ids=["all columns", "some columns"])
def test_too_many_rows_beside_others_are_picked_into_a_file(
    spark: Any, lake: Any, monkeypatch: pytest.MonkeyPatch, columns: tuple[str, ...]
) -> None:
    from jobs.frame.keeping import keeping
    from jobs.frame.row_files import files_of
    from jobs.lake.duckdb_files import connected, without_spark

    wanted = replace(_wanted_beside(spark), columns=columns)
    by_spark = sorted(map(str, wanted.of(lake.read(TRANSITIONS)).collect()))
    monkeypatch.setattr("jobs.lake.small_tables.FEW_ROWS", -1)
    monkeypatch.setattr("jobs.lake.found_rows.MOST_ROWS", 5)
    with keeping() as keep:
        found = _found_in(lake, wanted, keep)
        assert len(files_of(found) or ()) == 1
        assert found.columns == list(columns or TRANSITIONS.columns)
        assert sorted(map(str, found.collect())) == by_spark
        assert without_spark(_found_in(lake, wanted)) is None, "nobody keeps them"
        monkeypatch.setattr("jobs.lake.found_rows.MOST_BYTES_PICKED", 5)
        for where, count in ((wanted, 6 + 10), (Wanted(["a"]), 10)):  # too much to be picked from; nothing beside them
            asked = _found_in(lake, where, keep)
            assert files_of(asked) is None
            with connected() as connection:
                assert connection.sql(f"SELECT count(*) FROM ({without_spark(asked)})").fetchall() == [(count,)]
            assert sorted(map(str, asked.collect())) == sorted(map(str, where.of(lake.read(TRANSITIONS)).collect()))


def test_too_many_rows_are_left_to_spark(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from transforms.given_rows import rows_held

    monkeypatch.setattr("jobs.lake.small_tables.FEW_ROWS", -1)
    for limit in ("MOST_ROWS", "MOST_BYTES"):
        with monkeypatch.context() as patch:
            patch.setattr(f"jobs.lake.found_rows.{limit}", 5)
            found = _found_in(lake, Wanted(["a"]))
            assert rows_held(found) is None
            assert found.count() == 10


def test_of_a_table_that_is_not_there_nobody_asks_spark(lake: Any) -> None:
    from schemas.tables.silver import GROUP_REQUESTS
    from transforms.given_rows import rows_held

    none = lake.some(GROUP_REQUESTS, Wanted(where="error = 'NONE'", columns=("group_id", "error")))
    assert none.columns == ["group_id", "error"]
    assert rows_held(none).num_rows == 0
