"""Kafka 3.7 puts a joiner into its memory first: if the join then fails, no record tells of who is in there for good.

So it was on a broker 3.7.2: a member that subscribed to no topic that there was made the uniform assignor fail, and
from then on the group was fuller than its records say, was never empty, and let nobody in any more.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.coordinator.evidence_rows import GROUP, Row, line, modern_records, request
from transforms.coordinator.replay import replay_group
from transforms.coordinator.timeline.audit import WHY_UNTOLD

FULL, FAILED, UNKNOWN, NOT_EMPTY = 81, -1, 25, 68
FOO = {"topicId": "AAAAAAAAAAAAAAAAAAAAAQ", "topicName": "foo", "numPartitions": 1, "partitionMetadata": []}
JOINED: list[tuple[int, str, Any]] = [
    (5, "m", {"subscribedTopicNames": ["foo"], "rebalanceTimeoutMs": 6_000}),
    (4, "", {"topics": [FOO]}),
    (3, "", {"epoch": 1}),
    (7, "m", {"topicPartitions": [{"topicId": FOO["topicId"], "partitions": [0]}]}),
    (6, "", {"assignmentEpoch": 1}),
    (8, "m", {"memberEpoch": 1, "previousMemberEpoch": 0, "targetMemberEpoch": 1}),
]
LEFT: list[tuple[int, str, Any]] = [(8, "m", None), (7, "m", None), (5, "m", None), (3, "", {"epoch": 2})]
SETTINGS = line(950, "broker_settings", group_id=None, attributes={"group.consumer.max.size": "2"})


def heartbeat(at: float, member_id: str, epoch: int, error: int = 0, **fields: Any) -> Row:
    asked = {"api_version": 0, "generation": epoch, "answered_member_id": member_id if not error else None}
    return request(at, "ConsumerGroupHeartbeat", member_id, error, **{**asked, "rebalance_timeout_ms": -1, **fields})


def join(at: float, member_id: str, error: int, topic: str = "foo", **fields: Any) -> Row:
    said = {"rebalance_timeout_ms": 6_000, "subscribed_topics": [topic], "owned": []}
    return heartbeat(at, member_id, 0, error, **{**said, **fields})


def predicted(
    *requests: Row, version: str = "3.7.2", lines: tuple[Row, ...] = (), left_at: float | None = None
) -> list[int | None]:
    """What the requests are predicted to be answered, of a group with a member that joined and may have left."""
    printed = line(900, "broker_version", group_id=None, attributes={"version": version})
    stored = modern_records((1_001, JOINED), *([(left_at, LEFT)] if left_at else []))
    rows = replay_group("c", GROUP, [], [printed, *lines], list(requests), 50, modern_records=stored)["replay_audit"]
    return [row["predicted_error"] for row in sorted(rows, key=lambda row: row["handled_at"])]


NOWHERE = join(2_000, "n", FAILED, "nowhere")
"""The first of these joins cannot be foreseen: that there is no such topic, nothing tells."""


def test_the_first_one_cannot_be_foreseen():
    printed = line(900, "broker_version", group_id=None, attributes={"version": "3.7.2"})
    rows = replay_group("c", GROUP, [], [printed], [NOWHERE], 50, modern_records=modern_records((1_001, JOINED)))
    assert [(row["agrees"], row["why"]) for row in rows["replay_audit"]] == [(None, WHY_UNTOLD)]


@pytest.mark.parametrize(("version", "error"), [("3.7.2", FULL), ("3.8.0", 0)])
def test_it_counts_towards_the_size_of_the_group(version, error):
    joins = join(3_000, "o", FULL)
    assert predicted(NOWHERE, joins, version=version, lines=(SETTINGS,)) == [None, error]


def test_so_does_one_that_was_to_be_given_its_id():
    nameless = join(2_000, "", FAILED, "nowhere")
    assert predicted(nameless, join(3_000, "o", FULL), lines=(SETTINGS,)) == [None, FULL]


def test_who_tries_again_is_let_in_and_counted_once():
    again, other = join(2_500, "n", FAILED, "nowhere"), join(3_000, "o", FULL)
    settings = line(950, "broker_settings", group_id=None, attributes={"group.consumer.max.size": "3"})
    assert predicted(NOWHERE, again, other, lines=(settings,)) == [None, None, FAILED]
    assert predicted(NOWHERE, join(2_500, "n", FULL), lines=(SETTINGS,)) == [None, 0]


@pytest.mark.parametrize(("assignor", "error"), [(None, FAILED), ("uniform", FAILED), ("range", 0)])
def test_the_uniform_assignor_fails_from_then_on(assignor, error):
    assert predicted(NOWHERE, join(3_000, "o", error or FULL, server_assignor=assignor))[1] == error


def test_it_does_not_where_nobody_subscribes_to_a_topic_that_there_is():
    assert predicted(NOWHERE, join(3_000, "o", FULL, "nowhere"), left_at=2_500) == [None, 0]


def test_the_group_is_not_empty_when_all_others_have_left():
    commit = request(30_000, "OffsetCommit", "", UNKNOWN, generation=-1, api_version=9)
    deletion = request(40_000, "DeleteGroups", "", NOT_EMPTY)
    assert predicted(NOWHERE, commit, deletion, left_at=2_500) == [None, UNKNOWN, NOT_EMPTY]
    assert predicted(commit, deletion, left_at=2_500) == [0, 0]


def test_it_is_a_member_that_can_be_fenced_and_can_leave():
    fenced, leaves = heartbeat(3_000, "n", 1, 110), heartbeat(4_000, "n", -1, answered_generation=-1)
    assert predicted(NOWHERE, fenced, leaves) == [None, 110, 0]


def test_once_it_has_left_there_is_room_again():
    printed = line(900, "broker_version", group_id=None, attributes={"version": "3.7.2"})
    gone: list[tuple[int, str, Any]] = [(8, "n", None), (7, "n", None), (5, "n", None), (3, "", {"epoch": 2})]
    stored = modern_records((1_001, JOINED), (3_000, gone))
    requests = [NOWHERE, heartbeat(3_000, "n", -1, answered_generation=-1), join(4_000, "o", FULL)]
    rows = replay_group("c", GROUP, [], [printed, SETTINGS], requests, 50, modern_records=stored)["replay_audit"]
    assert [row["predicted_error"] for row in rows] == [None, 0, 0]


def test_a_coordinator_that_loads_the_group_does_not_know_it():
    loaded = line(2_500, "load_finished", group_id=None, topic_partition_of_group=7)
    assert predicted(NOWHERE, join(3_000, "o", FULL), lines=(SETTINGS, loaded)) == [None, 0]


def test_the_heir_of_an_instance_is_given_a_place_that_is_there():
    """A join that fails leaves its forerunner where it is, and adds nobody."""
    member = (5, "m", {"subscribedTopicNames": ["foo"], "rebalanceTimeoutMs": 6_000, "instanceId": "i"})
    stored = modern_records((1_001, [member, *JOINED[1:]]))
    printed = line(900, "broker_version", group_id=None, attributes={"version": "3.7.2"})
    requests = [join(2_000, "n", FAILED, "nowhere", group_instance_id="i"), join(3_000, "o", FULL)]
    rows = replay_group("c", GROUP, [], [printed, SETTINGS], requests, 50, modern_records=stored)["replay_audit"]
    assert [row["predicted_error"] for row in rows][1:] == [0]
