"""Runs with few rows read and write in ways of their own: what comes of them is what comes of runs with many."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deltalake.exceptions import DeltaError

from jobs import rebuild_timelines
from jobs.quality.gate import MOST_AT_HAND
from schemas.tables.bronze import LOG_LINES
from schemas.tables.gold import REPLAYED
from tests.support.lakes import arguments, comparable, fill, rows_of
from tests.support.lines_of_logs import AT, lines, loaded

pytestmark = pytest.mark.spark


@pytest.fixture
def spark_alone(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let nothing be few from now on."""

    def many() -> None:
        for module in ("ingest_logs", "ingest_offsets"):
            monkeypatch.setattr(f"jobs.{module}.FEW_BYTES", -1)
        monkeypatch.setattr("jobs.run_pipeline.FEW_ROWS", -1)
        monkeypatch.setattr("jobs.ingest_offsets.FEW_ROWS", -1)
        monkeypatch.setattr("jobs.lake.small_tables.FEW_ROWS", -1)
        monkeypatch.setattr("jobs.lake.found_rows.MOST_BYTES", -1)
        monkeypatch.setattr("jobs.lake.found_rows.MOST_BYTES_PICKED", -1)
        monkeypatch.setattr("jobs.quality.gate.MOST_AT_HAND", -1)

    return many


def test_a_lake_is_the_same_whether_its_rows_are_taken_for_few_or_for_many(
    spark: Any,
    tmp_path: Path,
    capture_dir: Callable[[str], Path],
    lake_rows: Callable[[str], dict[str, list[dict[str, Any]]]],
    spark_alone: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of many rows, workers of this machine write those that they make into files; those of others hand them on."""
    few, capture = lake_rows("kafka-4.2.0"), capture_dir("kafka-4.2.0")
    spark_alone()
    fill(tmp_path / "many", capture)
    many = rows_of(tmp_path / "many")
    monkeypatch.setattr("jobs.frame.keeping.Keep.folder", lambda *_: None)
    monkeypatch.setattr("jobs.quality.gate.MOST_AT_HAND", MOST_AT_HAND)  # what Spark says of rows: tests of the gate
    assert rebuild_timelines.main([*arguments(tmp_path / "many", capture), "--all"]) == 0
    by_others = rows_of(tmp_path / "many")
    assert many["generations"]
    assert many["rebalance_storms"] and many["illegal_generation_bursts"]
    for table in many:
        assert comparable(few[table]) == comparable(many[table]) == comparable(by_others[table]), table


def test_little_news_of_many_groups_may_have_much_told_anew(
    spark: Any,
    tmp_path: Path,
    capture_dir: Callable[[str], Path],
    lake_rows: Callable[[str], dict[str, list[dict[str, Any]]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What such a run reads is at hand, and what it replays is in files."""
    expected, root = lake_rows("kafka-4.2.0"), tmp_path / "lake"
    capture = Path(shutil.copytree(capture_dir("kafka-4.2.0"), tmp_path / "capture"))
    whole = {log: log.read_bytes() for log in (capture / "broker_logs").rglob("*.log*")}
    for log, text in whole.items():
        lines_there = text.splitlines(keepends=True)
        log.write_bytes(b"".join(lines_there[: len(lines_there) // 2]))
    fill(root, capture)
    for log, text in whole.items():
        log.write_bytes(text)
    monkeypatch.setattr("jobs.rebuild_timelines.FEW_ROWS", -1)
    fill(root, capture)
    found = rows_of(root)
    for spec in REPLAYED:
        assert comparable(found[spec.name]) == comparable(expected[spec.name]), spec.name


@pytest.mark.parametrize("folder", ["lake", "a la ke", "läke", "50 % lake", "50%20lake"])
def test_any_folder_and_any_cluster_will_do(spark: Any, tmp_path: Path, folder: str) -> None:
    from jobs.lake.lake import Lake

    for cluster in ("it's", "a/b 1%"):
        lake = Lake(spark, str(tmp_path / folder), "", cluster)
        with lake.brief(True):
            assert lake.append(LOG_LINES, lines(spark, range(4)), AT) == 4
            assert lake.replace(LOG_LINES, loaded(spark, range(2, 3), "y"), "line_number >= 2") == 1
        read = Lake(spark, str(tmp_path / folder), "", cluster).read(LOG_LINES)
        assert sorted((row.line_number, row.text) for row in read.collect()) == [(0, "x"), (1, "x"), (2, "y")]
    by_spark = spark.read.format("delta").load(lake.path(LOG_LINES))
    assert by_spark.count() == 6


def test_a_table_that_outgrows_few_rows_is_written_all_the_same(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jobs.lake.lake import Lake

    monkeypatch.setattr("jobs.lake.small_tables.FEW_ROWS", 10)
    lake = Lake(spark, str(tmp_path / "lake"), "", "c")
    with lake.brief(True):
        for start in range(0, 24, 8):
            assert lake.append(LOG_LINES, lines(spark, range(start, start + 8)), AT) == 8
            assert lake.append(LOG_LINES, lines(spark, range(start, start + 8)), AT) == 0
        assert lake.replace(LOG_LINES, loaded(spark, range(20, 21), "y"), "line_number >= 4") == 1
        assert lake.read(LOG_LINES).count() == 5
        assert lake.contents.row_counts([LOG_LINES]) == {LOG_LINES.full_name: 5}
        assert lake.replace(LOG_LINES, loaded(spark, range(1), "z")) == 1
    assert [row.text for row in lake.read(LOG_LINES).collect()] == ["z"]


def test_a_row_without_its_key_is_a_bug_that_no_table_takes(spark: Any, tmp_path: Path) -> None:
    from jobs.lake.lake import Lake

    lake = Lake(spark, str(tmp_path / "lake"), "", "c")
    bad = loaded(spark, range(1)).selectExpr("* EXCEPT (line_number)", "CAST(NULL AS BIGINT) AS line_number")
    lake.create([LOG_LINES])
    with lake.brief(True), pytest.raises(DeltaError, match="failed validation"):
        lake.replace(LOG_LINES, bad)
    assert lake.read(LOG_LINES).count() == 0
