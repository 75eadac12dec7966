"""Values that Kafka 3.7 wrote, in layouts of its own under the version number of those that came after."""

from __future__ import annotations

import json
import random
import struct
import uuid

import pytest

from transforms.coordinator.consumer import machine
from transforms.coordinator.consumer.records import read
from transforms.coordinator.kafka.states import MemberState
from transforms.wire.records import Decoded, decode

TOPIC = uuid.UUID("11111111-2222-3333-4444-555555555555")
Parts = tuple[int, ...]


def key(type_id: int, *names: str) -> bytes:
    return struct.pack(">h", type_id) + b"".join(struct.pack(">h", len(each)) + each.encode() for each in names)


def text(value: str | None) -> bytes:
    return b"\0" if value is None else bytes([len(value) + 1]) + value.encode()


def partitions(*numbers: int) -> bytes:
    """One topic's partitions, or no topic at all."""
    if not numbers:
        return b"\1"
    return b"\2" + TOPIC.bytes + bytes([len(numbers) + 1]) + struct.pack(f">{len(numbers)}i", *numbers) + b"\0"


def current_3_7(epochs: tuple[int, int, int], assigned: Parts = (), revoking: Parts = (), awaited: Parts = ()) -> bytes:
    body = struct.pack(">h3i", 0, *epochs) + partitions(*assigned) + partitions(*revoking) + partitions(*awaited)
    return body + b"\0" + b"\0\0" + b"\1" + b"\0"


def current(epoch: int, previous: int, state: int, assigned: Parts = (), revoking: Parts = ()) -> bytes:
    return struct.pack(">hiib", 0, epoch, previous, state) + partitions(*assigned) + partitions(*revoking) + b"\0"


def member_3_7() -> bytes:
    said = text(None) * 2 + text("c1") + text("/127.0.0.1") + b"\2" + text("orders") + text("")
    return b"\0\0" + said + struct.pack(">i", 6000) + text("uniform") + b"\1" + b"\0"


def body_of(decoded: Decoded) -> dict[str, object]:
    assert decoded.table == "modern_group_records", decoded
    return dict(json.loads(decoded.row["body"]))


def group_of(*records: tuple[bytes, bytes]) -> machine.Group:
    found = machine.Machine()
    for each, value in records:
        row = decode(each, value).row
        found.take([read(row["record_type"], row["member_id"] or "", row["body"])])
    assert found.present is not None
    return found.present


def test_a_member_of_3_7_stands_where_its_record_says():
    value = current_3_7((4, 3, 5), (0, 1), (2,), (7,))
    assert body_of(decode(key(8, "g", "m1"), value)) == {
        "memberEpoch": 4,
        "previousMemberEpoch": 3,
        "targetMemberEpoch": 5,
        "assignedPartitions": [{"topicId": "ERERESIiMzNERFVVVVVVVQ", "partitions": [0, 1]}],
        "partitionsPendingRevocation": [{"topicId": "ERERESIiMzNERFVVVVVVVQ", "partitions": [2]}],
        "partitionsPendingAssignment": [{"topicId": "ERERESIiMzNERFVVVVVVVQ", "partitions": [7]}],
        "error": 0,
        "metadataVersion": 0,
        "metadataBytes": "",
    }


@pytest.mark.parametrize(
    ("revoking", "awaited", "state"),
    [
        ((2,), (7,), MemberState.UNREVOKED_PARTITIONS),
        ((), (7,), MemberState.UNRELEASED_PARTITIONS),
        ((), (), MemberState.STABLE),
    ],
)
def test_its_state_follows_from_what_is_pending(revoking: Parts, awaited: Parts, state: MemberState):
    group = group_of(
        (key(3, "g"), b"\0\0" + struct.pack(">i", 5) + b"\0"),
        (key(5, "g", "m1"), member_3_7()),
        (key(4, "g"), b"\0\0" + bytes(4) + b"\1" + b"\0"),
        (key(7, "g", "m1"), b"\0\0" + b"\0" + partitions(0, 1) + b"\0\0\1\0"),
        (key(6, "g"), b"\0\0" + struct.pack(">i", 5) + b"\0"),
        (key(8, "g", "m1"), current_3_7((5, 4, 5), (0, 1), revoking, awaited)),
    )
    member = group.members["m1"]
    assert (member.standing.state, member.epoch) == (state, 5)
    assert member.metadata.subscribed_topic_names == ("orders",)
    assert group.targets["m1"] == {"ERERESIiMzNERFVVVVVVVQ": (0, 1)}
    assert group.state.value == ("Stable" if state is MemberState.STABLE else "Reconciling")


def test_a_group_of_3_7_is_stable_though_a_static_member_left_it_for_a_while():
    group = group_of(
        (key(3, "g"), b"\0\0" + struct.pack(">i", 5) + b"\0"),
        (key(5, "g", "m1"), member_3_7()),
        (key(6, "g"), b"\0\0" + struct.pack(">i", 5) + b"\0"),
        (key(8, "g", "m1"), current_3_7((-2, 4, 5), (0,))),
    )
    assert group.state.value == "Stable"


def test_no_value_of_later_releases_is_taken_for_one_of_3_7():
    dice = random.Random(37)
    for _ in range(5_000):
        epoch = dice.choice((0, 5, 300, 70_000, 20_000_000))
        held = tuple(range(dice.randrange(4)))
        value = current(epoch, epoch - 1, dice.randrange(3), held, tuple(range(9, 9 + dice.randrange(3))))
        assert "state" in body_of(decode(key(8, "g", "m1"), value))


def test_a_value_that_both_could_have_written_is_set_aside():
    """Epochs far beyond 65,000 begin as today's state and lists do; what follows may look like a field to come."""
    likely = current_3_7((1, 1, 0x00010101), (0,))
    assert "targetMemberEpoch" in body_of(decode(key(8, "g", "m1"), likely))
    length = len(likely) - likely.index(TOPIC.bytes) - 1
    unlikely = likely.replace(TOPIC.bytes, bytes([length]) + TOPIC.bytes[1:])  # the topic's id begins as a length would
    decoded = decode(key(8, "g", "m1"), unlikely)
    assert (decoded.table, decoded.row.get("reason_code")) == ("rejected", "ambiguous_layout")


def test_damaged_values_of_3_7_are_set_aside():
    value = current_3_7((4, 3, 5), (0, 1), (2,), (7,))
    for size in range(2, len(value)):
        assert decode(key(8, "g", "m1"), value[:size]).table == "rejected", size
    assert decode(key(8, "g", "m1"), value + b"\0").table == "rejected"
