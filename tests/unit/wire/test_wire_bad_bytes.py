"""What other decoders of this topic got wrong or crashed on, and damage in general."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.records.classic_groups import GROUP_METADATA, OFFSET_COMMIT
from schemas.records.record_types import RECORD_TYPES
from tests.support.record_writer import body_bytes, key_bytes, uvarint, value_bytes
from tests.unit.wire.test_wire_vectors import SUBSCRIPTION, VECTORS
from transforms.wire import records
from transforms.wire.consumer_protocol import read_assignment, read_subscription

COMMIT_KEY = bytes.fromhex("00010002673100017400000003")
GROUP_KEY = bytes.fromhex("000200026731")


def commit(metadata: str, version: int = 4) -> bytes:
    value = {"offset": 7, "leaderEpoch": 1, "metadata": metadata, "commitTimestamp": 5, "expireTimestamp": 9}
    return value_bytes(OFFSET_COMMIT, value, version)


def group(members: list[dict[str, Any]], protocol_type: str = "consumer", version: int = 3) -> bytes:
    value = {
        "protocolType": protocol_type,
        "generation": 4,
        "protocol": "range",
        "leader": "a",
        "currentStateTimestamp": 1,
        "members": members,
    }
    return value_bytes(GROUP_METADATA, value, version)


def member(name: str, subscription: bytes = b"", assignment: bytes = b"") -> dict[str, Any]:
    return {
        "memberId": name,
        "groupInstanceId": None,
        "clientId": name,
        "clientHost": "/h",
        "rebalanceTimeout": 60_000,
        "sessionTimeout": 10_000,
        "subscription": subscription,
        "assignment": assignment,
    }


def reason(key: bytes | None, value: bytes | None = None) -> str:
    decoded = records.decode(key, value)
    assert decoded.table == "rejected", decoded
    assert set(decoded.row) == {"reason_code", "detail", "raw"} and decoded.row["detail"]
    return str(decoded.row["reason_code"])


@pytest.mark.parametrize("size", [0, 1, 126, 127, 128, 4096, 16_383, 16_384, 32_767])
@pytest.mark.parametrize("version", range(5))
def test_long_metadata_does_not_shift_the_time(size: int, version: int) -> None:
    row = records.decode(COMMIT_KEY, commit("x" * size, version)).row
    assert (len(row["metadata"]), row["committed_at"], row["committed_offset"]) == (size, 5, 7)


@pytest.mark.parametrize(
    ("length", "code"), [(-2, "negative_length"), (-32_768, "negative_length"), (32_767, "buffer_underflow")]
)
def test_wrong_string_lengths(length: int, code: str) -> None:
    assert reason(struct.pack(">hh", 1, length) + b"abc") == code


@pytest.mark.parametrize("count", [2**31 - 1, 2**24, 3])
def test_wrong_counts_take_no_memory(count: int) -> None:
    head = group([])[:-4]
    assert reason(GROUP_KEY, head + struct.pack(">i", count)) == "buffer_underflow"
    assert reason(GROUP_KEY, group([], version=4)[:-2] + uvarint(count + 1) + b"\x00") == "buffer_underflow"
    broken = b"\x00\x03" + struct.pack(">i", count)
    assert read_subscription(broken).topics is None and read_assignment(broken).assigned is None


def test_a_negative_count_is_an_error_and_null_is_no_empty_list() -> None:
    head = group([])[:-4]
    assert reason(GROUP_KEY, head + struct.pack(">i", -1)) == "unexpected_null"
    assert reason(GROUP_KEY, head + struct.pack(">i", -2)) == "negative_length"


def test_null_where_kafka_has_none() -> None:
    assert reason(struct.pack(">hh", 2, -1)) == "unexpected_null"
    assert reason(COMMIT_KEY, struct.pack(">hqhq", 2, 1, -1, 5)) == "unexpected_null"


def test_text_that_is_not_utf8() -> None:
    assert reason(struct.pack(">hh", 2, 2) + b"\xff\xfe") == "invalid_utf8"
    assert reason(COMMIT_KEY, struct.pack(">hqh", 2, 1, 1) + b"\xc3" + struct.pack(">q", 5)) == "invalid_utf8"


def test_marker_and_null_keys() -> None:
    assert reason(b"\x00\x00\x00\x00", b"\x00\x00\x00\x00\x00\x00") == "marker_key"
    assert reason(b"\x00\x00\x00\x01") == "marker_key"
    assert reason(None, b"x") == "null_key"
    assert reason(b"", None) == reason(b"\x00") == "buffer_underflow"
    # Four bytes alone make no marker: this is a group without a name.
    assert records.decode(b"\x00\x03\x00\x00", None).row["group_id"] == ""


@pytest.mark.parametrize("type_id", [18, 24, 99, -1])
def test_unknown_types_keep_their_key(type_id: int) -> None:
    key = struct.pack(">h", type_id) + b"anything"
    assert reason(key, b"\x00\x00") == "unknown_record_type"
    assert records.decode(key, None).row["raw"] == key


def test_a_version_to_come_is_read_as_the_highest_known_one() -> None:
    """KIP-915: fields are kept, unknown tags and what follows them are passed over, the row keeps the real number."""
    value = b"\x00\x09" + commit("m")[2:-1] + b"\x01\x07\x02ab" + b"more"
    row = records.decode(COMMIT_KEY, value).row
    assert (row["value_version"], row["committed_offset"], row["metadata"]) == (9, 7, "m")
    modern = records.decode(bytes.fromhex("000600026731"), bytes.fromhex("00050000000300")).row
    assert (modern["value_version"], modern["body"]) == (5, '{"assignmentEpoch":3}')


def test_versions_that_cannot_be_read() -> None:
    assert reason(COMMIT_KEY, b"\xff\xff" + commit("m")[2:]) == "unsupported_version"
    assert reason(COMMIT_KEY, b"\x00\x09\x01") == "unsupported_version"
    legacy_key = b"\x00\x00" + COMMIT_KEY[2:]
    assert reason(legacy_key, commit("m", 1)) == "unsupported_version"


def test_bytes_behind_a_known_version_are_not_passed_over() -> None:
    assert reason(COMMIT_KEY + b"\x00", None) == "trailing_bytes"
    for version in range(5):
        assert reason(COMMIT_KEY, commit("m", version) + b"\x00") == "trailing_bytes"


def test_the_key_alone_says_what_the_value_is() -> None:
    """Group metadata read as a commit gives an offset out of the word "consumer"."""
    row = records.decode(GROUP_KEY, group([])).row
    assert "committed_offset" not in row and row["generation"] == 4


def test_unknown_tags_are_passed_over_and_known_ones_must_fit() -> None:
    plain = commit("m")[:-1]
    row = records.decode(COMMIT_KEY, plain + b"\x02\x05\x03abc" + b"\x00\x10" + bytes(15) + b"\x01").row
    assert row["topic_id"] == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert records.decode(COMMIT_KEY, plain + b"\x01\x00\x10" + bytes(16)).row["topic_id"] is None
    assert reason(COMMIT_KEY, plain + b"\x01\x00\x11" + bytes(17)) == "trailing_bytes"
    assert reason(COMMIT_KEY, plain + b"\x01\x00\x0f" + bytes(15)) == "buffer_underflow"
    assert reason(COMMIT_KEY, plain + b"\xff\xff\xff\xff\x7f") == "malformed_varint"


def test_times_that_are_no_moments_are_not_known() -> None:
    for milliseconds in (-1, -(2**63), 2**63 - 1):
        value = value_bytes(OFFSET_COMMIT, {"offset": 1, "metadata": "", "commitTimestamp": milliseconds}, 2)
        assert records.decode(COMMIT_KEY, value).row["committed_at"] is None


def test_other_protocol_types_keep_their_bytes() -> None:
    for protocol_type in ("connect", "sr", "stream"):
        row = records.decode(GROUP_KEY, group([member("w", b"\x00\x01abc", b"xyz")], protocol_type)).row
        [worker] = row["members"]
        assert row["protocol_type"] == protocol_type
        assert (worker["subscription"], worker["assignment"]) == (b"\x00\x01abc", b"xyz")
        assert worker["topics"] is worker["owned"] is worker["assigned"] is worker["user_data"] is None


def test_broken_inner_bytes_keep_what_was_read() -> None:
    topics_only = bytes.fromhex("0000" + "00000001000174")  # user data left out, as some clients do
    one_byte_user_data = topics_only + b"\x00"
    assignment = bytes.fromhex("0000" + "000000010001740000000100000002")
    members = [
        member("a", topics_only, assignment),
        member("b", one_byte_user_data, b"\x00\x00\x00"),
        member("c", b"\xff", b""),
        member("d", b"\xff\xff\x00\x00\x00\x00", b"\x80\x00abc"),
        member("e", bytes.fromhex(SUBSCRIPTION[3]), assignment + b"\xff\xff\xff\xff"),
    ]
    a, b, c, d, e = records.decode(GROUP_KEY, group(members)).row["members"]
    assert (a["topics"], a["assigned"]) == (["t"], [{"topic": "t", "partitions": [2]}])
    assert (b["topics"], b["assigned"]) == (["t"], None)
    assert (c["topics"], c["assigned"]) == (None, [])
    assert (d["topics"], d["assigned"]) == (None, None)
    assert (e["topics"], e["owned"]) == (["t"], [{"topic": "t", "partitions": [0]}])


def test_an_announced_version_without_its_fields_is_an_older_body() -> None:
    """Some clients write version 1 and leave the owned partitions out."""
    short = read_subscription(bytes.fromhex("0001" + SUBSCRIPTION[0][4:]))
    assert (short.topics, short.owned) == (["t"], None) and short.problem


def test_a_topic_that_comes_twice_is_kept_twice() -> None:
    from schemas.records.consumer_protocol import ASSIGNMENT

    twice = [{"topic": "t", "partitions": [0]}, {"topic": "u", "partitions": []}, {"topic": "t", "partitions": [1, 0]}]
    raw = b"\x00\x00" + body_bytes(ASSIGNMENT, {"assignedPartitions": twice, "userData": b"s"}, 0, flexible=False)
    [row] = records.decode(GROUP_KEY, group([member("a", b"", raw)])).row["members"]
    assert row["assigned"] == twice


def test_the_place_of_the_damage_is_told() -> None:
    value = group([member("a"), member("b")])
    assert "GroupMetadata.members.[1]." in records.decode(GROUP_KEY, value[:-3]).row["detail"]


@given(st.none() | st.binary(max_size=64), st.none() | st.binary(max_size=256))
def test_no_bytes_make_it_raise(key: bytes | None, value: bytes | None) -> None:
    assert records.decode(key, value).table in {"offset_commits", "group_metadata", "modern_group_records", "rejected"}


@given(st.sampled_from(sorted(RECORD_TYPES)), st.integers(0, 5), st.binary(max_size=256))
def test_no_value_of_a_known_type_makes_it_raise(type_id: int, version: int, body: bytes) -> None:
    key = key_bytes(
        RECORD_TYPES[type_id], {field.name: _some(field.name) for field in RECORD_TYPES[type_id].key.fields}
    )
    decoded = records.decode(key, struct.pack(">h", version) + body)
    assert decoded.table in {records.table_of(type_id), "rejected"}


def _some(name: str) -> Any:
    return 3 if name == "partition" else "g"


@given(st.sampled_from(VECTORS), st.data())
def test_flipped_and_cut_records_never_raise(vector: dict[str, Any], data: st.DataObject) -> None:
    key = bytearray.fromhex(vector["key"])
    value = bytearray.fromhex(vector["value"] or "0000")
    for _ in range(data.draw(st.integers(1, 4))):
        target = data.draw(st.sampled_from([key, value]))
        target[data.draw(st.integers(0, len(target) - 1))] = data.draw(st.integers(0, 255))
    decoded = records.decode(bytes(key), bytes(value)[: data.draw(st.integers(0, len(value)))])
    if decoded.table == "modern_group_records":
        json.loads(decoded.row["body"])
