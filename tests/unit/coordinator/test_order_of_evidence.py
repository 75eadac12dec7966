"""Estimates of moments are a few ms off: what must have come first comes first, and nothing is invented."""

from __future__ import annotations

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
    typed_line,
    verdicts,
)
from tests.unit.coordinator.test_takeover import began
from transforms.coordinator.classic.taking.witnesses import Witnesses


def failed(at: int, member_id: str = "a-1") -> Row:
    return line(at, "member_failed", member_id=member_id)


def rounds(*at: int) -> list[Row]:
    return [line(each, "stabilized", generation=1, member_count=1) for each in at]


@pytest.mark.parametrize(
    ("lines", "due", "moment"),
    [
        ([], 5_000, 5_000),  # no line would tell
        (rounds(1_000), 5_000, None),  # a line would, and there is none
        (rounds(1_000) + [failed(5_003)], 5_000, 5_000),  # within the same ms or so
        (rounds(1_000) + [failed(5_008)], 5_000, 5_008),  # it was late
        (rounds(1_000) + [failed(4_999)], 5_000, 5_000),
        (rounds(1_000) + [failed(5_000, "b-2")], 5_000, None),
        (rounds(5_200), 5_000, 5_000),  # before the lines begin
    ],
)
def test_a_timer_runs_out_when_the_brokers_own_did(lines, due, moment):
    witnesses = Witnesses()
    for row in lines:
        witnesses.notice(typed_line(row))
    assert witnesses.moment(("member", "a-1"), due) == moment


def test_a_heartbeat_that_was_in_time_by_the_brokers_clock_keeps_its_member():
    lines, records, requests = began()
    late = [line(60_000, "group_deleted")]  # the log goes on
    tables = replayed([*lines, *late], records, [*requests, beat(13_904.9 + 3, "a-1", 1), beat(20_000, "a-1", 1)])
    assert verdicts(tables)[-2:] == [(0, 0), (0, 0)]


def test_the_line_about_a_new_group_waits_for_the_request_in_the_same_millisecond():
    lines, records, requests = began()
    requests[0] = {**requests[0], "handled_at": 900.9}  # the line stands half a millisecond after 900
    assert verdicts(replayed(lines, records, requests)) == [(0, 0), (0, 0)]


def test_a_request_that_waits_for_its_cause_is_not_overtaken_on_its_connection():
    lines, records, requests = began()
    probe = beat(5_001, "a-1", 2, 22, connection="x", correlation_id=1)  # a generation that is not there yet
    honest = beat(5_002, "a-1", 1, 27, connection="x", correlation_id=2)
    again = [
        prepare(5_000, 1),
        line(5_003, "stabilized", generation=2, member_count=1),
        line(90_000, "group_deleted"),
    ]
    answered = [{"member_id": "a-1", "group_instance_id": None, "metadata": b"s"}]
    newcomer = join(5_000, given="b-2", told=2, parked_ms=3.0, api_version=3)
    rejoin = join(5_002.5, "a-1", told=2, answered_members=answered)
    found = verdicts(replayed([*lines, *again], records, [*requests, newcomer, probe, honest, rejoin]))
    assert found[3:5] == [(22, 22), (27, 27)]


def test_a_joiner_whom_no_answer_names_goes_by_the_id_of_its_line():
    uuid = "00000000-0000-0000-0000-000000000001"
    lines, records, requests = began()
    requests += [
        request(
            5_000, "JoinGroup", error=25, parked_ms=2_000.0, client_id="b", session_timeout_ms=10_000,
            rebalance_timeout_ms=60_000, protocol_type="consumer", protocols=[{"name": "range", "metadata": b"s"}],
        ),
        beat(5_100, "a-1", 1, 27),
    ]  # fmt: skip
    lines += [prepare(5_000, 1), failed(7_000, f"b-{uuid}"), line(90_000, "group_deleted")]
    tables = replayed(lines, records, requests)
    ids = {row["member_id"]: row["end_cause"] for row in tables["member_sessions"]}
    assert ids[f"b-{uuid}"] == "session_expired"
    assert not [member_id for member_id in ids if member_id.startswith("unknown")]


def test_a_later_record_of_a_generation_does_not_move_the_moment_of_an_earlier_replacement():
    def static(member_id: str, instance: str) -> Row:
        return {**member(member_id, [int(instance[-1])]), "group_instance_id": instance}

    first = record(1_000, 0, 1, static("a", "i0"), static("b", "i1"))
    second = {**record(2_000, 1, 1, static("a2", "i0"), static("b", "i1")), "state_changed_at": 1_000}
    third = {**record(9_000, 2, 1, static("a2", "i0"), static("b2", "i1")), "state_changed_at": 1_000}
    tables = replayed([], [first, second, third], [])
    spans = {row["member_id"]: (row["valid_from"], row["valid_to"]) for row in tables["assignments"]}
    assert spans == {"a": (1_000, 2_000), "a2": (2_000, None), "b": (1_000, 9_000), "b2": (9_000, None)}
