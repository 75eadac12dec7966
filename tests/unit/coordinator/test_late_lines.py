"""Requests to groups of epochs whose lines, or whose records, come late in the evidence."""

from __future__ import annotations

from typing import Any

from tests.unit.coordinator.evidence_rows import GROUP, Row, line, modern_records, request
from transforms.coordinator.replay import replay_group
from transforms.coordinator.timeline.audit import WHY_LATE

ASSIGNED = [{"topic_id": "orders", "partitions": [0, 1]}]
WHO = {"clientId": "c", "clientHost": "/h", "subscribedTopicNames": ["orders"], "rebalanceTimeoutMs": 60_000}


def _standing(epoch: int, before: int) -> Row:
    parts = [{"topicId": "orders", "partitions": [0, 1]}]
    return {"memberEpoch": epoch, "previousMemberEpoch": before, "state": 0, "assignedPartitions": parts}


JOINED: list[tuple[int, str, Any]] = [
    (5, "m", WHO),
    (3, "", {"epoch": 1}),
    (7, "m", {"topicPartitions": [{"topicId": "orders", "partitions": [0, 1]}]}),
    (6, "", {"assignmentEpoch": 1}),
    (8, "m", _standing(1, 0)),
]
WENT_ON: list[tuple[int, str, Any]] = [
    (3, "", {"epoch": 2}),
    (6, "", {"assignmentEpoch": 2}),
    (8, "m", _standing(2, 1)),
]
LEFT: list[tuple[int, str, Any]] = [(8, "m", None), (7, "m", None), (5, "m", None), (3, "", {"epoch": 3})]
LEAVES = line(2_000, "modern_member_left", member_id="m")


def _beat(at: float, epoch: int, answered: int | None, error: int = 0, **fields: Any) -> Row:
    answer = {"answered_generation": answered, "answered_member_id": None if answered is None else "m"}
    says = {"generation": epoch, "rebalance_timeout_ms": -1, **answer, **fields}
    return request(at, "ConsumerGroupHeartbeat", "m", error, **says)


def _join(at: float, **fields: Any) -> Row:
    says = {"rebalance_timeout_ms": 60_000, "subscribed_topics": ["orders"], "owned": [], "told": ASSIGNED}
    return _beat(at, 0, 1, **{**says, **fields})


def _commit(at: float, epoch: int, error: int = 0, **fields: Any) -> Row:
    return {**request(at, "OffsetCommit", "m", error, generation=epoch, **fields), "api_version": 9}


def _audited(records: list[Row], *requests: Row, lines: tuple[Row, ...] = (), version: str = "4.1.1") -> list[Row]:
    printed = [line(900, "broker_version", group_id=None, attributes={"version": version}), *lines]
    rows = replay_group("c", GROUP, [], printed, list(requests), 50, modern_records=records)["replay_audit"]
    return sorted(rows, key=lambda row: row["line_number"])


def test_a_leave_is_held_against_the_group_that_it_left_however_late_its_line_is():
    records = modern_records((1_001, JOINED), (2_000, LEFT))
    for lag in (0, 20, 86, 450):
        _, left = _audited(records, _join(1_000), _beat(2_000 + lag, -1, -1), lines=(LEAVES,))
        assert (left["agrees"], left["predicted_error"], left["is_answer_used"], left["why"]) == (True, 0, False, None)


def test_a_refusal_of_a_leave_that_took_place_is_no_answer_of_the_machine():
    records = modern_records((1_001, JOINED), (2_000, LEFT))
    _, left = _audited(records, _join(1_000), _beat(2_000, -1, None, 25), lines=(LEAVES,))
    assert (left["agrees"], left["predicted_error"]) == (False, 0)


def test_who_leaves_twice_is_unknown_the_second_time():
    records = modern_records((1_001, JOINED), (2_000, LEFT))
    twice = (_beat(2_000, -1, -1), _beat(2_090, -1, None, 25))
    _, left, again = _audited(records, _join(1_000), *twice, lines=(LEAVES,))
    assert [(row["agrees"], row["predicted_error"]) for row in (left, again)] == [(True, 0), (True, 25)]
    *_, lied = _audited(records, _join(1_000), twice[0], _beat(2_090, -1, -1), lines=(LEAVES,))
    assert (lied["agrees"], lied["predicted_error"]) == (False, 25)


def test_whoever_a_timer_removed_a_moment_before_did_not_leave_with_the_others():
    """A LeaveGroup names two: the one is gone by then, and its records are not the request's."""
    joined = (1_050, [(5, "n", WHO), (3, "", {"epoch": 2}), (6, "", {"assignmentEpoch": 2}), (8, "n", _standing(2, 0))])
    fenced = (2_000, [(8, "n", None), (5, "n", None), (3, "", {"epoch": 3})])
    lines = (line(2_000, "modern_member_fenced", member_id="n", reason="the member session expired."), LEAVES)
    records = modern_records((1_001, JOINED), joined, fenced, (2_001, [*LEFT[:3], (3, "", {"epoch": 4})]))
    leaving = [
        {"member_id": name, "group_instance_id": None, "error_code": code} for name, code in (("m", 0), ("n", 25))
    ]
    asked = request(2_000.5, "LeaveGroup", "m", 25, parked_ms=4, leaving_members=leaving)
    *_, left = _audited(records, _join(1_000), asked, lines=lines)
    assert (left["agrees"], left["predicted_error"], left["is_answer_used"]) == (True, 25, False)


def test_who_leaves_for_a_while_wrote_that_and_not_what_it_failed_to_say_before():
    """A heartbeat of 3.7 whose target could not be computed, and a ms later its member leaves: one record of both."""
    away = (2_001, [(8, "m", {**_standing(1, 0), "memberEpoch": -2})])
    failed = _beat(1_999, 1, None, -1, subscribed_topics=["orders", "t"], parked_ms=3, group_instance_id="i")
    leaves = _beat(2_001, -2, -2, group_instance_id="i")
    records = modern_records((1_001, [(5, "m", {**WHO, "instanceId": "i"}), *JOINED[1:]]), away)
    *_, untold, left = _audited(records, _join(1_000, group_instance_id="i"), failed, leaves, version="3.7.2")
    assert (untold["agrees"], untold["predicted_error"]) == (None, None)
    assert (left["agrees"], left["is_answer_used"]) == (True, False)


def test_a_member_whose_session_ended_did_not_leave_a_moment_later():
    """Nobody leaves by a timer: whoever is answered then as if it were still there was asked before."""
    fenced = line(2_000, "modern_member_fenced", member_id="m", reason="the member session expired.")
    records = modern_records((1_001, JOINED), (2_000, LEFT))
    _, commit = _audited(records, _join(1_000), _commit(2_300, 1, 25, partition_errors={25: 1}), lines=(fenced,))
    assert (commit["agrees"], commit["predicted_error"], commit["is_answer_used"]) == (True, 25, False)
    _, late = _audited(records, _join(1_000), _commit(2_300, 1), lines=(fenced,))
    assert (late["agrees"], late["is_answer_used"], late["why"]) == (True, True, WHY_LATE)
    _, too_late = _audited(records, _join(1_000), _commit(2_700, 1), lines=(fenced,))
    assert (too_late["agrees"], too_late["predicted_error"]) == (False, 25)


def test_a_heartbeat_that_wrote_its_records_before_its_line_is_told_what_they_say():
    records = modern_records((1_001, JOINED), (2_000, WENT_ON))
    for lag in (1, 200):
        _, went_on = _audited(records, _join(1_000), _beat(2_000 + lag, 1, 2))
        assert (went_on["agrees"], went_on["predicted_generation"], went_on["is_answer_used"]) == (True, 2, False)
        _, lied = _audited(records, _join(1_000), _beat(2_000 + lag, 1, 3))
        assert lied["agrees"] is False


def test_a_late_commit_stands_before_what_its_member_wrote_next():
    """The next request of the connection came when the commit had been answered."""
    asked = (_commit(2_300, 1, connection="c", correlation_id=7), _beat(2_010, 1, 2, connection="c", correlation_id=8))
    rows = _audited(modern_records((1_001, JOINED), (2_010, WENT_ON)), _join(1_000), *asked)
    assert [(row["agrees"], row["is_answer_used"]) for row in rows] == [(True, False)] * 3
    stale = {**asked[0], "error_code": 113, "partition_errors": {113: 1}}
    rows = _audited(modern_records((1_001, JOINED), (2_010, WENT_ON)), _join(1_000), stale, asked[1])
    assert [row["agrees"] for row in rows if row["api"] == "OffsetCommit"] == [True]


def test_a_heartbeat_whose_records_took_long_is_judged_by_them():
    records = modern_records((1_001, JOINED), (2_900, WENT_ON))
    _, slow = _audited(records, _join(1_000), {**_beat(2_000, 1, 2), "answered_at": 2_905.0})
    assert (slow["agrees"], slow["predicted_generation"]) == (True, 2)
    _, lied = _audited(records, _join(1_000), {**_beat(2_000, 1, 1), "answered_at": 2_905.0})
    assert lied["agrees"] is False


def test_what_was_written_after_an_answer_was_printed_is_of_the_next_request():
    records = modern_records((1_001, JOINED), (2_001, WENT_ON))
    before = {**_beat(1_999.6, 1, 1), "answered_at": 2_000.0}
    after = {**_beat(2_000.4, 1, 2), "answered_at": 2_004.0}
    rows = _audited(records, _join(1_000), before, after)
    assert [(row["agrees"], row["is_answer_used"]) for row in rows] == [(True, False)] * 3
