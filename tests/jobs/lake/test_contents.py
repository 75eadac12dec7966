"""What is known of the rows of a table is not asked again, and holds no longer than it is true."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from jobs.jvm.delta_log import DeltaLog
from jobs.lake.local_log import LocalLog
from schemas.tables.bronze import LOG_LINES
from schemas.tables.silver import REJECTED
from tests.support.lines_of_logs import AT, lines, loaded

pytestmark = pytest.mark.spark


def queries(spark: Any, ask: Callable[[], Any]) -> tuple[Any, int]:
    """Return an answer, and how many Spark jobs it took."""
    group = str(uuid.uuid4())
    spark.sparkContext.setJobGroup(group, "asked")
    try:
        answer = ask()
        return answer, len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def asked(lake: Any) -> tuple[int, str | None, str]:
    name = LOG_LINES.full_name
    contents = lake.contents
    return contents.row_counts([LOG_LINES])[name], contents.newest_load([LOG_LINES])[name], contents.mark(LOG_LINES)


def test_what_is_known_of_a_table_is_not_asked_again(spark: Any, lake: Any, open_lake: Callable[..., Any]) -> None:
    lake.append(LOG_LINES, lines(spark, range(10)), AT)
    lake.append(LOG_LINES, lines(spark, range(5, 12)), AT + timedelta(days=1))
    known, jobs = queries(spark, lambda: asked(lake))
    assert known[:2] == (12, "2026-01-02T00:00:00.000000+00:00")
    assert jobs == 0, "known from the writes"
    unkept, jobs = queries(spark, lambda: asked(open_lake()))
    assert unkept[:2] == known[:2]
    assert jobs > 0
    lake.contents.keep()
    assert queries(spark, lambda: asked(open_lake())) == (known, 0), "known from the run before"


@pytest.mark.parametrize("where", ["", "line_number >= 5", "line_number >= 0"])
def test_rows_are_counted_right_after_a_replacement(
    spark: Any, lake: Any, open_lake: Callable[..., Any], where: str
) -> None:
    open_lake("other").append(LOG_LINES, lines(spark, range(100)), AT)
    lake.append(LOG_LINES, lines(spark, range(10)), AT)
    lake.append(LOG_LINES, lines(spark, range(10, 20)), AT)
    lake.replace(LOG_LINES, loaded(spark, range(17, 20)), where)
    assert asked(lake)[0] == lake.read(LOG_LINES).count()


def test_what_is_known_holds_while_others_write_and_no_longer(
    spark: Any, lake: Any, open_lake: Callable[..., Any]
) -> None:
    lake.append(LOG_LINES, lines(spark, range(10)), AT)
    before = asked(lake)
    lake.contents.keep()
    open_lake("other").append(LOG_LINES, lines(spark, range(3)), AT)
    lake.compact(LOG_LINES)
    lake.vacuum(LOG_LINES, 168)
    assert queries(spark, lambda: asked(open_lake())) == (before, 0), "neither has touched these rows"
    stranger = spark.read.format("delta").load(lake.path(LOG_LINES)).where("cluster = 'test'").limit(1)
    stranger.write.format("delta").mode("append").save(lake.path(LOG_LINES))
    count, _, mark = asked(open_lake())
    assert (count, mark != before[2]) == (11, True)


def test_what_was_known_of_a_table_goes_with_it(spark: Any, lake: Any, open_lake: Callable[..., Any]) -> None:
    lake.append(LOG_LINES, lines(spark, range(10)), AT)
    lake.contents.note_passed(LOG_LINES, "checks 1")
    lake.contents.keep()
    assert open_lake().contents.has_passed(LOG_LINES, "checks 1")
    assert not open_lake().contents.has_passed(LOG_LINES, "checks 2")
    shutil.rmtree(lake.path(LOG_LINES))
    assert asked(open_lake())[:2] == (0, None)
    again = open_lake()
    again.append(LOG_LINES, lines(spark, range(2)), AT)
    assert asked(again)[0] == 2
    assert not again.contents.has_passed(LOG_LINES, "checks 1")


def test_rows_that_changed_have_to_pass_again(spark: Any, lake: Any) -> None:
    for change in (
        lambda: lake.append(LOG_LINES, lines(spark, range(3)), AT),
        lambda: lake.update(LOG_LINES, lines(spark, range(1), text="y"), ["text"], AT),
        lambda: lake.replace(LOG_LINES, loaded(spark, range(1))),
    ):
        change()
        assert not lake.contents.has_passed(LOG_LINES, "checks")
        lake.contents.note_passed(LOG_LINES, "checks")
        assert lake.contents.has_passed(LOG_LINES, "checks")


def test_what_is_derived_from_tables_is_derived_once(spark: Any, lake: Any, open_lake: Callable[..., Any]) -> None:
    lake.append(LOG_LINES, lines(spark, range(2)), AT)
    made: list[int] = []

    def derive(lake: Any, how: str) -> Any:
        return lake.contents.derived("lines", [LOG_LINES, REJECTED], how, lambda: made.append(1) or len(made))

    assert [derive(lake, "a"), derive(open_lake(), "a"), derive(lake, "b")] == [1, 1, 2]
    lake.append(LOG_LINES, lines(spark, range(2, 3)), AT)
    assert derive(lake, "b") == 3


def test_load_times_never_go_back(spark: Any, lake: Any, open_lake: Callable[..., Any]) -> None:
    ahead = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(days=1)
    lake.append(LOG_LINES, lines(spark, range(1)), ahead)
    for run in (lake, open_lake()):
        assert run.contents.next_load_time([LOG_LINES, REJECTED]) == ahead + timedelta(milliseconds=1)


def test_commits_that_are_gone_by_now_are_not_known(
    spark: Any, lake: Any, open_lake: Callable[..., Any], tmp_path: Path
) -> None:
    """Delta lets go of its log after a month; a cluster may have rested for longer, on a lake of several."""
    lake.append(LOG_LINES, lines(spark, range(10)), AT)
    known = asked(lake)
    lake.contents.keep()
    for number in range(3):
        open_lake("other").append(LOG_LINES, lines(spark, range(number, number + 1)), AT + timedelta(days=number))
    lake.append(LOG_LINES, lines(spark, range(10, 12)), AT + timedelta(days=9))
    path = lake.path(LOG_LINES)
    table = DeltaTable(path)
    table.create_checkpoint()
    for version in range(table.version()):
        (Path(path) / "_delta_log" / f"{version:020}.json").unlink()
    logs = (LocalLog(Path(path)), DeltaLog(spark, path))
    assert [[commit.version for commit in log.commits(0)] for log in logs] == [[], []]
    assert [[commit.version for commit in log.commits(table.version() - 1)] for log in logs] == [[table.version()]] * 2
    later = open_lake()
    assert asked(later)[0] == 12
    assert asked(later)[2] != known[2]


@pytest.mark.parametrize("odd", [b'{"bronze.log_lines": {"of": "another release"}}', b"\xff\xfe", b"[", b"7"])
def test_notes_that_are_none_are_taken_for_absent(
    spark: Any, lake: Any, open_lake: Callable[..., Any], tmp_path: Path, odd: bytes
) -> None:
    lake.append(LOG_LINES, lines(spark, range(10)), AT)
    lake.contents.keep()
    (note,) = tmp_path.rglob("contents.json")
    note.write_bytes(odd)
    assert asked(open_lake())[0] == 10
