"""Files of a table on a local disk are joined and removed without Spark, where that is little, as Spark would do it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from pyarrow import parquet

from jobs.lake import local_files
from schemas.table import TableSpec
from schemas.tables.bronze import LOG_LINES
from schemas.tables.gold import AUDIT_COUNTS
from schemas.tables.silver import GROUP_REQUESTS
from tests.support.frames import to_frame
from tests.support.lines_of_logs import AT, lines

pytestmark = pytest.mark.spark

ODD = "it's / 50 %"
MONTH_S = 31 * 86_400


def operations(lake: Any, spec: TableSpec) -> list[str]:
    """What was done to a table, oldest first."""
    return [str(each["operation"]) for each in reversed(DeltaTable(lake.path(spec)).history())]


def whole(spec: TableSpec, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with all columns of its table, those that do not matter without a value."""
    return {**dict.fromkeys(spec.columns), **row}


def files(lake: Any, spec: TableSpec) -> list[Path]:
    return sorted(Path(uri.removeprefix("file://")) for uri in DeltaTable(lake.path(spec)).file_uris())


@pytest.mark.parametrize("cluster", ["test", ODD])
def test_small_files_are_joined_here_and_many_by_spark(
    spark: Any, open_lake: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, cluster: str
) -> None:
    lake, other = open_lake(cluster), open_lake("other")
    for number in range(3):
        lake.append(LOG_LINES, lines(spark, range(4 * number, 4 * number + 4)), AT)
    other.append(LOG_LINES, lines(spark, range(2)), AT)
    mark = lake.contents.mark(LOG_LINES)
    done = operations(lake, LOG_LINES)
    lake.compact(LOG_LINES)
    assert operations(lake, LOG_LINES) == [*done, "WRITE"]
    assert lake.contents.mark(LOG_LINES) == mark, "no row has changed"
    lake.compact(LOG_LINES)
    assert operations(lake, LOG_LINES) == [*done, "WRITE"], "there is nothing to be joined any more"
    assert sorted(row.line_number for row in lake.read(LOG_LINES).collect()) == [*range(12)]
    assert other.read(LOG_LINES).count() == 2

    lake.append(LOG_LINES, lines(spark, range(12, 14)), AT)
    monkeypatch.setattr(local_files, "MOST_BYTES", 0)
    lake.compact(LOG_LINES)
    assert operations(lake, LOG_LINES)[-1] == "OPTIMIZE"
    assert sorted(row.line_number for row in lake.read(LOG_LINES).collect()) == [*range(14)]


def test_settled_rows_and_others_stay_in_files_of_their_own(spark: Any, lake: Any) -> None:
    def counts(hour: int, is_settled: bool) -> Any:
        row = {"cluster": "test", "group_id": "g", "api": "Heartbeat", "hour_at": hour * 3_600_000}
        counted = {name: 1 for name in AUDIT_COUNTS.columns if name.endswith("_count")}
        return to_frame(spark, AUDIT_COUNTS, [whole(AUDIT_COUNTS, {**row, **counted, "is_settled": is_settled})])

    lake.create([AUDIT_COUNTS])
    for hour in range(4):
        lake.add(AUDIT_COUNTS, counts(hour, hour % 2 == 0))
    lake.compact(AUDIT_COUNTS)
    assert len(files(lake, AUDIT_COUNTS)) == 2
    found = {(row.is_settled, row.hour_at.hour) for row in lake.read(AUDIT_COUNTS).collect()}
    assert {hour % 2 == 0 for _, hour in found} == {is_settled for is_settled, _ in found}
    assert len(found) == 4


def test_the_few_requests_lie_apart_in_joined_files_too(spark: Any, lake: Any) -> None:
    def request(number: int, error: str) -> dict[str, Any]:
        named = {"cluster": "test", "source_file": "r", "line_number": number, "seq": 0, "broker": "1", "group_id": "g"}
        told = {"api": "Heartbeat", "generation": 7, "error": error, "error_code": 0, "answered_at": 0}
        return whole(GROUP_REQUESTS, {**named, **told})

    for start in (0, 10):
        rows = [request(start, "NONE"), request(start + 1, "ILLEGAL_GENERATION"), request(start + 2, "NONE")]
        lake.append(GROUP_REQUESTS, to_frame(spark, GROUP_REQUESTS, rows).drop("loaded_at"), AT)
    lake.compact(GROUP_REQUESTS)
    (file,) = files(lake, GROUP_REQUESTS)
    read = parquet.ParquetFile(file)
    groups = [read.read_row_group(at, ["error"])["error"] for at in range(read.num_row_groups)]
    assert [len(errors) for errors in groups] == [2, 4]
    assert pc.unique(groups[0]).to_pylist() == ["ILLEGAL_GENERATION"]


@pytest.mark.parametrize("cluster", ["test", ODD])
def test_files_of_a_run_that_died_go_and_no_other(spark: Any, open_lake: Callable[..., Any], cluster: str) -> None:
    lake, other = open_lake(cluster), open_lake("other")
    for each in (lake, other):
        each.append(LOG_LINES, lines(spark, range(4)), AT)
    there = files(lake, LOG_LINES)
    left, young = (there[0].with_name(f"part-{name}.snappy.parquet") for name in ("left", "young"))
    for file in (left, young):
        file.write_bytes(there[0].read_bytes())
    for file in (*there, left):
        os.utime(file, (time.time() - MONTH_S,) * 2)
    mark = lake.contents.mark(LOG_LINES)
    lake.vacuum(LOG_LINES, 168)
    assert lake.contents.mark(LOG_LINES) == mark, "no row has changed"
    assert [file for file in (*there, young, left) if not file.exists()] == [left]
    assert (lake.read(LOG_LINES).count(), other.read(LOG_LINES).count()) == (4, 4)


def test_the_size_of_a_table_is_that_of_its_files(spark: Any, lake: Any) -> None:
    lake.append(LOG_LINES, lines(spark, range(4)), AT)
    assert lake.size_bytes(LOG_LINES) == sum(file.stat().st_size for file in files(lake, LOG_LINES)) > 0
