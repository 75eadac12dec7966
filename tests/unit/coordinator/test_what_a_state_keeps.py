"""A group's state does not grow with what is over: a week of it is as large as a day."""

from __future__ import annotations

from typing import Any

from tests.unit.coordinator.evidence_rows import Row, beat, join, line, prepare, record, sync, typed_line
from tests.unit.coordinator.evidence_rows import member as stored_member
from transforms.coordinator.classic.machine.group import SYNC_TIMER
from transforms.coordinator.classic.taking.joiners import Joiners
from transforms.coordinator.classic.taking.witnesses import Witnesses
from transforms.coordinator.evidence.sequence import in_order
from transforms.coordinator.fold import advance, begin
from transforms.coordinator.replay import typed_evidence
from transforms.coordinator.state import ReplayState

MOST_SETS = 32


def state_after(lines: list[Row], records: list[Row], requests: list[Row]) -> ReplayState:
    state = begin("c", "orders", 50)
    evidence: Any = typed_evidence(records, lines, requests)[:3]
    return advance(state, in_order(state.connections, *evidence))[0]


def test_static_members_that_come_back_again_and_again_leave_no_trail():
    def back(number: int) -> Row:
        return join(5_000 + 1_000 * number, told=1, given=f"i-{number}", group_instance_id="i", client_id="i")

    requests = [
        join(900, told=1, given="i-0", parked_ms=3_000, group_instance_id="i", client_id="i"),
        sync(3_910, "i-0", 1),
        *(back(number) for number in range(1, 100)),
        beat(110_000, "i-99", 1),
    ]
    (generation,) = state_after([], [], requests).shared.lives.present.generations.values()
    assert len(generation.stable_sets) == MOST_SETS
    assert generation.stable_sets[-1] == frozenset({"i-99"})


def test_ids_of_ours_are_let_go_when_the_next_is_made_up():
    joiners = Joiners()
    joiners.make_up("unknown-1", ())
    joiners.make_up("unknown-2", {"a-1", "unknown-1"})
    assert joiners.made_up == {"unknown-1", "unknown-2"}
    joiners.make_up("unknown-3", {"a-1", "unknown-2"})
    assert joiners.made_up == {"unknown-2", "unknown-3"}


def test_ids_of_ours_are_let_go_when_a_line_may_name_somebody():
    state = state_after([], [record(1_000, 0, 1, stored_member("a-1", [0]), stored_member("unknown-1", [1]))], [])
    state.classic.joiners.made_up.update({"unknown-1", "unknown-2"})
    evidence: Any = typed_evidence([], [line(at, "member_left", member_id="z-1") for at in (2_000, 3_000)], [])[:3]
    state = advance(state, in_order(state.connections, *evidence))[0]
    assert state.classic.joiners.made_up == {"unknown-1"}


def test_states_that_were_left_long_ago_are_forgotten():
    requests = [
        join(900, told=1, given="a-1", parked_ms=3_000),
        sync(3_910, "a-1", 1),
        *(beat(4_000 + 1_000 * number, "a-1", 1) for number in range(20)),
    ]
    assert state_after([], [], requests).classic.audit.past == []


def test_of_a_timer_that_runs_out_again_and_again_only_the_last_moments_are_kept():
    witnesses = Witnesses()
    for number in range(100):
        row = {**prepare(1_000 + 1_000 * number, number), "attributes": {"trigger": "sync_timeout"}}
        witnesses.notice(typed_line(row))
    assert witnesses.moments == {SYNC_TIMER: [98_000, 99_000, 100_000]}
