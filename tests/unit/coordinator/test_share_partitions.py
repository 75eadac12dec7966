"""What becomes of the share state of a share group's partitions, from record to record."""

from __future__ import annotations

from typing import Any

from tests.unit.coordinator.evidence_rows import GROUP, Row, modern_records
from transforms.coordinator.replay import replay_group

Moment = tuple[float, list[tuple[int, str, Any]]]

ORDERS, PAYMENTS = ("AAAAAAAADwAAAAAAAAAAAQ", "orders"), ("AAAAAAAAC6IAAAAAAAAAAg", "payments")
Topic = tuple[str, str]


def _listed(topics: dict[Topic, tuple[int, ...]]) -> list[Row]:
    return [
        {"topicId": topic_id, "topicName": name, "partitions": list(numbers)}
        for (topic_id, name), numbers in topics.items()
    ]


def _state(
    begun: dict[Topic, tuple[int, ...]], ready: dict[Topic, tuple[int, ...]], *deleting: Topic
) -> tuple[int, str, Any]:
    gone = [{"topicId": topic_id, "topicName": name} for topic_id, name in deleting]
    return 15, "", {"initializingTopics": _listed(begun), "initializedTopics": _listed(ready), "deletingTopics": gone}


JOINED: Moment = (
    1_000,
    [
        (10, "m", {"clientId": "c", "clientHost": "/h", "subscribedTopicNames": ["orders", "payments"]}),
        (11, "", {"epoch": 1}),
        (13, "m", {"topicPartitions": []}),
        (12, "", {"assignmentEpoch": 1}),
        (14, "m", {"memberEpoch": 1, "previousMemberEpoch": 0, "state": 0, "assignedPartitions": []}),
        _state({ORDERS: (0, 1), PAYMENTS: (0,)}, {}),
    ],
)
READY: Moment = (1_040, [_state({PAYMENTS: (0,)}, {ORDERS: (0, 1)})])
FAILED: Moment = (1_060, [_state({}, {ORDERS: (0, 1)})])
TRIED_AGAIN: Moment = (5_000, [_state({PAYMENTS: (0,), ORDERS: (2,)}, {ORDERS: (0, 1)})])
ALL_READY: Moment = (5_050, [_state({}, {PAYMENTS: (0,), ORDERS: (0, 1, 2)})])
LEFT: Moment = (6_000, [(14, "m", None), (13, "m", None), (10, "m", None), (11, "", {"epoch": 2})])
ON_ITS_WAY_OUT: Moment = (7_000, [_state({}, {PAYMENTS: (0,)}, ORDERS)])
OUT: Moment = (7_100, [_state({}, {PAYMENTS: (0,)})])
GONE: Moment = (8_000, [(12, "", None), (15, "", None), (11, "", None)])


def _told(*moments: Moment) -> set[tuple[str, int, str, int, int | None]]:
    rows = replay_group("c", GROUP, [], [], [], 50, modern_records=modern_records(*moments))["share_partitions"]
    assert {(row["life"], row["group_type"]) for row in rows} == {(1, "share")}
    return {(row["topic"], row["partition"], row["state"], row["from_at"], row["to_at"]) for row in rows}


def test_a_partition_is_initialising_until_its_state_is_made_and_again_if_that_failed():
    assert _told(JOINED, READY, FAILED, TRIED_AGAIN, ALL_READY) == {
        ("orders", 0, "initialising", 1_000, 1_040),
        ("orders", 1, "initialising", 1_000, 1_040),
        ("orders", 0, "initialised", 1_040, None),
        ("orders", 1, "initialised", 1_040, None),
        ("orders", 2, "initialising", 5_000, 5_050),
        ("orders", 2, "initialised", 5_050, None),
        ("payments", 0, "initialising", 1_000, 1_060),
        ("payments", 0, "initialising", 5_000, 5_050),
        ("payments", 0, "initialised", 5_050, None),
    }


def test_a_topic_that_is_deleted_takes_the_partitions_along_that_were_known_of_it():
    told = _told(JOINED, READY, FAILED, LEFT, ON_ITS_WAY_OUT, OUT)
    assert {each for each in told if each[3] >= 1_040} == {
        ("orders", 0, "initialised", 1_040, 7_000),
        ("orders", 1, "initialised", 1_040, 7_000),
        ("orders", 0, "deleting", 7_000, 7_100),
        ("orders", 1, "deleting", 7_000, 7_100),
        ("payments", 0, "initialised", 7_000, None),
    }


def test_nothing_of_a_group_that_is_gone_is_initialised():
    told = _told(JOINED, READY, FAILED, LEFT, GONE)
    assert {each[4] for each in told if each[2] == "initialised"} == {8_000}


def test_of_a_group_whose_beginning_is_missing_the_newest_record_tells():
    assert _told((9_000, [_state({}, {ORDERS: (0,)}, PAYMENTS)])) == {("orders", 0, "initialised", 9_000, None)}
