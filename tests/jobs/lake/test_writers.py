"""Writers of one table that meet, with nothing but Delta between them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from schemas.tables.bronze import LOG_LINES
from tests.support.lines_of_logs import loaded
from transforms.errors import LakeError

pytestmark = pytest.mark.spark


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


def test_a_table_that_another_writer_creates_and_fills_first_is_there(spark: Any, writer: Callable[..., Any]) -> None:
    """Between the look that found none and the creation, so that its files are in the way."""
    slow, fast = writer("slow"), writer("fast")
    create = slow._create

    def overtaken(spec: Any) -> Any:
        if fast.create(spec):
            fast.append_new(spec, loaded(spark, range(3)))
        return create(spec)

    slow._create = overtaken
    slow.create(LOG_LINES)
    assert slow.append_new(LOG_LINES, loaded(spark, range(2))) == 2
    assert [each.read(LOG_LINES).count() for each in (slow, fast)] == [2, 3]


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
