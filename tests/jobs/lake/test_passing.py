"""Tables that come to many small files get few again as runs go by, and logs of many commits are summed up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from jobs import ingest_logs
from jobs.lake import passing
from schemas.catalog import ALL
from schemas.table import TableSpec
from schemas.tables.bronze import LOG_LINES, OFFSETS_RECORDS
from schemas.tables.quality import RUNS
from tests.support.frames import to_frame
from tests.support.lakes import CLUSTER
from tests.support.lines_of_logs import AT, lines
from transforms.wanted_rows import Wanted

pytestmark = pytest.mark.spark


def file_count(root: str, spec: TableSpec, cluster: str) -> int:
    files = pa.table(DeltaTable(f"{root}/{spec.layer.value}/{spec.name}").get_add_actions(flatten=True))
    return files["partition.cluster"].to_pylist().count(cluster)


def numbers(lake: Any) -> list[int]:
    return sorted(row.line_number for row in lake.read(LOG_LINES).collect())


def records(spark: Any, offset: int) -> Any:
    told = {"topic_partition": 0, "record_offset": offset, "is_transactional": False, "source": "s"}
    row = {**dict.fromkeys(OFFSETS_RECORDS.columns), **told, "cluster": "test", "recorded_at": 0, "loaded_at": 0}
    return to_frame(spark, OFFSETS_RECORDS, [row])


def test_of_those_that_have_many_a_run_joins_the_files_of_a_few(
    spark: Any, open_lake: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passing, "MANY_FILES", 3)
    monkeypatch.setattr(passing, "MOST_TABLES", 1)
    lake, other = open_lake(), open_lake("other")
    for number in range(4):
        lake.append(LOG_LINES, lines(spark, range(2 * number, 2 * number + 2)), AT)
        other.append(LOG_LINES, lines(spark, range(number, number + 1)), AT)
    for offset in range(3):
        lake.add(OFFSETS_RECORDS, records(spark, offset))
    before = [lake.contents.mark(spec) for spec in (LOG_LINES, OFFSETS_RECORDS)]
    counts = []
    for _ in range(3):
        lake.tidy_in_passing(ALL)
        counts.append(tuple(file_count(lake.root, spec, "test") for spec in (LOG_LINES, OFFSETS_RECORDS)))
    assert counts == [(1, 3), (1, 1), (1, 1)]
    assert file_count(lake.root, LOG_LINES, "other") == 4, "another cluster's run may be writing"
    again = open_lake()
    assert [lake.contents.mark(spec) for spec in (LOG_LINES, OFFSETS_RECORDS)] == before, "no row has changed"
    assert numbers(again) == [*range(8)]
    assert again.some(LOG_LINES, Wanted(where="line_number >= 5")).count() == 3
    again.append(LOG_LINES, lines(spark, range(6, 10)), AT)
    assert numbers(again) == [*range(10)], "what lies in joined files is known to be there"


def test_a_few_files_and_large_ones_stay(
    spark: Any, open_lake: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = open_lake()
    monkeypatch.setattr(passing, "MANY_FILES", 3)
    for number in range(2):
        lake.append(LOG_LINES, lines(spark, range(number, number + 1)), AT)
    lake.tidy_in_passing(ALL)
    assert file_count(lake.root, LOG_LINES, "test") == 2
    lake.append(LOG_LINES, lines(spark, range(100, 101)), AT)
    with monkeypatch.context() as patch:
        patch.setattr(passing, "SMALL_BYTES", 1)
        lake.tidy_in_passing(ALL)
    assert file_count(lake.root, LOG_LINES, "test") == 3
    lake.tidy_in_passing(ALL)
    assert file_count(lake.root, LOG_LINES, "test") == 1


def test_logs_of_many_commits_are_summed_up(spark: Any, open_lake: Callable[..., Any]) -> None:
    lake = open_lake()
    for number in range(12):
        lake.append(LOG_LINES, lines(spark, range(number, number + 1)), AT)
        lake.tidy_in_passing(ALL)
    log = Path(lake.path(LOG_LINES).removeprefix("file://")) / "_delta_log"
    summed_up = json.loads((log / "_last_checkpoint").read_text(encoding="utf-8"))["version"]
    assert 0 <= DeltaTable(lake.path(LOG_LINES)).version() - summed_up < passing.MANY_COMMITS
    again = open_lake()
    assert numbers(again) == [*range(12)]
    assert again.some(LOG_LINES, Wanted(where="line_number >= 5")).count() == 7


@pytest.fixture
def run(tmp_path: Path) -> Callable[[int], int]:
    """Read a log that has so many lines by now."""

    def read(count: int) -> int:
        (tmp_path / "logs").mkdir(exist_ok=True)
        line = "[2026-01-01 00:00:{:02},000] INFO started (kafka.server.KafkaServer)\n"
        (tmp_path / "logs" / "server.log").write_text("".join(map(line.format, range(count))), encoding="utf-8")
        given = [f"--cluster={CLUSTER}", f"--lake.root={tmp_path / 'lake'}"]
        return ingest_logs.main([*given, f"--logs.path={tmp_path / 'logs'}", "--logs.broker=1", "--logs.keep=all"])

    return read


def test_a_run_with_news_joins_files_and_one_without_does_not(
    spark: Any, run: Callable[[int], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passing, "MANY_FILES", 3)

    def counts() -> tuple[int, int]:
        return file_count(f"{tmp_path / 'lake'}", LOG_LINES, CLUSTER), file_count(f"{tmp_path / 'lake'}", RUNS, CLUSTER)

    found = []
    for count in (1, 2, 3, 3, 4):
        assert run(count) == 0
        found.append(counts())
    # The record of a run is written when all else is done.
    assert found == [(1, 1), (2, 2), (1, 3), (1, 4), (2, 2)]


def test_that_files_cannot_be_joined_is_said_and_ends_no_run(
    spark: Any,
    run: Callable[[int], int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(passing, "MANY_FILES", 2)
    assert (run(1), run(2)) == (0, 0)
    damaged = next((tmp_path / "lake" / "quality" / "runs").rglob("*.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:200])
    assert run(3) == 0
    assert f"quality.runs could not be tidied: quality.runs has a damaged file, {damaged}: bring it back" in caplog.text
    assert file_count(f"{tmp_path / 'lake'}", RUNS, CLUSTER) == 3, "nothing was taken out"
    assert file_count(f"{tmp_path / 'lake'}", LOG_LINES, CLUSTER) == 1, "other tables are tidied"
