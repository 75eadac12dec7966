"""Logs that processes turn into files of the tables: the rows are those that go to Spark, and none comes twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyarrow import parquet
from pyspark.sql import SparkSession

from jobs.lake.landing import Landing
from jobs.lake.small_tables import SmallTables
from jobs.sources.logs import bulk
from jobs.sources.logs import reader as source
from jobs.sources.logs.files import LogFile, find_log_files
from schemas.table import TableSpec
from schemas.tables.bronze import LOG_LINES
from schemas.tables.silver import GROUP_REQUESTS, REJECTED
from transforms.silver.logs import OF_LOGS, Wanted

AT = datetime(2026, 11, 24, 12, tzinfo=timezone.utc)
HOW = ("UTC", "auto")
CORES = 2


@pytest.fixture
def tables(tmp_path: Path) -> SmallTables:
    found = SmallTables(cast(SparkSession, None), tmp_path / "lake", "c")  # what is tested here asks no query
    for spec in bulk.WRITTEN:
        found.create(spec, {"delta.dataSkippingStatsColumns": "source_file,line_number"})
    return found


@pytest.fixture
def files(capture_dir: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[LogFile]:
    """Logs of several brokers and clients, and a file that holds no text; each log is a share of its own."""
    (tmp_path / "no.log").write_bytes(b"\x00\x01" * 100)
    monkeypatch.setattr(bulk, "LEAST_SHARE_BYTES", 1)
    monkeypatch.setattr(bulk, "MOST_SHARE_BYTES", 1)
    found = find_log_files(str(capture_dir("failover-4.2.0") / "broker_logs"), "{dir}")
    return [*found, *find_log_files(str(tmp_path / "no.log"), "none")]


def read(tables: SmallTables, files: list[LogFile], into: Path, turn: int, keep: str = source.ALL) -> bulk.BulkRead:
    aside = into / f"aside-{turn}"
    aside.mkdir()
    landings = []
    for spec in bulk.WRITTEN:
        there = tables.files(spec)
        assert there is not None
        landings.append(Landing(spec, tables.log(spec).folder, "c", AT, turn, there, {}))
    found = bulk.read(files, (*HOW, keep), landings, aside, CORES)
    for spec in bulk.WRITTEN:
        tables.add(spec, found.files.get(spec.name, ()), "note", ("me", turn))
    return found


def rows(tables: SmallTables, spec: TableSpec) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", DeltaTable(tables.log(spec).uri).to_pyarrow_table().to_pylist())


def comparable(found: list[dict[str, Any]], but: set[str]) -> list[str]:
    """Return rows in an order of their own; moments as numbers, maps in the order of their keys."""
    kept = ({name: _plain(value) for name, value in row.items() if name not in but} for row in found)
    return sorted(repr(sorted(row.items())) for row in kept)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.timestamp()
    return sorted(value) if isinstance(value, list) and value and isinstance(value[0], tuple) else value


def wide(files: list[LogFile], keep: str = source.ALL) -> list[dict[str, Any]]:
    (share,) = source.plan(files, 1 << 40)
    return pa.Table.from_batches(source.arrow_batches(share, *HOW, tuple(Wanted), keep)).to_pylist()


@pytest.mark.parametrize("keep", [source.ALL, source.RELEVANT])
def test_the_rows_are_those_that_go_to_spark(
    tables: SmallTables, files: list[LogFile], tmp_path: Path, keep: str
) -> None:
    found = read(tables, files, tmp_path, 0, keep)
    expected = wide(files, keep)
    for spec in bulk.WRITTEN:
        derived = {"cluster", "loaded_at", "host"}
        names = [name for name in spec.columns if name not in derived]
        of_table = [{name: row[name] for name in names} for row in expected if row["table"] == spec.name]
        there = rows(tables, spec)
        assert comparable(there, derived) == comparable(of_table, derived), spec.name
        assert {row["loaded_at"] for row in there} <= {AT}
        assert all(row["host"] for row in there if "host" in row)
    assert rows(tables, GROUP_REQUESTS)
    (aside,) = found.aside[REJECTED.name]
    (refused,) = parquet.read_table(aside).to_pylist()
    assert (refused["source"], refused["reason_code"]) == ("log", "not_text")
    assert re.fullmatch("no.log@[0-9a-f]+:1", refused["position"])
    of_logs = [{name: row[name] for name in found.of_logs[0]} for row in expected if row["table"] in OF_LOGS]
    assert comparable(found.of_logs, set()) == comparable(of_logs, set())


def test_what_is_there_is_not_written_again(tables: SmallTables, files: list[LogFile], tmp_path: Path) -> None:
    first, *others = files
    read(tables, others, tmp_path, 0)
    before = {spec.name: len(rows(tables, spec)) for spec in bulk.WRITTEN}
    again = read(tables, others, tmp_path, 1)
    assert not any(map(again.count_of, bulk.WRITTEN))
    read(tables, files, tmp_path, 2)
    of_first = sum(row["table"] == LOG_LINES.name for row in wide([first]))
    assert of_first
    assert len(rows(tables, LOG_LINES)) == before[LOG_LINES.name] + of_first


def test_of_a_log_that_grows_files_of_older_lines_are_not_opened(tables: SmallTables, tmp_path: Path) -> None:
    log = tmp_path / "server.log"

    def write(numbers: range) -> list[LogFile]:
        with log.open("a", encoding="utf-8") as file:
            file.writelines(f"[2026-11-20 10:00:00,{number:03d}] INFO of no group (kafka.x)\n" for number in numbers)
        return find_log_files(str(log), "1")

    read(tables, write(range(1, 101)), tmp_path, 0)
    landed = tables.files(LOG_LINES)
    assert landed
    for file in landed:
        Path(file.path).unlink()
    (grown,) = write(range(101, 111))
    again = read(tables, [replace(grown, read_from=101)], tmp_path, 1)
    assert again.count_of(LOG_LINES) == 10
