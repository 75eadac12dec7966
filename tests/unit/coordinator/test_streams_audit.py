"""What requests to a streams group are answered, foreseen from its records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.coordinator.evidence_rows import GROUP, Row, line, modern_records, request
from transforms.coordinator.replay import replay_group
from transforms.coordinator.timeline.audit import WHY_BROKER, WHY_UNTOLD

TOPOLOGY = {"epoch": 0, "subtopologies": [{"subtopologyId": "0", "sourceTopics": ["orders"]}]}
TASKS = [{"subtopology_id": "0", "partitions": [0, 1]}]
NOTHING: Row = {f"{who}_{role}": [] for who in ("owned", "told") for role in ("active", "standby", "warmup")}


def _standing(epoch: int, before: int, *partitions: int) -> Row:
    tasks = [{"subtopologyId": "0", "partitions": list(partitions)}]  # without epochs, as 4.1 writes them
    return {"memberEpoch": epoch, "previousMemberEpoch": before, "state": 1, "activeTasks": tasks}


def _beat(at: float, epoch: int, told: int | None, error: int = 0, **fields: Any) -> Row:
    return request(
        at, "StreamsGroupHeartbeat", "m", error, generation=epoch, answered_generation=told, answered_member_id="m",
        rebalance_timeout_ms=-1, **fields
    )  # fmt: skip


def _join(at: float, **fields: Any) -> Row:
    joins = {"topology": json.dumps(TOPOLOGY), **NOTHING, "told_active": TASKS, **fields}
    return {**_beat(at, 0, 2, **joins), "rebalance_timeout_ms": 6_000}


JOINED = [
    (19, {"processId": "p", "rebalanceTimeoutMs": 6_000, "topologyEpoch": 0}),
    (23, TOPOLOGY),
    (17, {"epoch": 2, "validatedTopologyEpoch": 0}),
    (21, {"activeTasks": [{"subtopologyId": "0", "partitions": [0, 1]}]}),
    (20, {"assignmentEpoch": 2}),
    (22, _standing(2, 0, 0, 1)),
]
BUMPED = [(17, {"epoch": 3, "validatedTopologyEpoch": 0}), (20, {"assignmentEpoch": 3}), (22, _standing(3, 2, 0, 1))]


def _records(*moments: tuple[float, list[tuple[int, Any]]]) -> list[Row]:
    of_members = (19, 21, 22)
    return modern_records(
        *((at, [(number, "m" if number in of_members else "", body) for number, body in each]) for at, each in moments)
    )


def _audited(records: list[Row], *requests: Row, version: str = "4.2.0") -> list[Row]:
    printed = [line(900, "broker_version", group_id=None, attributes={"version": version})]
    rows = replay_group("c", GROUP, [], printed, requests, 50, modern_records=records)["replay_audit"]
    return sorted(rows, key=lambda row: row["handled_at"])


def test_epochs_and_tasks_follow_from_the_records_that_a_heartbeat_wrote():
    records = _records((1_001, JOINED), (2_001, BUMPED))
    joined, went_on, fenced = _audited(records, _join(1_000), _beat(2_000, 2, 3), _beat(3_000, 1, None, 110))
    assert (joined["agrees"], joined["predicted_generation"], joined["is_assignment_agreed"]) == (True, 2, True)
    assert (went_on["agrees"], went_on["predicted_generation"], went_on["is_assignment_agreed"]) == (True, 3, None)
    assert (fenced["agrees"], fenced["predicted_error"]) == (True, 110)


def test_tasks_that_are_told_in_another_role_are_another_assignment():
    (joined,) = _audited(_records((1_001, JOINED)), _join(1_000, told_active=[], told_standby=TASKS))
    assert (joined["agrees"], joined["is_assignment_agreed"]) == (False, False)


def test_a_refusal_that_rests_on_topics_is_not_foreseen():
    records = _records((1_001, JOINED))
    unknown_task = {**NOTHING, "owned_active": [{"subtopology_id": "9", "partitions": [0]}]}
    _, refused = _audited(records, _join(1_000), _beat(2_000, 2, None, 42, **unknown_task))
    assert (refused["agrees"], refused["predicted_error"], refused["why"]) == (None, None, WHY_UNTOLD)


def test_a_protocol_that_is_switched_off_is_refused_by_the_broker_and_only_where_it_has_no_group():
    off = {"error_code": 35, "answered_generation": None, "answered_member_id": None}
    (refused,) = _audited([], {**_join(1_000, told_active=[]), **off})
    assert (refused["agrees"], refused["predicted_error"], refused["why"]) == (None, None, WHY_BROKER)
    _, lie = _audited(_records((1_001, JOINED)), _join(1_000), _beat(2_000, 2, None, 35))
    assert (lie["agrees"], lie["predicted_error"]) == (False, 0)


def test_a_refusal_that_rests_on_the_request_alone_is_foreseen():
    records = _records((1_001, JOINED))
    half_a_list = {"owned_active": [], "owned_standby": None, "owned_warmup": None}
    _, refused = _audited(records, _join(1_000), _beat(2_000, 2, None, 42, **half_a_list))
    assert (refused["agrees"], refused["predicted_error"]) == (True, 42)


def test_a_first_heartbeat_whose_records_took_long_is_judged_by_them():
    (joined,) = _audited(_records((1_600, JOINED)), {**_join(1_000), "answered_at": 1_700})
    assert (joined["agrees"], joined["predicted_generation"]) == (True, 2)


def test_a_commit_is_held_against_the_members_epoch():
    records = _records((1_001, JOINED))
    commits = [
        {**request(at, "OffsetCommit", "m", error, generation=epoch), "api_version": 10}
        for at, epoch, error in ((2_000, 2, 0), (3_000, 5, 113))
    ]
    rows = [row for row in _audited(records, _join(1_000), *commits) if row["api"] == "OffsetCommit"]
    assert [(row["agrees"], row["predicted_error"]) for row in rows] == [(True, 0), (True, 113)]


@pytest.mark.parametrize(("version", "foreseen"), [("4.1.1", [(True, 113)]), ("4.2.0", [])])
def test_up_to_4_1_a_member_commits_with_its_own_epoch_alone_and_since_then_it_hangs_on_the_tasks(version, foreseen):
    commit = {**request(3_000, "OffsetCommit", "m", 113, generation=2), "api_version": 10}
    records = _records((1_001, JOINED), (2_001, BUMPED))
    rows = _audited(records, _join(1_000), _beat(2_000, 2, 3), commit, version=version)
    commits = [row for row in rows if row["api"] == "OffsetCommit"]
    assert [(row["agrees"], row["predicted_error"]) for row in commits] == foreseen


@pytest.mark.parametrize(("version", "error"), [("4.1.1", 110), ("4.2.0", 0)])
def test_up_to_4_1_a_member_that_is_there_cannot_join_again(version, error):
    told = None if error else 3
    fields = {"answered_generation": told, "error_code": error, **({"told_active": None} if error else {})}
    rejoin = {**_join(3_000), **fields}
    *_, row = _audited(_records((1_001, JOINED), (2_001, BUMPED)), rejoin, version=version)
    assert (row["agrees"], row["predicted_error"]) == (True, error)


def test_a_topology_that_cannot_be_read_says_nothing():
    (joined,) = _audited(_records((1_001, JOINED)), _join(1_000, topology='{"epoch":"none"}'))
    assert joined["agrees"] is None
