"""Tables of a local disk that are not small are read by Spark without Delta: with the rows that Delta reads."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from jobs.lake import spark_files
from jobs.lake.lake import Lake
from tests.support.written_rows import RECORDS, TRANSITIONS, frame, lake_of, record, told, transition

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_table_is_small")]

AT = datetime(2026, 1, 1, tzinfo=timezone.utc)
ODD = ("it's", "a/b 1%", "läke", "a=b", "50%20", "1", "x:y#z")
"""Names of clusters: a folder's name has them in other letters."""


@pytest.fixture
def by_delta(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let Delta read from now on."""
    return lambda: monkeypatch.setattr(spark_files, "MOST_FILES", -1)


def rows(lake: Lake, spec: Any) -> list[str]:
    return sorted(str(row) for row in lake.read(spec).collect())


def is_by_delta(lake: Lake, spec: Any) -> bool:
    scan = lake.read(spec)._jdf.queryExecution().analyzed().collectLeaves().head()
    index: str = scan.relation().location().getClass().getName()
    return "delta" in index


@pytest.mark.parametrize(("folder", "is_brief"), [("a {la} ke*", True), ("läke #1", False)])
def test_in_any_folder_the_rows_of_each_cluster_are_those_that_delta_reads(
    spark: Any, tmp_path: Path, folder: str, is_brief: bool, by_delta: Callable[[], None]
) -> None:
    some = [transition("a", number, number < 3) for number in range(5)]
    lakes = [lake_of(spark, tmp_path / folder, cluster) for cluster in ODD]
    for number, lake in enumerate(lakes):
        with lake.brief(is_brief):
            lake.replace(TRANSITIONS, frame(spark, TRANSITIONS, some[: 1 + number % 5]))
    found = [rows(lake, TRANSITIONS) for lake in lakes]
    assert [len(each) for each in found] == [1 + number % 5 for number in range(len(ODD))]
    by_delta()
    assert [rows(lake_of(spark, tmp_path / folder, cluster), TRANSITIONS) for cluster in ODD] == found


def test_a_name_that_is_no_pattern_takes_no_delta(spark: Any, tmp_path: Path) -> None:
    for cluster in ("plain", "1", "a-b.c_d"):
        lake = lake_of(spark, tmp_path / "a läke", cluster)
        lake.replace(TRANSITIONS, frame(spark, TRANSITIONS, [transition("a", 0, True), transition("a", 1, False)]))
        assert not is_by_delta(lake, TRANSITIONS)
        settled = lake.read(TRANSITIONS).where("is_settled")
        assert [row.cluster for row in settled.collect()] == [cluster]
        assert settled.rdd.getNumPartitions() == 1, "files of what is not settled are not opened"


def test_what_is_written_is_read_the_next_time_and_not_by_whoever_asked_before(spark: Any, tmp_path: Path) -> None:
    lake = lake_of(spark, tmp_path, "c")
    for number in range(3):
        before = lake.read(RECORDS)
        assert lake.append(RECORDS, frame(spark, RECORDS, [record(0, number)]), AT + timedelta(hours=number)) == 1
        assert lake.read(RECORDS) is lake.read(RECORDS), "it is found out once"
        assert (before.count(), lake.read(RECORDS).count()) == (number, number + 1)
    assert lake.delete(RECORDS, "record_offset = 1") == 1
    assert sorted(row.record_offset for row in lake.read(RECORDS).collect()) == [0, 2]
    lake.delete(RECORDS, "true")
    assert lake.read(RECORDS).count() == 0


def test_of_many_files_delta_knows_which_ones_to_open(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_files, "MOST_FILES", 2)
    lake = lake_of(spark, tmp_path, "c")
    for number in range(3):
        lake.append(RECORDS, frame(spark, RECORDS, [record(0, number)]), AT + timedelta(hours=number))
        assert is_by_delta(lake, RECORDS) == (number == 2)
    assert rows(lake, RECORDS) == told(lake, RECORDS, by_spark=True)
