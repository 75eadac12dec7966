"""What the lake promises to the jobs: nothing twice, no version without a change, progress that goes with tables."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from schemas.tables.bronze import LOG_LINES
from schemas.tables.gold import GENERATIONS
from schemas.tables.silver import REJECTED
from tests.support.lines_of_logs import AT, lines, loaded
from transforms.errors import LakeError

pytestmark = pytest.mark.spark


def test_rows_come_in_once(spark: Any, lake: Any) -> None:
    assert lake.append(LOG_LINES, lines(spark, range(10)), AT) == 10
    assert lake.append(LOG_LINES, lines(spark, range(5, 15), text="another text"), AT) == 5
    assert lake.read(LOG_LINES).count() == 15
    assert lake.read(LOG_LINES).where("text = 'x'").count() == 10


def test_nothing_new_leaves_no_version(spark: Any, lake: Any) -> None:
    lake.append(LOG_LINES, lines(spark, range(10)), AT)
    version = lake.version(LOG_LINES)
    later = AT + timedelta(days=1)
    assert lake.append(LOG_LINES, lines(spark, range(10)), later) == 0
    assert lake.append(LOG_LINES, lines(spark, range(0)), later) == 0
    assert lake.replace(LOG_LINES, loaded(spark, range(0)), "false") == 0
    assert lake.update(LOG_LINES, lines(spark, range(10)), ["text"], later) == 0
    assert lake.version(LOG_LINES) == version


def test_empty_rows_still_make_the_table(spark: Any, lake: Any) -> None:
    assert lake.append(LOG_LINES, lines(spark, range(0)), AT) == 0
    assert lake.exists(LOG_LINES)
    assert lake.read(GENERATIONS).count() == 0, "a table that is not there reads as empty"
    assert lake.append(LOG_LINES, lines(spark, range(3)), AT) == 3


def test_tables_carry_comments_and_not_null(spark: Any, lake: Any) -> None:
    lake.create([LOG_LINES])
    fields = {field.name: field for field in spark.read.format("delta").load(lake.path(LOG_LINES)).schema}
    assert fields["text"].metadata["comment"] == LOG_LINES.column("text").meaning
    assert not fields["line_number"].nullable
    assert fields["logged_at"].nullable


def test_replace_touches_only_what_it_selects(spark: Any, lake: Any) -> None:
    lake.append(LOG_LINES, lines(spark, range(10)), AT)
    assert lake.replace(LOG_LINES, loaded(spark, range(8, 12), text="new"), "line_number >= 8") == 4
    texts = {row.line_number: row.text for row in lake.read(LOG_LINES).collect()}
    assert texts == {**dict.fromkeys(range(8), "x"), **dict.fromkeys(range(8, 12), "new")}


def test_clusters_do_not_see_each_other(spark: Any, open_lake: Callable[..., Any]) -> None:
    lake, other = open_lake(), open_lake("o'th/er")
    lake.append(LOG_LINES, lines(spark, range(3)), AT)
    assert other.append(LOG_LINES, lines(spark, range(3)), AT) == 3
    assert other.replace(LOG_LINES, loaded(spark, range(1))) == 1
    assert lake.update(LOG_LINES, lines(spark, range(3), text="y"), ["text"], AT) == 3
    assert lake.read(LOG_LINES).count() == 3
    assert [row.text for row in other.read(LOG_LINES).collect()] == ["x"]
    other.progress.note("step", [LOG_LINES], {"a": "it's"})
    assert other.progress.of("step", [LOG_LINES]) == {"a": "it's"}
    assert lake.progress.of("step", [LOG_LINES]) is None


def test_update_changes_what_differs(spark: Any, lake: Any) -> None:
    lake.append(LOG_LINES, lines(spark, range(4)), AT)
    assert lake.update(LOG_LINES, lines(spark, range(1, 3), text="y"), ["text"], AT + timedelta(days=1)) == 2
    assert {row.line_number for row in lake.read(LOG_LINES).where("text = 'y'").collect()} == {1, 2}
    assert {row.line_number for row in lake.read(LOG_LINES).where(f"loaded_at > '{AT}'").collect()} == {1, 2}


def test_columns_that_do_not_fit_are_a_bug(spark: Any, lake: Any) -> None:
    with pytest.raises(ValueError, match="log_lines.*text"):
        lake.append(LOG_LINES, lines(spark, range(1)).drop("text"), AT)


# --- progress ---


def test_progress_is_kept_and_goes_with_the_tables(spark: Any, lake: Any, open_lake: Callable[..., Any]) -> None:
    outputs = [LOG_LINES, REJECTED]
    lake.create(outputs)
    assert lake.progress.of("step", outputs) is None
    lake.progress.note("step", outputs, {"bronze.x": "2026-01-01"})
    assert open_lake().progress.of("step", outputs) == {"bronze.x": "2026-01-01"}
    shutil.rmtree(lake.path(LOG_LINES))
    assert open_lake().progress.of("step", outputs) is None, "with a table gone, all has to be done again"


def test_a_table_made_anew_by_a_run_that_was_cut_off_makes_the_step_begin_anew(
    spark: Any, lake: Any, open_lake: Callable[..., Any]
) -> None:
    lake.create([LOG_LINES, REJECTED])
    lake.progress.note("step", [LOG_LINES, REJECTED], {"files": ["a"]})
    shutil.rmtree(lake.path(LOG_LINES))
    open_lake().create([LOG_LINES])  # and then the run was killed
    assert open_lake().progress.of("step", [LOG_LINES, REJECTED]) is None


def test_gold_that_is_declared_otherwise_by_now_makes_the_step_begin_anew(
    lake: Any, open_lake: Callable[..., Any]
) -> None:
    """The next run puts an empty table in its place, and would fill it with what is new alone."""
    lake.create([LOG_LINES, GENERATIONS])
    for spec in (LOG_LINES, GENERATIONS):
        lake.progress.note(spec.name, [spec], {"newest": 1})
    wider = {spec: replace(spec, columns=(*spec.columns, "advice")) for spec in (LOG_LINES, GENERATIONS)}
    later = open_lake().progress
    assert later.of(LOG_LINES.name, [wider[LOG_LINES]]) == {"newest": 1}, "its rows stay, and have nothing there"
    assert later.of(GENERATIONS.name, [wider[GENERATIONS]]) is None
    assert later.of(GENERATIONS.name, [GENERATIONS]) == {"newest": 1}


def test_notes_leave_tables_alone(spark: Any, lake: Any) -> None:
    lake.create([LOG_LINES])
    version = lake.version(LOG_LINES)
    lake.progress.note("step", [LOG_LINES], {"a": 1})
    lake.contents.keep()
    assert lake.version(LOG_LINES) == version


def test_a_note_that_was_cut_off_is_no_note(spark: Any, lake: Any, tmp_path: Path) -> None:
    lake.create([LOG_LINES])
    lake.progress.note("step", [LOG_LINES], {"a": 1})
    (note,) = (tmp_path / "lake" / "_notes").rglob("step.json")
    note.write_text(note.read_text()[:20])
    note.with_name(".step.json.crc").unlink(missing_ok=True)
    assert lake.progress.of("step", [LOG_LINES]) is None


# --- the lake as a whole ---


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
    lake.append(LOG_LINES, lines(spark, range(2)), AT)
    try:
        assert spark.table("rebalance_test.log_lines").count() == 2
    finally:
        spark.sql("DROP DATABASE rebalance_test CASCADE")
