"""A broker's offsets topic, read live, from its segment files and from an export, is the same each time."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from aiokafka import TopicPartition

from jobs import ingest_offsets
from tests.support import kafka_driver
from tests.support.kafka_broker import Brokers
from tests.support.lakes import rows_of, versions

pytestmark = [pytest.mark.spark, pytest.mark.slow]

VERSIONS = ("4.2.0", pytest.param("3.9.1", marks=pytest.mark.long))
OFFSETS_PARTITIONS = 4
DECODED = ("offset_commits", "group_metadata", "modern_group_records")
NOT_KNOWN = {"loaded_at", "source", "producer_id", "txn_state"}
"""What Spark's Kafka source does not give, and what differs on purpose."""


@pytest.fixture(scope="module", params=VERSIONS)
def brokers(request: pytest.FixtureRequest) -> Iterator[Brokers]:
    with Brokers(request.param, settings={"offsets.topic.num.partitions": str(OFFSETS_PARTITIONS)}) as running:
        yield running


async def rebalance(servers: list[str], first: int) -> None:
    """Members come to two groups one by one, commit and go; a transaction is committed, and one is not."""
    for group in ("orders", "billing"):
        members = []
        for number in range(first, first + 2):
            member = await kafka_driver.Member(servers, group, "clicks", f"{group}-{number}").start()
            await member.commit()  # now: the next one makes the group rebalance
            members.append(member)
        for member in members:
            await member.stop()
    for is_committed in (True, False):
        place = {TopicPartition("clicks", 0): first}
        await kafka_driver.commit_in_transaction(servers, "copy", "copier", place, is_committed)


def meanwhile(work: Any) -> Future[None]:
    """Let clients work while the test goes on."""
    threads = ThreadPoolExecutor(1)
    return threads.submit(asyncio.run, work)


def wait_until_quiet(brokers: Brokers) -> None:
    """Wait until the last session that no one ended has run out: then the broker writes no more."""
    quiet_s = kafka_driver.SESSION_MS / 1000 + 1
    size, since = -1, time.monotonic()
    while time.monotonic() - since < quiet_s:
        now = sum(file.stat().st_size for file in brokers.log_dir().glob("__consumer_offsets-*/*.log"))
        if now != size:
            size, since = now, time.monotonic()
        time.sleep(0.2)


def ingest(root: Path, *arguments: str) -> int:
    return ingest_offsets.main(["--cluster=test", f"--lake.root={root}", *arguments])


def live(root: Path, brokers: Brokers, *arguments: str) -> int:
    servers = ",".join(brokers.bootstrap_servers)
    return ingest(root, "--offsets.kind=kafka", f"--offsets.bootstrap_servers={servers}", *arguments)


def rows(root: Path, table: str) -> list[dict[str, Any]]:
    return rows_of(root, table)[table]


def decoded(root: Path) -> dict[str, set[str]]:
    """What the records say, whatever way they came."""
    tables = rows_of(root, *DECODED, "rejected")
    assert tables["rejected"] == []
    return {
        name: {repr({key: row[key] for key in sorted(row) if key not in NOT_KNOWN}) for row in tables[name]}
        for name in DECODED
    }


def test_three_ways_to_read_a_broker_give_the_same(spark: Any, brokers: Brokers, tmp_path: Path) -> None:
    servers = brokers.bootstrap_servers
    asyncio.run(kafka_driver.create_topic(servers, "clicks", 3))
    asyncio.run(rebalance(servers, 0))
    lake = tmp_path / "live"
    going_on = meanwhile(rebalance(servers, 2))
    assert live(lake, brokers) == 0
    first = rows(lake, "offsets_records")
    going_on.result()
    asyncio.run(rebalance(servers, 4))
    wait_until_quiet(brokers)
    assert live(lake, brokers) == 0
    assert len(rows(lake, "offsets_records")) > len(first) > 0
    before = versions(spark, lake)
    assert live(lake, brokers) == 0
    assert versions(spark, lake) == before, "nothing came, and a table changed"

    brokers.stop(1)
    segments, exported = tmp_path / "segments", tmp_path / "exported"
    assert ingest(segments, "--offsets.kind=segments", f"--offsets.path={brokers.log_dir()}") == 0
    export_as_json(rows(lake, "offsets_records"), tmp_path / "export.jsonl")
    assert ingest(exported, "--offsets.kind=records", f"--offsets.path={tmp_path / 'export.jsonl'}") == 0

    expected = decoded(segments)
    assert all(expected[name] for name in ("offset_commits", "group_metadata"))
    assert decoded(lake) == expected
    assert decoded(exported) == expected
    fates = {row["txn_state"] for row in rows(segments, "offset_commits")}
    assert fates == {"none", "committed", "aborted"}
    assert {row["txn_state"] for row in rows(lake, "offset_commits")} == {"unknown"}


def export_as_json(records: list[dict[str, Any]], file: Path) -> None:
    """Write records as a connector does: Kafka's columns, bytes in base64."""
    lines = [
        {
            "key": base64.b64encode(record["key"]).decode(),
            "value": None if record["value"] is None else base64.b64encode(record["value"]).decode(),
            "partition": record["topic_partition"],
            "offset": record["record_offset"],
            "timestamp": record["recorded_at"],
        }
        for record in records
        if record["control_type"] is None
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


# Losses are told, and reading nothing is never taken for there being nothing. The tests follow each other.


@pytest.fixture(scope="module")
def lossy_brokers() -> Iterator[Brokers]:
    hasty = {"log.retention.check.interval.ms": "200", "log.initial.task.delay.ms": "200"}
    with Brokers("4.2.0", settings={"offsets.topic.num.partitions": "1", **hasty}) as running:
        asyncio.run(kafka_driver.create_topic(running.bootstrap_servers, "clicks", 3))
        yield running


@pytest.fixture(scope="module")
def lossy_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("live")


def test_before_any_group_the_topic_is_not_there(
    spark: Any, lossy_brokers: Brokers, lossy_lake: Path, capfd: Any
) -> None:
    assert live(lossy_lake, lossy_brokers) == 4
    assert "no consumer group has used this cluster yet" in capfd.readouterr().err


def test_a_source_that_leaves_the_internal_topic_out(
    spark: Any, lossy_brokers: Brokers, lossy_lake: Path, capfd: Any
) -> None:
    asyncio.run(rebalance(lossy_brokers.bootstrap_servers, 0))
    setting = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
    spark.conf.set(setting, "false")
    try:
        assert live(lossy_lake, lossy_brokers) == 4
    finally:
        spark.conf.unset(setting)
    told = capfd.readouterr().err
    assert "left out 1 of 1 partitions" in told and setting in told
    assert rows(lossy_lake, "offsets_records") == []
    assert live(lossy_lake, lossy_brokers) == 0
    assert rows(lossy_lake, "offsets_records")


def test_records_that_retention_took(spark: Any, lossy_brokers: Brokers, lossy_lake: Path, capfd: Any) -> None:
    asyncio.run(rebalance(lossy_brokers.bootstrap_servers, 4))
    was = last_offset(spark, lossy_lake)
    gone = let_retention_take_all(lossy_brokers)
    assert live(lossy_lake, lossy_brokers) == 0
    asyncio.run(rebalance(lossy_brokers.bootstrap_servers, 6))
    assert live(lossy_lake, lossy_brokers) == 0
    assert "were deleted before they were read" in capfd.readouterr().out
    lost = [row for row in rows(lossy_lake, "rejected") if row["reason_code"] == "records_lost"]
    (row,) = lost
    first, last = map(int, row["position"].partition("/")[2].split("-"))
    assert first > was and last == gone - 1
    assert last_offset(spark, lossy_lake) > gone


def test_a_topic_made_anew(spark: Any, lossy_lake: Path, capfd: Any) -> None:
    before = {row["record_offset"]: row["key"] for row in rows(lossy_lake, "offsets_records")}
    with Brokers("4.2.0", settings={"offsets.topic.num.partitions": "1"}) as anew:
        asyncio.run(kafka_driver.create_topic(anew.bootstrap_servers, "clicks", 3))
        asyncio.run(rebalance(anew.bootstrap_servers, 8))
        assert live(lossy_lake, anew) == 0
    assert "is not the one that was read before" in capfd.readouterr().out
    after = {row["record_offset"]: row["key"] for row in rows(lossy_lake, "offsets_records")}
    assert before.items() <= after.items(), "records that were read are not overwritten"
    reused = [row for row in rows(lossy_lake, "rejected") if row["reason_code"] == "offset_reused"]
    places = {int(row["position"].split("/")[1]) for row in reused}
    assert places and places <= before.keys()
    assert all(row["raw"] for row in reused)


def test_brokers_that_are_not_there(spark: Any, lossy_lake: Path, capfd: Any) -> None:
    nowhere = ["--offsets.kind=kafka", "--offsets.bootstrap_servers=127.0.0.1:1"]
    hasty = ["--offsets.kafka.default.api.timeout.ms=2000", "--offsets.kafka.request.timeout.ms=1000"]
    assert ingest(lossy_lake, *nowhere, *hasty) == 4
    assert "error: Kafka at 127.0.0.1:1: check offsets.bootstrap_servers" in capfd.readouterr().err


def last_offset(spark: Any, lake: Path) -> int:
    return max(row["record_offset"] for row in rows(lake, "offsets_records"))


def let_retention_take_all(brokers: Brokers) -> int:
    """Wait until the broker has deleted all records that there are so far; return the offset that the next one has."""
    (server,) = brokers.bootstrap_servers
    topic = ["--entity-type", "topics", "--entity-name", "__consumer_offsets"]
    change = ["kafka.admin.ConfigCommand", "--bootstrap-server", server, "--alter", *topic, "--add-config"]
    brokers.run(*change, "cleanup.policy=delete,retention.ms=1")
    begins, ends = asyncio.run(kafka_driver.trimmed([server], TopicPartition("__consumer_offsets", 0)))
    assert begins == ends
    brokers.run(*change, "retention.ms=-1")
    return begins
