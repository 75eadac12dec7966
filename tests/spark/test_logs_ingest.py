"""The job that reads logs, run after run: nothing is missed, nothing comes twice, nothing is read without need."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs import ingest_logs
from jobs.lake.lake import Lake
from schemas.tables.bronze import LOG_LINES
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, REJECTED

pytestmark = pytest.mark.spark

TABLES = (LOG_LINES, REJECTED, CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS)
LINE = (
    "[2024-06-15 12:00:{0:02},000] INFO [GroupCoordinator 1]: Group g{0} with generation 5 is now empty "
    "(__consumer_offsets-13) (kafka.coordinator.group.GroupCoordinator)\n"
)


class House:
    """A folder of logs, and the lake that it is read into."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.logs = root / "logs"
        self.logs.mkdir()
        self.root = root / "lake"
        self.spark = spark

    def run(self) -> int:
        return ingest_logs.main(["--cluster=c", f"--lake.root={self.root}", f"--logs.path={self.logs}"])

    def write(self, name: str, *numbers: int, age: float = 7200) -> Path:
        """Write a log that holds these lines, as it was left some seconds ago."""
        path = self.logs / name
        path.write_text("".join(map(LINE.format, numbers)))
        then = path.stat().st_mtime - age
        os.utime(path, (then, then))
        return path

    def groups(self) -> list[str]:
        """Groups that silver tells of; bronze must hold as many lines."""
        lake = Lake(self.spark, str(self.root), "", "c")
        found = [row["group_id"] for row in lake.read(COORDINATOR_EVENTS).collect()]
        assert lake.read(LOG_LINES).count() == len(found)
        return sorted(found)

    def versions(self) -> list[int]:
        lake = Lake(self.spark, str(self.root), "", "c")
        return [lake.version(spec) for spec in TABLES]


@pytest.fixture
def house(spark: SparkSession, tmp_path: Path) -> House:
    return House(spark, tmp_path)


def test_a_file_that_has_not_changed_is_not_read_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write("server.log.1", 1, 2)
    assert house.run() == 0
    before = house.versions()
    monkeypatch.setattr(ingest_logs.source, "read", None)
    (house.logs / "server.log.1").rename(house.logs / "server.log.2")
    assert house.run() == 0
    assert house.versions() == before


def test_lines_come_once_while_a_file_grows_is_rotated_and_compressed(house: House) -> None:
    house.write("server.log", 1, 2, age=0)
    assert house.run() == 0
    rotated = house.write("server.log", 1, 2, 3).rename(house.logs / "server.log.1")
    house.write("server.log", 4, age=0)
    assert house.run() == 0
    assert house.groups() == ["g1", "g2", "g3", "g4"]
    (house.logs / "server.log.1.gz").write_bytes(gzip.compress(rotated.read_bytes()))
    rotated.unlink()
    house.write("server.log", 4, 5)
    assert house.run() == 0
    assert house.groups() == ["g1", "g2", "g3", "g4", "g5"]


def test_what_a_run_cut_short_left_is_made_up_for_from_bronze(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write("server.log", 1, 2)
    with monkeypatch.context() as broken:
        broken.setattr(ingest_logs, "_append_facts", _fail)
        assert house.run() == 1
    house.write("server.log", 3)
    assert house.run() == 0
    assert house.groups() == ["g1", "g2", "g3"]


def test_silver_that_was_deleted_is_parsed_anew(house: House) -> None:
    house.write("server.log", 1, 2)
    assert house.run() == 0
    shutil.rmtree(house.root / "silver")
    house.write("server.log", 3)
    assert house.run() == 0
    assert house.groups() == ["g1", "g2", "g3"]


def test_bronze_that_was_deleted_is_read_anew(house: House) -> None:
    house.write("server.log", 1, 2)
    assert house.run() == 0
    shutil.rmtree(house.root / "bronze")
    assert house.run() == 0
    assert house.groups() == ["g1", "g2"]


def test_a_rotation_between_bronze_and_silver_loses_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write("server.log", 1, 2)
    append: Callable[..., Any] = ingest_logs._append_facts

    def rotate_first(*arguments: Any) -> None:
        (house.logs / "server.log").unlink()
        house.write("server.log", 3)
        append(*arguments)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(ingest_logs, "_append_facts", rotate_first)
        assert house.run() == 0
    assert house.run() == 0
    assert house.groups() == ["g1", "g2", "g3"]


def _fail(*_: Any) -> None:
    raise RuntimeError("cut short")
