"""What the lake promises to the jobs: nothing twice, no version without a change, progress that goes with tables."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from schemas.catalog import BY_NAME
from transforms.errors import LakeError

pytestmark = pytest.mark.spark

REJECTED = BY_NAME["rejected"]
LOG_LINES = BY_NAME["log_lines"]
AT = datetime(2026, 1, 1, tzinfo=timezone.utc)


@pytest.fixture(params=["many rows", "few rows"])
def open_lake(request: pytest.FixtureRequest, spark: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open the lake as another run would, which knows nothing but what is written down."""
    from jobs.lake.lake import Lake

    with ExitStack() as stack:

        def opened(cluster: str = "test") -> Any:
            lake = Lake(spark, str(tmp_path / "lake"), "", cluster)
            stack.enter_context(lake.brief(request.param == "few rows"))
            return lake

        yield opened


@pytest.fixture
def lake(open_lake: Callable[..., Any]) -> Any:
    return open_lake()


def lines(spark: Any, numbers: range, text: str = "x") -> Any:
    rows = [("b1", "server.log", number, AT, text) for number in numbers]
    schema = "broker string, source_file string, line_number bigint, logged_at timestamp, text string"
    return spark.createDataFrame(rows, schema)


def loaded(spark: Any, numbers: range, text: str = "x") -> Any:
    return lines(spark, numbers, text).selectExpr("*", "logged_at AS loaded_at")


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
    assert lake.read(BY_NAME["generations"]).count() == 0, "a table that is not there reads as empty"
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


# --- writers that meet, with nothing but Delta between them ---


@pytest.fixture(params=["Spark", "delta-rs"])
def writer(request: pytest.FixtureRequest, spark: Any, tmp_path: Path) -> Callable[..., Any]:
    """A writer of a cluster's tables that no lock keeps from meeting others."""
    from jobs.lake.tables import Tables

    folder = tmp_path / "lake"

    def opened(cluster: str = "test") -> Any:
        is_brief = request.param == "delta-rs"
        tables = Tables(
            spark, str(folder), "", cluster, lambda spec: nullcontext(), folder=folder if is_brief else None
        )
        tables.is_brief = is_brief
        return tables

    return opened


def test_of_writers_that_all_saw_an_empty_table_one_fills_it(spark: Any, writer: Callable[..., Any]) -> None:
    writers = [writer() for _ in range(4)]
    writers[0].create(LOG_LINES)
    with ThreadPoolExecutor(len(writers)) as threads:
        counts = list(threads.map(lambda each: each.append_new(LOG_LINES, loaded(spark, range(20))), writers))
    assert sorted(counts) == [0, 0, 0, 20]
    assert writers[0].read(LOG_LINES).count() == 20


@pytest.mark.parametrize("there", [0, 5])
def test_an_append_that_looked_at_an_older_table_is_done_again(
    spark: Any, writer: Callable[..., Any], there: int
) -> None:
    """What the other one adds in between is seen by the second try."""
    slow, fast = writer(), writer()
    slow.create(LOG_LINES)
    slow.append_new(LOG_LINES, loaded(spark, range(there)))
    append, tries = slow._append, []

    def overtaken(*arguments: Any) -> Any:
        tries.append(arguments)
        if len(tries) == 1:
            assert fast.append_new(LOG_LINES, loaded(spark, range(there, 8))) == 8 - there
        return append(*arguments)

    slow._append = overtaken
    assert slow.append_new(LOG_LINES, loaded(spark, range(there, 10))) == 2
    assert len(tries) == 2
    assert sorted(row.line_number for row in slow.read(LOG_LINES).collect()) == list(range(10))


def test_clusters_write_one_table_at_once(spark: Any, writer: Callable[..., Any]) -> None:
    """Created, filled, replaced and updated by all of them; none is turned away, and each has its own rows."""
    writers = [writer(f"c{number}") for number in range(4)]

    def work(each: Any) -> int:
        each.create(LOG_LINES)
        each.append_new(LOG_LINES, loaded(spark, range(10)))
        each.append_new(LOG_LINES, loaded(spark, range(5, 15), text="later"))
        each.replace(LOG_LINES, loaded(spark, range(5), text="new"), "line_number < 5")
        return int(each.update(LOG_LINES, loaded(spark, range(12, 15), text="set"), ["text"]))

    with ThreadPoolExecutor(len(writers)) as threads:
        assert list(threads.map(work, writers)) == [3] * len(writers)
    for each in writers:
        texts = [row.text for row in each.read(LOG_LINES).orderBy("line_number").collect()]
        assert texts == ["new"] * 5 + ["x"] * 5 + ["later"] * 2 + ["set"] * 3


def test_files_of_a_stranger_are_no_table_and_no_reason_to_wait(
    spark: Any, writer: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "lake" / "bronze" / "log_lines"
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("x")
    with pytest.raises(LakeError, match="log_lines holds files that are no Delta table"):
        writer().create(LOG_LINES)


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


# --- what is known of tables ---


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
