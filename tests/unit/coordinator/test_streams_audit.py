"""What requests to a streams group are answered, foreseen from its records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.coordinator.evidence_rows import GROUP, Row, line, member, modern_records, record, request
from transforms.coordinator.replay import replay_group
from transforms.coordinator.timeline.audit import WHY_BROKER, WHY_RACE, WHY_UNTOLD

TOPOLOGY = {"epoch": 0, "subtopologies": [{"subtopologyId": "0", "sourceTopics": ["orders"]}]}
TASKS = [{"subtopology_id": "0", "partitions": [0, 1]}]
TASKS_OF_0 = {"subtopologyId": "0", "partitions": [0, 1]}
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
    records = _records((1_000, JOINED), (2_000, BUMPED))
    joined, went_on, fenced = _audited(records, _join(1_000), _beat(2_000, 2, 3), _beat(3_000, 1, None, 110))
    assert (joined["agrees"], joined["predicted_generation"], joined["is_assignment_agreed"]) == (True, 2, True)
    assert (went_on["agrees"], went_on["predicted_generation"], went_on["is_assignment_agreed"]) == (True, 3, None)
    assert (fenced["agrees"], fenced["predicted_error"]) == (True, 110)


def test_tasks_that_are_told_in_another_role_are_another_assignment():
    (joined,) = _audited(_records((1_001, JOINED)), _join(1_000, told_active=[], told_standby=TASKS))
    assert (joined["agrees"], joined["is_assignment_agreed"]) == (False, False)
    assert joined["why"] != WHY_RACE  # the state that was to come explains it no more than any other


@pytest.mark.parametrize(("version", "error"), [("4.1.1", 69), ("4.2.0", None)])
def test_an_empty_classic_group_does_not_stand_in_the_way_of_who_joins(version: str, error: int | None):
    """It gives way, by records that are not there; before 4.2 it did not."""
    over = [(22, None), (21, None), (20, None), (19, None), (17, None), (23, None)]
    before = _records((100, JOINED), (200, over))
    emptied = {**record(500, 90, 3, member("x", [])), "members": [], "leader_member_id": None, "protocol": None}
    printed = [line(400, "broker_version", group_id=None, attributes={"version": version})]
    (row,) = replay_group("c", GROUP, [emptied], printed, [_join(1_000)], 50, modern_records=before)["replay_audit"]
    assert row["predicted_error"] == error


def test_a_refusal_that_rests_on_topics_is_not_foreseen():
    """While no targets are computed, nothing tells how many tasks there are."""
    delayed = [*JOINED[:3], (22, {"memberEpoch": 1, "previousMemberEpoch": 0, "state": 1})]
    unknown_task = {**NOTHING, "owned_active": [{"subtopology_id": "0", "partitions": [7]}]}
    asked = _join(1_000, told_active=[]) | {"answered_generation": 1}, _beat(2_000, 1, None, 42, **unknown_task)
    _, refused = _audited(_records((1_001, delayed)), *asked)
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
    commits = [_commit(2_000, 2, 0), _commit(3_000, 5, 113)]
    rows = [row for row in _audited(records, _join(1_000), *commits) if row["api"] == "OffsetCommit"]
    assert [(row["agrees"], row["predicted_error"]) for row in rows] == [(True, 0), (True, 113)]


def _commit(at: float, epoch: int, error: int, api_version: int = 10) -> Row:
    return {**request(at, "OffsetCommit", "m", error, generation=epoch), "api_version": api_version}


GIVEN_AT_2 = {**_standing(3, 2, 0, 1), "activeTasks": [{**TASKS_OF_0, "assignmentEpochs": [2, 2]}]}
GIVEN_AT_3 = {**GIVEN_AT_2, "activeTasks": [{**TASKS_OF_0, "assignmentEpochs": [3, 3]}]}


@pytest.mark.parametrize(
    ("version", "standing", "foreseen"),
    [("4.1.1", GIVEN_AT_2, 113), ("4.2.0", GIVEN_AT_2, None), ("4.2.0", GIVEN_AT_3, 113)],
)
def test_since_4_2_a_commit_of_an_older_epoch_hangs_on_when_the_tasks_were_given(version, standing, foreseen):
    records = _records((1_001, JOINED), (2_001, [*BUMPED[:2], (22, standing)]))
    rows = _audited(records, _join(1_000), _beat(2_000, 2, 3), _commit(3_000, 2, 113), version=version)
    row = rows[-1]
    assert (row["api"], row["group_type"], row["predicted_error"]) == ("OffsetCommit", "streams", foreseen)
    assert row["why"] == (WHY_UNTOLD if foreseen is None else None)


def test_a_commit_of_a_version_that_knows_no_epochs_is_refused_whatever_it_commits():
    records = _records((1_001, JOINED), (2_001, [*BUMPED[:2], (22, GIVEN_AT_2)]))
    *_, row = _audited(records, _join(1_000), _beat(2_000, 2, 3), _commit(3_000, 2, 35, api_version=8))
    assert (row["agrees"], row["predicted_error"], row["why"]) == (True, 35, None)


def test_a_group_is_full_at_the_size_that_its_broker_printed():
    another = {**_join(3_000), "member_id": "n", "error_code": 81, "answered_generation": None, "told_active": None}
    printed = line(950, "broker_settings", group_id=None, attributes={"group.streams.max.size": "1"})
    rows = replay_group(
        "c", GROUP, [], [printed], [_join(1_000), another], 50, modern_records=_records((1_001, JOINED))
    )
    refused = max(rows["replay_audit"], key=lambda row: row["handled_at"])
    assert (refused["agrees"], refused["predicted_error"], refused["is_answer_used"]) == (True, 81, False)


def test_a_join_by_the_classic_protocol_with_an_id_finds_nobody_in_an_empty_group():
    left = [(22, None), (21, None), (19, None), (17, {"epoch": 3, "validatedTopologyEpoch": 0})]
    leaves = {**_beat(2_000, -1, -1), "told_active": None, "told_standby": None, "told_warmup": None}
    joins = request(3_000, "JoinGroup", "tool", 25, protocol_type="consumer", session_timeout_ms=3_000)
    *_, row = _audited(_records((1_001, JOINED), (2_001, left)), _join(1_000), leaves, joins)
    assert (row["api"], row["agrees"], row["predicted_error"]) == ("JoinGroup", True, 25)


def test_what_a_heartbeat_wrote_is_its_own_though_its_line_is_late_and_does_not_show_what_it_changed():
    """Of process, endpoint and tags the evidence holds nothing, but that somebody's record was written anew."""
    tagged = [(19, {"processId": "q", "rebalanceTimeoutMs": 6_000, "topologyEpoch": 0}), *BUMPED]
    records = _records((1_001, JOINED), (2_001, tagged))
    late = {**_beat(2_023, 2, 3), "parked_ms": 0.0}
    *_, row = _audited(records, _join(1_000), late)
    assert (row["agrees"], row["predicted_generation"]) == (True, 3)


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


@pytest.mark.parametrize("epochs", [(2, 3), (2,)])
def test_a_group_whose_topology_is_missing_among_the_records_runs_one_all_the_same(epochs: tuple[int, ...]):
    """Its coordinator has it: the first member brought it along, and tasks that it reports are of it."""
    moments = [(1_000, [each for each in JOINED if each[0] != 23]), (2_000, BUMPED)]
    asked = [_join(1_000), _beat(1_500, 2, 2, **(NOTHING | {"owned_active": TASKS, "told_active": None}))]
    asked += [_beat(3_000, 3, 3)] if 3 in epochs else []
    tables = replay_group(
        "c",
        GROUP,
        [],
        [line(900, "broker_version", group_id=None, attributes={"version": "4.2.0"})],
        asked,
        50,
        modern_records=_records(*moments[: len(epochs)]),
    )
    assert [(row["predicted_error"], row["agrees"]) for row in tables["replay_audit"]] == [(0, True)] * len(asked)
    assert tables["transitions"][-1]["to_state"] == "Stable"


@pytest.mark.parametrize(
    ("subtopology", "partition", "error"), [("0", 1, 0), ("0", 0, 0), ("9", 0, 42), ("0", 2, 42), ("0", -1, 42)]
)
def test_tasks_that_the_topology_has_not_got_are_refused(subtopology: str, partition: int, error: int):
    """How many there are the targets tell; an answer that is another one is found."""
    owned = [{"subtopology_id": subtopology, "partitions": [partition]}]
    told = NOTHING | {"owned_active": owned, "told_active": None}
    for observed in (error, 42 - error):
        row = _audited(_records((1_000, JOINED)), _join(1_000), _beat(1_500, 2, 2, observed, **told))[-1]
        assert (row["predicted_error"], row["agrees"]) in [(error, observed == error), (None, None)], row
        assert row["agrees"] is not None or observed == 42 != error


def test_of_a_group_whose_topology_cannot_be_run_no_task_is_looked_at():
    """Its broker has not counted any."""
    changed = {17: {"epoch": 2, "validatedTopologyEpoch": -1}, 21: {"activeTasks": []}, 22: _standing(2, 0)}
    not_ready = [(number, changed.get(number, body)) for number, body in JOINED]
    owned = [{"subtopology_id": "9", "partitions": [0]}]
    asked = _beat(1_500, 2, 2, **(NOTHING | {"owned_active": owned, "told_active": None}))
    row = _audited(_records((1_000, not_ready)), _join(1_000, told_active=[]), asked)[-1]
    assert (row["predicted_error"], row["agrees"]) == (0, True)
