"""Records written by Kafka's own serde, and the vectors that other decoders got wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.records.record_types import RECORD_TYPES
from transforms.wire import records, rows
from transforms.wire.consumer_protocol import read_assignment, read_subscription
from transforms.wire.segments import read

DATA = Path(__file__).resolve().parents[2] / "data" / "vectors"
VECTORS = [json.loads(line) for line in (DATA / "records_4.2.0.jsonl").read_text().splitlines()]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("vector", VECTORS, ids=[each["name"] for each in VECTORS])
def test_a_record_says_what_kafka_says(vector: dict[str, Any]) -> None:
    record_type, key = records.read_key(bytes.fromhex(vector["key"]))
    assert (record_type.type_id, compact(key)) == (vector["type"], compact(vector["key_data"]))
    if vector["value"] is not None:
        version, value = records.read_value(record_type, bytes.fromhex(vector["value"]))
        assert version == vector["version"]
        assert rows.to_json(value) == compact(vector["value_data"])
    decoded = records.decode(bytes.fromhex(vector["key"]), vector["value"] and bytes.fromhex(vector["value"]))
    assert decoded.table == records.table_of(vector["type"])
    assert decoded.row["is_tombstone"] is (vector["value"] is None)
    assert decoded.row["value_version"] == (None if vector["value"] is None else vector["version"])


def test_every_type_and_version_has_a_vector_but_the_share_type_that_only_4_0_wrote() -> None:
    seen = {(each["type"], each["version"]) for each in VECTORS if each["value"] is not None}
    known = {(each.type_id, version) for each in RECORD_TYPES.values() for version in range(each.last_version + 1)}
    assert known - seen == {(9, 0)}


def test_sample_segment_holds_the_vectors() -> None:
    with (DATA / "sample_segment.log").open("rb") as file:
        found = list(read(file))
    assert [each.offset for each in found] == list(range(41))
    for record, vector in zip(found[:38], VECTORS, strict=True):
        assert (record.key.hex(), record.value and record.value.hex()) == (vector["key"], vector["value"])
        assert (record.timestamp, record.producer_id, record.is_transactional) == (1_700_000_000_000, -1, False)
    assert records.decode(found[38].key, found[38].value).row["reason_code"] == "unknown_record_type"
    assert [(each.producer_id, each.is_transactional, each.control_type) for each in found[39:]] == [
        (5, True, None),
        (5, True, "commit"),
    ]


def test_commit_rows_of_each_version() -> None:
    key = bytes.fromhex("00010002673100017400000003")
    by_name = {each["name"]: bytes.fromhex(each["value"]) for each in VECTORS if each["value"]}
    common = {"group_id": "g1", "topic": "t", "partition": 3, "is_tombstone": False}
    row = records.decode(key, by_name["OffsetCommit v1"]).row
    assert row == common | {
        "committed_offset": 42,
        "leader_epoch": None,
        "metadata": "m",
        "committed_at": 1_700_000_000_000,
        "expires_at": 1_700_000_600_000,
        "topic_id": None,
        "value_version": 1,
    }
    row = records.decode(key, by_name["OffsetCommit+topicId v4"]).row
    assert row == common | {
        "committed_offset": 42,
        "leader_epoch": None,
        "metadata": "",
        "committed_at": 1_700_000_000_000,
        "expires_at": None,
        "topic_id": "AAAAAAAAAAEAAAAAAAAAAg",
        "value_version": 4,
    }
    row = records.decode(key, None).row
    assert row["is_tombstone"] and row["committed_offset"] is None and row["value_version"] is None


def test_group_metadata_rows() -> None:
    by_name = {each["name"]: bytes.fromhex(each["value"]) for each in VECTORS if each["value"]}
    key = bytes.fromhex("000200026731")
    [member] = records.decode(key, by_name["GroupMetadata v3"]).row["members"]
    subscription, assignment = member.pop("subscription"), member.pop("assignment")
    assert member == {
        "member_id": "c1-x",
        "group_instance_id": "i1",
        "client_id": "c1",
        "client_host": "/127.0.0.1",
        "session_timeout_ms": 45_000,
        "rebalance_timeout_ms": 300_000,
        "topics": ["t"],
        "owned": [{"topic": "t", "partitions": [0]}],
        "assigned": [{"topic": "t", "partitions": [0, 1]}],
        "user_data": None,
    }
    assert (subscription[:2], assignment[:2]) == (b"\x00\x03", b"\x00\x03")
    [oldest] = records.decode(key, by_name["GroupMetadata v0"]).row["members"]
    assert oldest["rebalance_timeout_ms"] == oldest["session_timeout_ms"] == 45_000
    marker = records.decode(key, by_name["GroupMetadata new(Java) v3"]).row
    assert (marker["protocol_type"], marker["generation"], marker["members"]) == (None, 0, [])


def test_share_group_records_of_4_0_are_read_with_their_own_layout() -> None:
    metadata = records.decode(bytes.fromhex("000b00026731"), bytes.fromhex("00000000000300"))
    assert metadata.row["body"] == '{"epoch":3}'
    partitions = records.decode(bytes.fromhex("000f00026731"), bytes.fromhex("0000010100"))
    assert partitions.row["body"] == '{"initializedTopics":[],"deletingTopics":[]}'
    topics = next(each for each in VECTORS if each["name"] == "CGPartMeta v0")
    old_type = records.decode(bytes.fromhex("000900026731"), bytes.fromhex(topics["value"]))
    assert old_type.row["record_name"] == "ShareGroupPartitionMetadata"
    assert json.loads(old_type.row["body"]) == topics["value_data"]


def test_commit_v4_of_a_real_broker() -> None:
    """franz-go issue 1105."""
    key = bytes.fromhex("00010002673100017400000003")
    row = records.decode(key, bytes.fromhex("0004000000000021d4a8ffffffff010000019964f2d83600")).row
    assert (row["committed_offset"], row["leader_epoch"], row["committed_at"]) == (2_217_128, None, 1_758_335_260_726)


SUBSCRIPTION = {
    0: "000000000001000174ffffffff",
    1: "000100000001000174ffffffff000000010001740000000100000000",
    2: "000200000001000174ffffffff00000001000174000000010000000000000004",
    3: "000300000001000174ffffffff0000000100017400000001000000000000000400027231",
}


@pytest.mark.parametrize("version", SUBSCRIPTION)
def test_subscription_versions(version: int) -> None:
    read_back = read_subscription(bytes.fromhex(SUBSCRIPTION[version]))
    assert (read_back.topics, read_back.user_data, read_back.problem) == (["t"], None, None)
    assert read_back.owned == (None if version < 1 else [{"topic": "t", "partitions": [0]}])
    assert read_back.generation == (None if version < 2 else 4)
    assert read_back.rack_id == (None if version < 3 else "r1")


def test_versions_to_come_are_read_as_the_highest_known_one() -> None:
    assert read_subscription(bytes.fromhex("0009" + SUBSCRIPTION[3][4:] + "0badcafe")).rack_id == "r1"
    future = read_assignment(bytes.fromhex("0007000000010001740000000200000000" + "00000001ffffffff" + "beef"))
    assert (future.assigned, future.problem) == ([{"topic": "t", "partitions": [0, 1]}], None)
