"""What the lake promises to the jobs: nothing twice, no version without a change, progress that goes with the table."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from schemas.catalog import BY_NAME
from transforms.errors import LakeError

pytestmark = pytest.mark.spark

REJECTED = BY_NAME["rejected"]
LOG_LINES = BY_NAME["log_lines"]


@pytest.fixture
def lake(spark: Any, tmp_path: Path) -> Any:
    from jobs.lake.lake import Lake

    return Lake(spark, str(tmp_path / "lake"), "", "test")


def lines(spark: Any, numbers: range, text: str = "x", at: datetime | None = None) -> Any:
    at = at or datetime(2026, 1, 1, tzinfo=timezone.utc)
    rows = [("b1", "server.log", number, at, text, at) for number in numbers]
    schema = (
        "broker string, source_file string, line_number bigint, logged_at timestamp, text string, loaded_at timestamp"
    )
    return spark.createDataFrame(rows, schema)


def test_rows_come_in_once(spark: Any, lake: Any) -> None:
    assert lake.append_new(LOG_LINES, lines(spark, range(10))) == 10
    assert lake.append_new(LOG_LINES, lines(spark, range(5, 15), text="another text")) == 5
    assert lake.read(LOG_LINES).count() == 15
    assert lake.read(LOG_LINES).where("text = 'x'").count() == 10


def test_nothing_new_leaves_no_version(spark: Any, lake: Any) -> None:
    lake.append_new(LOG_LINES, lines(spark, range(10)))
    version = lake.version(LOG_LINES)
    assert lake.append_new(LOG_LINES, lines(spark, range(10))) == 0
    assert lake.append_new(LOG_LINES, lines(spark, range(0))) == 0
    assert lake.replace(LOG_LINES, lines(spark, range(0)), "line_number > 100") == 0
    assert lake.update(LOG_LINES, lines(spark, range(10)), ["text"]) == 0
    assert lake.version(LOG_LINES) == version


def test_empty_rows_still_make_the_table(spark: Any, lake: Any) -> None:
    assert lake.append_new(LOG_LINES, lines(spark, range(0))) == 0
    assert lake.exists(LOG_LINES)
    assert lake.read(BY_NAME["generations"]).count() == 0, "a table that is not there reads as empty"


def test_tables_carry_comments_and_not_null(spark: Any, lake: Any) -> None:
    lake.create([LOG_LINES])
    fields = {field.name: field for field in spark.read.format("delta").load(lake.path(LOG_LINES)).schema}
    assert fields["text"].metadata["comment"] == LOG_LINES.column("text").meaning
    assert not fields["line_number"].nullable
    assert fields["logged_at"].nullable


def test_replace_touches_only_what_it_selects(spark: Any, lake: Any) -> None:
    lake.append_new(LOG_LINES, lines(spark, range(10)))
    assert lake.replace(LOG_LINES, lines(spark, range(8, 12), text="new"), "line_number >= 8") == 4
    texts = {row.line_number: row.text for row in lake.read(LOG_LINES).collect()}
    assert texts == {**dict.fromkeys(range(8), "x"), **dict.fromkeys(range(8, 12), "new")}


def test_clusters_do_not_see_each_other(spark: Any, lake: Any) -> None:
    from jobs.lake.lake import Lake

    other = Lake(spark, lake.root, "", "o'ther")
    lake.append_new(LOG_LINES, lines(spark, range(3)))
    assert other.append_new(LOG_LINES, lines(spark, range(3))) == 3
    assert other.replace(LOG_LINES, lines(spark, range(1))) == 1
    assert lake.read(LOG_LINES).count() == 3
    assert other.read(LOG_LINES).count() == 1
    other.note_progress("step", [LOG_LINES], {"a": "it's"})
    assert other.progress("step", [LOG_LINES]) == {"a": "it's"}
    assert lake.progress("step", [LOG_LINES]) is None


def test_update_changes_what_differs(spark: Any, lake: Any) -> None:
    lake.append_new(LOG_LINES, lines(spark, range(4)))
    assert lake.update(LOG_LINES, lines(spark, range(1, 3), text="y"), ["text"]) == 2
    assert {row.line_number for row in lake.read(LOG_LINES).where("text = 'y'").collect()} == {1, 2}


def test_progress_is_kept_and_goes_with_the_tables(spark: Any, lake: Any) -> None:
    import shutil

    outputs = [LOG_LINES, REJECTED]
    lake.create(outputs)
    assert lake.progress("step", outputs) is None
    lake.note_progress("step", outputs, {"bronze.x": "2026-01-01"})
    version = lake.version(REJECTED)
    lake.note_progress("step", outputs, {"bronze.x": "2026-01-01"})
    assert lake.version(REJECTED) == version
    assert lake.progress("step", outputs) == {"bronze.x": "2026-01-01"}
    shutil.rmtree(lake.path(LOG_LINES))
    assert lake.progress("step", outputs) is None, "with a table gone, all has to be done again"


def test_load_times_never_go_back(spark: Any, lake: Any) -> None:
    ahead = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(days=1)
    lake.append_new(LOG_LINES, lines(spark, range(1), at=ahead))
    assert lake.next_load_time([LOG_LINES]) == ahead + timedelta(milliseconds=1)


def test_columns_that_do_not_fit_are_a_bug(spark: Any, lake: Any) -> None:
    with pytest.raises(ValueError, match="log_lines.*text"):
        lake.append_new(LOG_LINES, lines(spark, range(1)).drop("text"))


def test_a_root_that_is_a_file_cannot_be_reached(spark: Any, tmp_path: Path) -> None:
    from jobs.lake.lake import Lake

    (tmp_path / "file").write_text("x")
    with pytest.raises(LakeError, match="cannot be reached"):
        Lake(spark, str(tmp_path / "file" / "lake"), "", "test").open()
    with pytest.raises(LakeError, match="cannot be reached"):
        Lake(spark, "nosuch://host/lake", "", "test").open()


def test_tables_are_registered_by_name(spark: Any, tmp_path: Path) -> None:
    from jobs.lake.lake import Lake

    lake = Lake(spark, str(tmp_path / "lake"), "rebalance_test", "test")
    lake.open()
    lake.append_new(LOG_LINES, lines(spark, range(2)))
    try:
        assert spark.table("rebalance_test.log_lines").count() == 2
    finally:
        spark.sql("DROP DATABASE rebalance_test CASCADE")
