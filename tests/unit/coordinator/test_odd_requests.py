"""Requests of which the log has less than was sent, or more than one answer, or that never reached the coordinator."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.unit.coordinator.evidence_rows import (
    Row,
    beat,
    join,
    line,
    member,
    prepare,
    record,
    replayed,
    request,
    sync,
    verdicts,
)

TEXT = {"protocols": [{"name": "range", "metadata": None}]}
AFTER_A_1 = f"i1-{UUID(int=1)}"
UPDATE = {
    "reason": "Updating metadata for member b-1",
    "member_id": "b-1",
    "attributes": {"trigger": "subscription_changed"},
}


def pair() -> tuple[list[Row], list[Row], list[Row]]:
    """A group of two, a-1 leads; it is Stable in generation 1."""
    lines = [prepare(900, 0), line(3_900, "stabilized", generation=1, member_count=2), line(90_000, "group_deleted")]
    requests = [
        join(900.2, told=1, given="a-1", parked_ms=3_000, **TEXT),
        join(1_000, told=1, given="b-1", parked_ms=2_900, **TEXT),
        sync(3_901, "b-1", 1, parked_ms=2),
        sync(3_902, "a-1", 1),
    ]
    records = [record(3_903, 1, 1, member("a-1", [0]), member("b-1", [1]))]
    return lines, records, requests


@pytest.mark.parametrize("has_lines", [True, False])
def test_a_rejoin_in_a_text_log_changes_something_if_the_broker_says_so_or_if_it_waits(has_lines):
    lines, records, requests = pair()
    lines = [*lines, line(5_000, "preparing_rebalance", generation=1, **UPDATE)] if has_lines else []
    requests += [
        join(4_500, "b-1", told=1, **TEXT),
        beat(4_600, "a-1", 1),
        join(5_000.2, "b-1", told=2, parked_ms=100, **TEXT),
        beat(5_050, "a-1", 1, 27),
        join(5_100, "a-1", told=2, **TEXT),
    ]
    audit = replayed(lines, records, requests)["replay_audit"]
    assert [row for row in audit if not row["agrees"]] == []


@pytest.mark.parametrize(("version", "protocol", "predicted"), [(5, None, 23), (5, "range", 0), (4, None, 0)])
def test_a_sync_that_must_name_its_protocol_and_does_not_never_reaches_the_coordinator(version, protocol, predicted):
    lines, records, requests = pair()
    named = {"api_version": version, "protocol": protocol, "protocol_type": protocol and "consumer"}
    requests.append(sync(4_500, "b-1", 1, predicted, **named))
    assert verdicts(replayed(lines, records, requests))[-1] == (predicted, predicted)


def test_a_request_that_was_answered_twice_is_one_request():
    version = line(0, "broker_version", group_id=None, attributes={"version": "2.8.2"})
    begun = [prepare(900, 0), line(3_900, "stabilized", generation=1, member_count=1), line(90_000, "group_deleted")]
    twice = {"connection": "c", "correlation_id": 7}
    admin = {"member_id": "", "group_instance_id": "i1", "reason": None, "error_code": 0}
    requests = [
        join(900.2, told=1, given="a-1", parked_ms=3_000),
        sync(3_902, "a-1", 1),
        join(4_500, "", given=None, error_code=25, parked_ms=1_100, group_instance_id="i1", client_id="i1"),
        join(4_700, "a-1", error_code=35, **twice),
        join(4_700.1, "a-1", told=3, parked_ms=900, **twice),
        request(5_600, "LeaveGroup", leaving_members=[admin]),
    ]
    # The static member comes after the leader in the coordinator's map, and so is not answered before it fails.
    added = line(4_500, "static_member_added", member_id=AFTER_A_1, group_instance_id="i1")
    lines = [{**each, "dialect": "scala"} for each in (version, *begun, added)]
    audit = replayed(lines, [record(3_903, 1, 1, member("a-1", [0]))], requests)["replay_audit"]
    ordered = sorted(audit, key=lambda row: (row["at"], row["api"]))
    assert [(row["observed_error"], row["agrees"]) for row in ordered] == [
        (0, True), (0, True), (35, True), (25, True), (0, True), (0, True)
    ]  # fmt: skip


def test_a_rejoin_that_was_fenced_waits_for_the_join_that_fenced_it():
    lines, records, requests = pair()
    requests += [
        join(2_000, "", told=1, given="i1-1", parked_ms=1_900, group_instance_id="i1"),
        join(5_000.0, "i1-1", error_code=82, group_instance_id="i1"),
        join(5_000.1, "", told=1, given="i1-2", group_instance_id="i1"),
    ]
    lines[1]["member_count"] = 3
    assert verdicts(replayed(lines[1:], [], requests))[-2:] == [(82, 82), (0, 0)]


def test_a_rejoin_whose_session_ended_while_it_waited_for_its_turn_waits_for_that():
    lines, records, requests = pair()
    failed = line(9_999, "member_failed", member_id="b-1")
    requests += [beat(at, "a-1", 1) for at in (5_000, 9_000)]
    requests.append(join(9_995, "b-1", error_code=25, answered_at=10_003.0, **TEXT))
    assert verdicts(replayed([*lines, failed], records, requests))[-1] == (25, 25)


def test_up_to_2_4_a_static_member_that_comes_back_before_the_sync_takes_a_place_in_the_generation():
    version = line(0, "broker_version", group_id=None, attributes={"version": "2.4.1"})
    begun = [prepare(900, 0), line(3_900, "stabilized", generation=1), line(90_000, "group_deleted")]
    static = {"group_instance_id": "i1", "client_id": "i1"}
    requests = [
        join(900.2, told=1, given="a-1", parked_ms=3_000),
        join(1_000, told=1, given="i1-1", parked_ms=2_900, **static),
        join(4_500, told=1, given="i1-2", **static),
        sync(4_600, "a-1", 1, assignments=[{"member_id": "i1-1", "assignment": b"x"}]),
    ]
    lines = [{**each, "dialect": "scala"} for each in (version, *begun)]
    tables = replayed(lines, [record(4_601, 1, 1, member("a-1", [0]), member("i1-2", []))], requests)
    assert {row["member_id"]: row["replaces_member_id"] for row in tables["generation_members"]} == {
        "a-1": None, "i1-1": None, "i1-2": "i1-1"
    }  # fmt: skip
    assert [row["generation"] for row in tables["generations"]] == [1]
    assert all(row["agrees"] for row in tables["replay_audit"])
    assert {(row["member_id"], row["valid_from"]) for row in tables["assignments"]} == {("a-1", 4_601)}


@pytest.mark.parametrize("raw", [b"", None])
def test_where_a_text_log_does_not_print_what_the_leader_sent_nobody_is_said_to_have_got_nothing(raw):
    lines, _, requests = pair()
    sent = [{"member_id": name, "assignment": raw} for name in ("a-1", "b-1")]
    requests[3] = {**requests[3], "assignments": sent}
    requests[2] = {**requests[2], "answered_assignment": raw}
    tables = replayed(lines, [], requests)
    assigned = {row["partitions_assigned"] for row in tables["generation_members"]}
    assert assigned == ({0} if raw is not None else {None})
