"""Segment files of real brokers: every record says what Kafka's own dump tool says of it, field by field."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.captures import ALL
from tests.support.dump import DumpedRecord, read_dump
from transforms.wire import records
from transforms.wire.segments import Record, read


def segment_records(capture: Path) -> dict[tuple[int, int], Record]:
    found = {}
    for path in capture.glob("consumer_offsets/*/*.log"):
        partition = int(path.parent.name.rsplit("-", 1)[1])
        with path.open("rb") as file:
            for each in read(file):
                assert isinstance(each, Record), each
                found[partition, each.offset] = each
    return found


@pytest.mark.parametrize("name", ALL)
def test_records_are_those_of_the_dump(name: str, capture_dir: Callable[[str], Path]) -> None:
    assert check_records(capture_dir(name)) > 250


def check_records(capture: Path) -> int:
    """Compare every record of a capture with Kafka's dump of it; return their number."""
    found = segment_records(capture)
    dumped = list(read_dump(capture))
    assert set(found) == {(each.partition, each.offset) for each in dumped}
    for each in dumped:
        record = found[each.partition, each.offset]
        size = [-1 if part is None else len(part) for part in (record.key, record.value)]
        assert (record.timestamp, *size) == (each.timestamp, each.key_size, each.value_size)
        assert record[4:] == (each.producer_id, each.producer_epoch, each.is_transactional, each.control_type)
        if each.control_type is None:
            check_content(record, each)
    return len(dumped)


def check_content(record: Record, dumped: DumpedRecord) -> None:
    assert dumped.key is not None
    type_id, key = int(dumped.key["type"]), dumped.key["data"]
    data = None if dumped.value is None else dumped.value["data"]
    decoded = records.decode(record.key, record.value)
    row = decoded.row
    assert decoded.table == records.table_of(type_id)
    assert row["group_id"] == key.get("group", key.get("groupId"))
    assert row["is_tombstone"] is (data is None)
    assert row["value_version"] == (None if dumped.value is None else int(dumped.value["version"]))
    if decoded.table == "modern_group_records":
        assert (row["record_type"], row["member_id"]) == (type_id, key.get("memberId"))
        assert row["body"] == (None if data is None else json.dumps(data, separators=(",", ":"), ensure_ascii=False))
    elif type_id == 2:
        check_group(row, data)
    else:
        check_commit(row, key, data or {"offset": None, "metadata": None, "commitTimestamp": None})


def check_commit(row: dict[str, Any], key: dict[str, Any], data: dict[str, Any]) -> None:
    leader_epoch = data.get("leaderEpoch", -1)
    assert (row["topic"], row["partition"]) == (key["topic"], key["partition"])
    assert (row["committed_offset"], row["metadata"]) == (data["offset"], data["metadata"])
    assert row["committed_at"] == data["commitTimestamp"]
    assert row["leader_epoch"] == (None if leader_epoch == -1 else leader_epoch)
    assert (row["topic_id"], row["expires_at"]) == (data.get("topicId"), data.get("expireTimestamp"))


def check_group(row: dict[str, Any], data: dict[str, Any] | None) -> None:
    if data is None:
        assert row["members"] is row["generation"] is None
        return
    assert (row["protocol_type"] or "", row["generation"]) == (data["protocolType"], data["generation"])
    assert (row["protocol"], row["leader_member_id"]) == (data["protocol"], data["leader"])
    assert row["state_changed_at"] == data["currentStateTimestamp"]
    assert len(row["members"]) == len(data["members"])
    for member, told in zip(row["members"], data["members"], strict=True):
        check_member(member, told)


def check_member(member: dict[str, Any], told: dict[str, Any]) -> None:
    names = ("memberId", "groupInstanceId", "clientId", "clientHost", "sessionTimeout", "rebalanceTimeout")
    assert list(member.values())[:6] == [told.get(name) for name in names]  # no instance before 2.3
    subscription, assignment = told["subscription"], told["assignment"]
    if isinstance(subscription, dict):
        assert member["topics"] == subscription["topics"]
        assert member["owned"] == (subscription["ownedPartitions"] if member["subscription"][1] else None)
        assert member["user_data"] == _bytes(subscription["userData"])
    else:
        assert member["subscription"] == _bytes(subscription)
    if isinstance(assignment, dict):
        assert member["assigned"] == assignment["assignedPartitions"]
    else:
        assert member["assignment"] == _bytes(assignment)
        assert member["assigned"] == ([] if assignment == "" else None)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
