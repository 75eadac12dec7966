"""The job that reads logs, run after run: nothing is missed, nothing comes twice, nothing is read without need."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs import ingest_logs
from jobs.frame.job import Job
from jobs.lake.lake import Lake
from jobs.lake.landing import Landing
from jobs.quality.verdicts import Question
from jobs.sources.logs.progress import logs_read
from schemas.tables.bronze import LOG_LINES, OFFSETS_RECORDS
from schemas.tables.quality import RUNS
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, REJECTED
from transforms.quality.laws.all_laws import LAWS
from transforms.quality.thresholds import Thresholds

pytestmark = pytest.mark.spark

TABLES = (LOG_LINES, REJECTED, CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS)
LINE = (
    "[2024-06-15 12:00:{0:02},000] INFO [GroupCoordinator 1]: Group g{0} with generation 5 is now empty "
    "(__consumer_offsets-13) (kafka.coordinator.group.GroupCoordinator)\n"
)
FETCH = (
    '[2024-06-15 12:00:{0:02},000] DEBUG Completed request:{{"isForwarded":false,"requestHeader":{{"requestApiKey":1,'
    '"requestApiVersion":17,"requestApiKeyName":"FETCH"}},"request":{{}}}} (kafka.request.logger)\n'
)


Do = Callable[[], None]
Within = AbstractContextManager[None]


class House:
    """A folder of logs, and the lake that it is read into."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.logs = root / "logs"
        self.logs.mkdir()
        self.root = root / "lake"
        self.spark = spark

    def run(self, *more: str) -> int:
        return ingest_logs.main(["--cluster=c", f"--lake.root={self.root}", f"--logs.path={self.logs}", *more])

    def write(self, name: str, *numbers: int, age: float = 7200, fetches: int = 0) -> Path:
        """Write a log that holds these lines, each behind some requests of Fetch, as it was left some seconds ago."""
        path = self.logs / name
        path.write_text("".join(FETCH.format(number) * fetches + LINE.format(number) for number in numbers))
        then = path.stat().st_mtime - age
        os.utime(path, (then, then))
        return path

    def groups(self) -> list[str]:
        """Groups that silver tells of; bronze must hold as many lines."""
        lake = Lake(self.spark, str(self.root), "", "c")
        found = [row["group_id"] for row in lake.read(COORDINATOR_EVENTS).collect()]
        assert lake.read(LOG_LINES).count() == len(found)
        return sorted(found)

    def rejected(self) -> list[tuple[str, str]]:
        """What was rejected: where it stands, and why."""
        rows = Lake(self.spark, str(self.root), "", "c").read(REJECTED).collect()
        return sorted((row["position"], row["reason_code"]) for row in rows)

    def lines(self) -> int:
        """Entries in bronze."""
        return Lake(self.spark, str(self.root), "", "c").read(LOG_LINES).count()

    def counts(self) -> list[tuple[int, int]]:
        """Of each run, what it read and what it left out."""
        runs = Lake(self.spark, str(self.root), "", "c").read(RUNS).sort("started_at").collect()
        steps = [{step["name"]: step for step in run["steps"]} for run in runs]
        return [(of["ingest_logs"]["rows_read"], run["left_out_count"]) for run, of in zip(runs, steps, strict=True)]

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


@pytest.fixture(params=["processes", "Spark"])
def between(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[Do], Within]:
    """Have something done within a run, when bronze has its rows and silver has not: whoever reads the logs."""

    @contextmanager
    def within(do: Do) -> Iterator[None]:
        append, add = ingest_logs._append_facts, Job.add_files

        def before_append(*arguments: Any) -> Any:
            do()
            return append(*arguments)

        def before_silver(job: Job, landings: Sequence[Landing], *files: Any) -> int:
            if landings[0].spec is not LOG_LINES:
                do()
            return add(job, landings, *files)

        with monkeypatch.context() as meanwhile:
            if request.param == "Spark":
                meanwhile.setattr(ingest_logs, "_read_in_bulk", lambda *_: None)
            meanwhile.setattr(ingest_logs, "_append_facts", before_append)
            meanwhile.setattr(Job, "add_files", before_silver)
            yield

    return within


def test_what_a_run_cut_short_left_is_made_up_for_from_bronze(house: House, between: Callable[[Do], Within]) -> None:
    house.write("server.log", 1, 2)
    with between(_fail):
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


def test_silver_that_was_deleted_needs_the_logs_only_for_what_was_rejected(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.write("server.log", 1, 2)
    assert house.run() == 0
    shutil.rmtree(house.root / "silver")
    with monkeypatch.context() as closed:
        closed.setattr(ingest_logs, "_read", _fail)
        assert house.run() == 0
    assert house.groups() == ["g1", "g2"]
    (house.logs / "no.log").write_bytes(b"\x00\x01" * 100)
    for _ in range(2):
        assert house.run() == 0
    rejected = house.rejected()
    assert rejected
    shutil.rmtree(house.root / "silver")
    assert house.run() == 0
    assert (house.rejected(), house.groups()) == (rejected, ["g1", "g2"])


def test_bronze_that_was_deleted_is_read_anew(house: House) -> None:
    house.write("server.log", 1, 2)
    assert house.run() == 0
    shutil.rmtree(house.root / "bronze")
    assert house.run() == 0
    assert house.groups() == ["g1", "g2"]


def test_a_rotation_between_bronze_and_silver_loses_nothing(house: House, between: Callable[[Do], Within]) -> None:
    house.write("server.log", 1, 2)

    def rotate() -> None:
        (house.logs / "server.log").unlink()
        house.write("server.log", 3)

    with between(rotate):
        assert house.run() == 0
    assert house.run() == 0
    assert house.groups() == ["g1", "g2", "g3"]


def test_what_tells_nothing_is_counted_and_left_out_once_while_a_file_grows(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    house.write("kafka-request.log", 1, 2, age=0, fetches=10)
    assert house.run() == 0
    assert "20 entries that tell nothing of groups left out" in capsys.readouterr().out
    house.write("kafka-request.log", 1, 2, 3, age=0, fetches=10)
    assert house.run() == 0
    house.write("kafka-request.log", 1, 2, 3, 4, fetches=10).rename(house.logs / "kafka-request.log.1")
    house.write("kafka-request.log", 5, fetches=10)
    assert house.run() == 0
    assert house.run() == 0
    assert house.groups() == ["g1", "g2", "g3", "g4", "g5"]
    assert house.counts() == [(22, 20), (11, 10), (22, 20), (0, 0)]
    numbers = Lake(house.spark, str(house.root), "", "c").read(LOG_LINES).select("line_number").collect()
    assert sorted(row.line_number for row in numbers) == [11, 11, 22, 33, 44], "lines of the file"


def test_whoever_wants_all_lines_gets_those_that_were_left_out_too(house: House) -> None:
    house.write("kafka-request.log.1", 1, 2, fetches=10)
    assert house.run() == 0
    assert (house.lines(), house.counts()) == (2, [(2 + 20, 20)])
    assert house.run("--logs.keep=all") == 0
    assert (house.lines(), house.counts()[1:]) == (22, [(20, 0)])
    before = house.versions()
    assert house.run() == 0
    assert house.versions() == before, "what was kept whole is not read again for a part of it"
    assert logs_read(Lake(house.spark, str(house.root), "", "c")).left_out == 0


def test_silver_is_made_from_bronze_that_kept_all_and_from_bronze_that_did_not(house: House) -> None:
    house.write("kafka-request.log.1", 1, 2, fetches=3)
    assert house.run("--logs.keep=all") == 0
    house.write("kafka-request.log.2", 3, fetches=3)
    assert house.run() == 0
    assert house.lines() == 8 + 1
    shutil.rmtree(house.root / "silver")
    house.write("server.log", 4)
    assert house.run() == 0
    lake = Lake(house.spark, str(house.root), "", "c")
    assert sorted(row.group_id for row in lake.read(COORDINATOR_EVENTS).collect()) == ["g1", "g2", "g3", "g4"]


def test_silver_is_the_same_whatever_is_kept_and_brokers_speak_up_to_the_same_moment(
    spark: SparkSession, capture_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    logs_of = capture_dir("chaos-4.2.0") / "broker_logs"
    lakes = {}
    for keep in ("relevant", "all"):
        given = ["--cluster=c", f"--lake.root={tmp_path / keep}", f"--logs.path={logs_of}", f"--logs.keep={keep}"]
        assert ingest_logs.main(given) == 0
        lakes[keep] = Lake(spark, str(tmp_path / keep), "", "c")
    for spec in (COORDINATOR_EVENTS, GROUP_REQUESTS, CLIENT_EVENTS, REJECTED):
        relevant, whole = (
            sorted(map(repr, lake.read(spec).drop("loaded_at", "seen_at").collect())) for lake in lakes.values()
        )
        assert relevant == whole, spec
    bronze = {keep: lake.read(LOG_LINES).drop("loaded_at") for keep, lake in lakes.items()}
    assert 1.5 * bronze["relevant"].count() < bronze["all"].count()
    assert bronze["relevant"].exceptAll(bronze["all"]).isEmpty()
    newest = "SELECT broker, max(logged_at) FROM {lines} GROUP BY broker"
    assert spark.sql(newest, lines=bronze["relevant"]).collect() == spark.sql(newest, lines=bronze["all"]).collect()
    (run,) = lakes["relevant"].read(RUNS).collect()
    assert run["left_out_count"] + bronze["relevant"].count() == bronze["all"].count()


def test_how_much_is_rejected_is_judged_by_all_that_was_read(spark: SparkSession) -> None:
    law = next(law for law in LAWS if law.name == "little_is_rejected")
    one = spark.sql("SELECT 'c' AS cluster")
    taken = {OFFSETS_RECORDS.name: one.limit(0), LOG_LINES.name: one}
    rejected = spark.range(20).selectExpr("'c' AS cluster", "'bad_request_line' AS reason_code")
    now = datetime.now(timezone.utc)
    for left_out, is_broken in ((0, True), (1900, True), (2000, False)):
        question = Question({**taken, "rejected": rejected}, [], [law], Thresholds(now=now, left_out=left_out))
        assert question.verdicts(spark)[0].passed is not is_broken, left_out


def _fail(*_: Any) -> None:
    raise RuntimeError("cut short")
