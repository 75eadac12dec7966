"""Logs in Spark: files to bronze rows, bronze rows to silver, as the pure functions say."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from jobs.sources.logs import reader as source
from jobs.sources.logs.files import find_log_files
from schemas.catalog import BY_NAME
from schemas.spark import struct_type
from transforms.errors import SourceError
from transforms.loglines.entries.entries import entries
from transforms.loglines.parse import parse_entry
from transforms.silver import logs

pytestmark = pytest.mark.spark

OF_THE_READER = frozenset({"cluster", "broker", "source_file", "loaded_at"})
"""Columns that no line knows of itself."""

TIMES = ("logged_at", "received_at", "handled_at", "answered_at")


def read(
    spark: SparkSession,
    path: Path,
    broker: str = "1",
    time_zone: str = "UTC",
    layout: str = "auto",
    wanted: Collection[logs.Wanted] = tuple(logs.Wanted),
    keep: str = "all",
) -> DataFrame:
    return source.read(spark, find_log_files(str(path), broker, layout), time_zone, layout, wanted, keep)


def tables(spark: SparkSession, path: Path, **how: str) -> dict[str, DataFrame]:
    return logs.split(read(spark, path, **how))


def plain(frame: DataFrame) -> list[dict[str, Any]]:
    """Rows as Python values; times in epoch microseconds."""
    times = [field.name for field in frame.schema if isinstance(field.dataType, T.TimestampType)]
    frame = frame.withColumns({name: F.unix_micros(name) for name in times})
    return [row.asDict(recursive=True) for row in frame.collect()]


def expected(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The same by the pure functions alone."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in logs.TABLES}
    for file in sorted(path.iterdir()):
        with file.open(encoding="utf-8", newline="\n") as lines:
            for entry in entries(lines):
                for fact in parse_entry(entry.text, entry.logged_at):
                    row = asdict(fact)
                    times = {name: round(row[name] * 1000) for name in TIMES if row.get(name) is not None}
                    found[fact.table].append({**row, **times, "line_number": entry.line_number})
    return found


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    """Rows in an order and a form that can be compared."""
    own = [{name: value for name, value in row.items() if name not in OF_THE_READER} for row in rows]
    return sorted(json.dumps(row, sort_keys=True, default=repr) for row in own)


@pytest.mark.parametrize("name", ["chaos-3.9.1", "kafka-4.2.0"])
def test_spark_gives_what_the_pure_functions_give(
    spark: SparkSession, capture_dir: Callable[[str], Path], name: str
) -> None:
    folder = capture_dir(name) / "broker_logs"
    facts = read(spark, folder, wanted=[logs.Wanted.FACTS]).persist()
    pure = expected(folder)
    for table in logs.TABLES:
        assert in_order(plain(logs.split(facts)[table])) == in_order(pure[table]), table
    facts.unpersist()


@pytest.mark.parametrize("keep", ["all", "relevant"])
def test_bronze_tells_what_its_source_told(spark: SparkSession, capture_dir: Callable[[str], Path], keep: str) -> None:
    folder = capture_dir("chaos-4.2.0") / "broker_logs"
    told = read(spark, folder, wanted=[logs.Wanted.FACTS]).where(~F.col("table").isin(*logs.OF_LOGS)).collect()
    assert len(told) > 1000
    bronze = logs.split(read(spark, folder, wanted=[logs.Wanted.ENTRIES], keep=keep))["log_lines"]
    assert sorted(map(repr, logs.parse(bronze).collect())) == sorted(map(repr, told))
    both = read(spark, folder, keep=keep)
    assert both.where("table = 'log_lines'").count() == bronze.count()
    assert both.where(~F.col("table").isin("log_lines", *logs.OF_LOGS)).count() == len(told)


def test_the_tables_have_the_columns_and_types_that_were_declared(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text("x\n")
    for table, frame in tables(spark, tmp_path).items():
        added = ("cluster", "loaded_at", "seen_at")
        declared = {f.name: f.dataType for f in struct_type(BY_NAME[table]) if f.name not in added}
        assert {f.name: f.dataType for f in frame.schema} == declared
        assert frame.columns == list(declared)


def test_what_cannot_be_read_is_rejected_with_its_place(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "server.log").write_bytes(
        b"\tat the end of a trace\n"
        b"[2024-06-15 12:00:00,000] DEBUG Completed request:"
        b'{"requestHeader":{"requestApiKey":12,"requestApiVersion" (kafka.request.logger)\n'
    )
    rows = plain(tables(spark, tmp_path)["rejected"])
    name = "server.log@2024-06-15T12:00:00.000"
    assert {(row["source"], row["position"], row["reason_code"]) for row in rows} == {
        ("log", f"{name}:1", "no_timestamp"),
        ("log", f"{name}:2", "bad_request_line"),
    }
    assert all(row["raw"] for row in rows)


def test_times_are_utc_whatever_zone_the_broker_and_the_session_have(spark: SparkSession, tmp_path: Path) -> None:
    line = "[2024-06-15 14:00:00,123] INFO Kafka version: 3.9.1 (org.apache.kafka.common.utils.AppInfoParser)\n"
    (tmp_path / "server.log").write_text(line)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        found = tables(spark, tmp_path, time_zone="Europe/Berlin")
        (event,) = plain(found["coordinator_events"])
        assert event["logged_at"] == plain(found["log_lines"])[0]["logged_at"] == 1718452800123 * 1000
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))


def test_rotation_changes_nothing_and_copies_are_read_once(
    spark: SparkSession, capture_dir: Callable[[str], Path], tmp_path: Path
) -> None:
    log = capture_dir("chaos-4.2.0") / "broker_logs" / "server.log"
    for name in ("before", "after", "both"):
        (tmp_path / name).mkdir()
    shutil.copy(log, tmp_path / "before" / "server.log")
    (tmp_path / "after" / "server.log.2026-11-20-12.gz").write_bytes(gzip.compress(log.read_bytes()))
    shutil.copy(log, tmp_path / "both" / "server.log.1")
    (tmp_path / "both" / "server.log.1.gz").write_bytes(gzip.compress(log.read_bytes()))
    before, after, both = (in_order(plain(read(spark, tmp_path / each))) for each in ("before", "after", "both"))
    assert before == after == both
    assert len(before) > 2000


def test_files_that_are_no_logs_are_told_and_the_rest_is_read(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "0000.log").write_bytes(b"\0\1\0\2abc")
    (tmp_path / "0000.log.1").write_bytes(b"\0\1\0\2abc")
    (tmp_path / "cut.log.gz").write_bytes(gzip.compress(b"[2024-06-15 12:00:00,000] INFO a (b)\n" * 999)[:40])
    (tmp_path / "server.log").write_text("[2024-06-15 12:00:00,000] INFO a (b)\n")
    found = tables(spark, tmp_path)
    rejected = {row["reason_code"]: re.sub("@[^:]+", "", row["position"]) for row in plain(found["rejected"])}
    assert rejected == {"not_text": "0000.log:1", "unreadable_file": "cut.log:1"}
    assert found["rejected"].count() == 2
    assert found["log_lines"].where("source_file LIKE 'server.log%'").count() == 1


def test_missing_logs_are_a_source_error_with_its_type(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        read(spark, tmp_path / "nowhere")


def test_small_files_share_a_task_and_large_ones_do_not(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.log").write_text("x" * 100)
    files = find_log_files(str(tmp_path), "1")
    assert [len(share.files) for share in source.plan(files, share_bytes=250)] == [2, 2, 1]
    assert [len(share.files) for share in source.plan(files, share_bytes=10)] == [1, 1, 1, 1, 1]


def test_files_with_the_same_lines_share_a_task_whatever_their_size(tmp_path: Path) -> None:
    for name in ("server.log.1", "server.log.2", "other.log"):
        (tmp_path / name).write_text("[2024-06-15 12:00:00,000] INFO a (b)\n")
    shares = source.plan(find_log_files(str(tmp_path), "1"), share_bytes=10)
    assert [[file.name for file in share.files] for share in shares] == [
        ["other.log"],
        ["server.log.1", "server.log.2"],
    ]


def test_a_clients_log_gives_its_own_events_with_its_host(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "app-7").mkdir()
    prefix = "2024-06-15 12:00:00.123  INFO 1 --- [main] o.a.k.c.c.internals.ConsumerCoordinator : "
    prefix += "[Consumer clientId=app-1, groupId=g1] "
    generation = "Generation{generationId=5, memberId='app-1-7d1e', protocol='range'}"
    (tmp_path / "app-7" / "app.log").write_text(
        f"{prefix}Successfully joined group with generation {generation}\n"
        f"{prefix}Adding newly assigned partitions: orders-0, orders-1\n"
        "2024-06-15 12:00:00.130  INFO 1 --- [main] com.example.App : something else\n"
    )
    joined, assigned = plain(tables(spark, tmp_path, broker="{dir}")["client_events"].sort("line_number"))
    assert (joined["host"], joined["group_id"], joined["client_id"]) == ("app-7", "g1", "app-1")
    assert (joined["event"], joined["generation"], joined["member_id"]) == ("joined", 5, "app-1-7d1e")
    assert joined["client_state"] == "COMPLETING_REBALANCE"
    assert joined["logged_at"] == 1718452800123 * 1000
    assert assigned["partitions"] == ["orders-0", "orders-1"]


def test_a_layout_of_ones_own_and_a_collector_change_nothing(spark: SparkSession, tmp_path: Path) -> None:
    message = "[GroupCoordinator 1]: Group g1 with generation 5 is now empty (__consumer_offsets-13)"
    logger = "kafka.coordinator.group.GroupCoordinator"
    original = f"[2024-06-15 12:00:00,123] INFO {message} ({logger})"
    for name, text in (
        ("own", f"15/06/2024 12:00:00.123 INFO {logger} - {message}"),
        ("wrapped", json.dumps({"log": original + "\n", "stream": "stdout"})),
        ("plain", original),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.log").write_text(text + "\n")
    found = []
    for name, layout in (("own", "%d{dd/MM/yyyy HH:mm:ss.SSS} %p %c - %m%n"), ("wrapped", "auto"), ("plain", "auto")):
        found.append(plain(tables(spark, tmp_path / name, layout=layout)["coordinator_events"]))
    assert found[0] == found[1] == found[2]
    assert found[0][0]["event"] == "group_empty"
