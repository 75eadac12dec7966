"""Brokers that are started here, clients that are led here: what the product finds is what the clients were told."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from aiokafka import TopicPartition

from tests.support.kafka_broker import Brokers
from tests.support.kafka_capture import write_capture
from tests.support.kafka_driver import Member, Told, commit_in_transaction, create_topic, until
from tests.support.pure_pipeline import Row, Tables, run_pipeline
from tests.unit.wire.test_wire_captures import check_records, segment_records
from transforms.wire.records import decode

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("java") is None, reason="no Java on the path")]

VERSIONS = ("4.2.0", "3.9.1")  # the Java coordinator and the last Scala one
GROUP = "orders-app"
TOPIC = "orders"
COMMITTED, ABORTED = 5, 7


@pytest.fixture(scope="module", params=VERSIONS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Told]]:
    """One scenario on one broker: the capture of it, and what the members were told."""
    with Brokers(request.param) as broker:
        told = asyncio.run(scenario(broker.bootstrap_servers))
        broker.stop(1)
        return write_capture(broker, tmp_path_factory.mktemp(request.param)), told


async def scenario(servers: list[str]) -> list[Told]:
    """Members come, go and come back; between them a transaction of another group is committed and one aborted."""
    await create_topic(servers, TOPIC, 6)
    first = await Member(servers, GROUP, TOPIC, "first").start()
    second = await Member(servers, GROUP, TOPIC, "second").start()
    await first.commit()
    await first.stop()
    await until(lambda: second.told[-1].generation == 3)
    static = await Member(servers, GROUP, TOPIC, "static", instance="static-1").start()
    await static.stop()
    back = await Member(servers, GROUP, TOPIC, "static", instance="static-1").start()
    await back.commit()
    for offset in (COMMITTED, ABORTED):
        await commit_in_transaction(
            servers, "copier", "copies", {TopicPartition(TOPIC, 0): offset}, is_committed=offset == COMMITTED
        )
    await back.stop()
    await second.stop()
    return [*first.told, *second.told, *static.told, *back.told]


def tables_of(run: tuple[Path, list[Told]]) -> Tables:
    return run_pipeline(run[0])


def test_every_record_is_what_kafkas_own_tool_says(run):
    assert check_records(run[0]) > 10


def test_nothing_is_rejected_or_unrecognised(run):
    tables = tables_of(run)
    assert tables["rejected"] == []
    assert [row["attributes"] for row in tables["coordinator_events"] if row["event"] == "unrecognised"] == []


def test_every_answer_is_predicted(run):
    tables = tables_of(run)
    audit = tables["replay_audit"]
    assert len(audit) == len(tables["group_requests"]), "each request to a group has its row"
    assert {row["api"] for row in audit} >= {"JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit"}
    assert [row for row in audit if row["agrees"] is False] == []
    assert [row for row in audit if row["agrees"] is None and row["why"] is None] == []


def test_generations_and_assignments_are_those_that_the_members_were_told(run):
    told = run[1]
    tables = tables_of(run)
    assert max(each.generation for each in told) == 4
    for each in told:
        members = [row for row in tables["generation_members"] if is_of(row, each)]
        assert [row["told_at"] is not None for row in members] == [True], each
        owned = [(row["topic"], row["partition"]) for row in tables["assignments"] if is_of(row, each)]
        assert sorted(owned) == sorted(each.partitions), each


def is_of(row: Row, told: Told) -> bool:
    return (row["group_id"], row["generation"], row["member_id"]) == (told.group_id, told.generation, told.member_id)


def test_a_static_member_that_comes_back_replaces_itself(run):
    *_, gone, back = run[1]
    [row] = [row for row in tables_of(run)["generation_members"] if is_of(row, back)]
    assert (row["group_instance_id"], row["replaces_member_id"]) == ("static-1", gone.member_id)


def test_transactions_end_with_their_markers(run):
    records = segment_records(run[0]).values()
    assert [record.control_type for record in records if record.control_type is not None] == ["commit", "abort"]
    offsets = [decode(record.key, record.value).row for record in records if record.is_transactional]
    assert [row["committed_offset"] for row in offsets if "committed_offset" in row] == [COMMITTED, ABORTED]
