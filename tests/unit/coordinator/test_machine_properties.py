"""What holds of the state machine whatever happens to a group."""

from __future__ import annotations

import copy

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from transforms.coordinator.classic.machine.events import Answered, Cause, Event, Moved
from transforms.coordinator.classic.machine.group import view
from transforms.coordinator.classic.machine.machine import Machine
from transforms.coordinator.classic.machine.transitions import TRANSITIONS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.kafka.requests import Leaver, Request
from transforms.coordinator.kafka.states import GroupState

MEMBERS = st.sampled_from(["", "m1", "m2", "m3", "m4"])
INSTANCES = st.sampled_from([None, None, None, "i1", "i2"])
GENERATIONS = st.integers(-1, 6)
OFFERS = st.sampled_from(
    [(("range", b"a"),), (("range", b"b"),), (("range", b"a"), ("sticky", b"a")), (("sticky", b"x"),)]
)

ACTIONS = st.one_of(
    st.tuples(st.just("JoinGroup"), MEMBERS, INSTANCES, st.integers(0, 9), OFFERS),
    st.tuples(
        st.sampled_from(["SyncGroup", "Heartbeat", "OffsetCommit", "TxnOffsetCommit"]), MEMBERS, INSTANCES, GENERATIONS
    ),
    st.tuples(st.just("LeaveGroup"), st.lists(st.tuples(MEMBERS, INSTANCES), min_size=1, max_size=3)),
    st.tuples(st.just("DeleteGroups")),
    st.tuples(st.just("wait"), st.integers(1, 12_000)),
)
SETTINGS = st.builds(
    lambda dialect, max_size, version: CoordinatorSettings(dialect, max_size=max_size).of_build(version),
    st.sampled_from(["java", "scala"]),
    st.sampled_from([2, 3, 100]),
    st.sampled_from([None, "2.1.1", "2.4.1", "2.5.1", "2.8.2", "3.2.3"]),
)


def written(run: Run) -> bytes:
    """All that the machine knows of the group, as bytes."""
    return msgspec.msgpack.encode(replace(run.machine, just_answered=None))


class Run:
    """A machine, a clock, and every answer it gave."""

    def __init__(self, rules: CoordinatorSettings) -> None:
        self.machine = Machine("g", rules)
        self.now = 0.0
        self.token = 0
        self.said: list[object] = []

    def do(self, action: tuple) -> None:
        if action[0] == "wait":
            self.now += action[1]
        while (timer := self.machine.next_timer()) is not None and timer[0] <= self.now:
            self.machine.fire(timer[1])
        if action[0] != "wait":
            self.token += 1
            self.machine.handle(self.request(*action), self.now)
        self.said += self.machine.drain()

    def unused_id(self) -> str:
        """A coordinator gives out an id once only; the shortest free name lets later requests hit it."""
        group = self.machine.present
        used = {*group.members, *group.pending_joins} if group is not None else set()
        return next(name for name in (f"m{number}" for number in range(1, 100)) if name not in used)

    def request(self, api: str, *arguments: object) -> Request:
        if api == "JoinGroup":
            member_id, instance, version, offers = arguments
            given = self.unused_id() if not member_id else None
            return Request(
                self.token, api, version, member_id, instance, session_timeout_ms=6_000, rebalance_timeout_ms=9_000,
                protocol_type="consumer", protocols=offers, given_member_id=given,
            )  # fmt: skip
        if api == "LeaveGroup":
            return Request(self.token, api, 3, leavers=tuple(Leaver(*each) for each in arguments[0]))
        if api == "DeleteGroups":
            return Request(self.token, api)
        member_id, instance, generation = arguments
        return Request(self.token, api, 5, member_id, instance, generation, assignments={"m1": b"x", "ghost": b"y"})


def check(run: Run) -> None:
    group = run.machine.present
    if group is None:
        return
    assert group.state is not GroupState.DEAD
    assert (group.state is GroupState.EMPTY) <= (not group.members)
    assert (group.state in (GroupState.STABLE, GroupState.COMPLETING)) <= bool(group.members)
    assert set(group.static_members.values()) <= set(group.members)
    assert (group.leader is None) == (not group.members)
    assert group.leader is None or group.leader in group.members
    if group.state is GroupState.STABLE:
        assert all(member.parked_sync is None for member in group.members.values())
        assert group.protocol is not None
    if group.state is not GroupState.PREPARING and not run.machine.settings.rules.stumbles_over_old_leaders:
        assert all(member.parked_join is None for member in group.members.values())


@given(SETTINGS, st.lists(ACTIONS, max_size=60))
@settings(max_examples=150, deadline=None)
def test_invariants_hold_after_every_step(rules, actions):
    run = Run(rules)
    for action in actions:
        run.do(action)
        check(run)
    tokens = [said.token for said in run.said if isinstance(said, Answered)]
    if not rules.rules.stumbles_over_old_leaders:
        assert len(tokens) == len(set(tokens)), "a request was answered twice"


@given(SETTINGS, st.lists(ACTIONS, max_size=60))
@settings(max_examples=150, deadline=None)
def test_generations_only_grow_within_a_life_and_only_where_a_join_phase_ends(rules, actions):
    run = Run(rules)
    for action in actions:
        run.do(action)
    last = 0
    for move in (said for said in run.said if isinstance(said, Moved)):
        ends_join = move.from_state is GroupState.PREPARING and move.to_state is not GroupState.DEAD
        assert move.generation == last + ends_join
        last = 0 if move.to_state is GroupState.DEAD else move.generation


@given(SETTINGS, st.lists(ACTIONS, max_size=40), st.lists(ACTIONS, max_size=20))
@settings(max_examples=100, deadline=None)
def test_stored_and_restored_it_goes_on_as_if_it_never_stopped(rules, before, after):
    run = Run(rules)
    for action in before:
        run.do(action)
    other = copy.copy(run)
    other.said = list(run.said)
    other.machine = msgspec.msgpack.decode(written(run), type=Machine)
    for action in after:
        run.do(action)
        other.do(action)
    assert other.said == run.said
    assert written(other) == written(run)


@given(SETTINGS, st.lists(ACTIONS, max_size=40), st.lists(ACTIONS, max_size=20))
@settings(max_examples=100, deadline=None)
def test_a_view_stays_as_it_was_whatever_happens_to_the_group(rules, before, after):
    run = Run(rules)
    for action in before:
        run.do(action)
    past = view(run.machine.present)
    as_it_was = msgspec.msgpack.encode(past)
    for action in after:
        run.do(action)
    assert msgspec.msgpack.encode(past) == as_it_was


@given(SETTINGS, st.lists(ACTIONS, max_size=30), st.sampled_from(Event))
@settings(max_examples=150, deadline=None)
def test_an_event_that_the_table_does_not_have_changes_nothing(rules, actions, event):
    run = Run(rules)
    for action in actions:
        run.do(action)
    group = run.machine.present
    if group is None or (group.state, event) in TRANSITIONS:
        return
    before = written(run)
    assert not run.machine.apply(event, Cause(run.now))
    assert written(run) == before
    assert run.machine.drain() == []


def test_refusals_change_nothing():
    run = Run(CoordinatorSettings())
    run.do(("JoinGroup", "", None, 3, (("range", b"a"),)))
    run.do(("wait", 3_000))
    before = written(run)
    for action in (
        ("Heartbeat", "nobody", None, 1),
        ("SyncGroup", "m2", None, 7),
        ("OffsetCommit", "m2", "i1", 1),
        ("JoinGroup", "m4", None, 5, (("range", b"a"),)),
    ):
        run.do(action)
        assert isinstance(run.said[-1], Answered)
        assert run.said[-1].error not in (Error.NONE, Error.REBALANCE_IN_PROGRESS)
        assert written(run) == before


@pytest.mark.parametrize(("version", "error"), [("2.6.0", 27), ("2.6.1", 0), ("3.9.1", 0), ("4.2.0", 0)])
def test_a_heartbeat_between_join_and_sync_is_refused_by_old_brokers_only(version, error):
    run = Run(CoordinatorSettings(dialect="scala").of_build(version))
    run.do(("JoinGroup", "", None, 3, (("range", b"a"),)))
    run.do(("wait", 3_000))
    member_id = next(iter(run.machine.group.members))
    assert run.machine.group.state is GroupState.COMPLETING
    run.do(("Heartbeat", member_id, None, 1))
    assert run.said[-1].error == error


@pytest.mark.parametrize(("version", "stays"), [("2.8.0", True), ("2.8.1", False)])
def test_members_that_never_sync_are_put_out_since_2_8_1(version, stays):
    run = Run(CoordinatorSettings(dialect="scala").of_build(version))
    run.do(("JoinGroup", "", None, 3, (("range", b"a"),)))
    run.do(("wait", 3_000))
    member_id = next(iter(run.machine.group.members))
    for _ in range(3):
        run.do(("wait", 4_000))
        run.do(("Heartbeat", member_id, None, 1))
    assert (run.machine.group.state is GroupState.COMPLETING) == stays
