"""Rules that not all releases have: the same requests, put to the coordinator of the last release with and without."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.unit.coordinator.evidence_rows import line, typed_line
from tests.unit.coordinator.test_machine_properties import Run
from transforms.coordinator.classic.machine.events import Answered
from transforms.coordinator.evidence.brokers import Brokers
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.kafka.rules import release_of
from transforms.coordinator.kafka.states import GroupState

RANGE = (("range", b"a"),)
OTHER = (("sticky", b"a"),)
NO_ID, TWO_STEPS, STATIC = 3, 4, 5
"""Versions of JoinGroup: one step, two steps, with instance ids."""


def coordinator(version: str, **settings: int) -> Run:
    return Run(replace(CoordinatorSettings(dialect="scala").of_build(version), **settings))


def answer(run: Run, *action: object) -> int | None:
    """Return the error of an answer that comes at once."""
    before = len(run.said)
    run.do(action)
    said = [each for each in run.said[before:] if isinstance(each, Answered) and each.token == run.token]
    return said[0].error if said else None


def stable(run: Run, *instances: str | None) -> Run:
    """Bring a group with these members to Stable: m1, m2, and so on, of which m1 leads."""
    for instance in instances:
        run.do(("JoinGroup", "", instance, STATIC if instance else NO_ID, RANGE))
    complete(run)
    sync(run)
    assert run.machine.group.state is GroupState.STABLE
    return run


def complete(run: Run) -> None:
    """Wait until the join phase is over."""
    while run.machine.group.state is GroupState.PREPARING:
        run.do(("wait", 3_000))


def sync(run: Run) -> None:
    for member_id in sorted(run.machine.group.members, key=lambda each: each == run.machine.group.leader):
        run.do(("SyncGroup", member_id, None, run.machine.group.generation))


@pytest.mark.parametrize(("version", "error"), [("2.2.2", 27), ("2.3.1", 22)])
def test_up_to_2_2_a_heartbeat_before_the_sync_may_be_of_any_generation(version, error):
    run = coordinator(version)
    run.do(("JoinGroup", "", None, NO_ID, RANGE))
    complete(run)
    assert answer(run, "Heartbeat", "m1", None, 7) == error


@pytest.mark.parametrize(("version", "error"), [("2.3.1", 27), ("2.4.0", 25)])
def test_up_to_2_3_a_commit_before_the_sync_may_be_of_anybody(version, error):
    run = coordinator(version)
    run.do(("JoinGroup", "", None, NO_ID, RANGE))
    complete(run)
    assert answer(run, "OffsetCommit", "nobody", None, 1) == error


@pytest.mark.parametrize(("version", "error"), [("2.4.1", 0), ("2.5.0", 25), ("3.9.1", 25)])
def test_up_to_2_4_a_commit_in_a_transaction_may_be_of_anybody(version, error):
    run = stable(coordinator(version), None)
    assert answer(run, "TxnOffsetCommit", "nobody", None, 1) == error


@pytest.mark.parametrize(("version", "error"), [("2.8.2", 0), ("3.0.0", 25), ("3.2.3", 25), ("3.3.0", 0)])
def test_only_from_3_0_to_3_2_a_tool_that_calls_itself_a_member_cannot_commit_into_an_empty_group(version, error):
    run = coordinator(version)
    run.do(("JoinGroup", "", None, NO_ID, RANGE))
    complete(run)
    run.do(("LeaveGroup", [("m1", None)]))
    assert run.machine.group.state is GroupState.EMPTY
    assert answer(run, "OffsetCommit", "tool", None, -1) == error
    assert answer(run, "OffsetCommit", "", None, -1) == 0


@pytest.mark.parametrize(("version", "error"), [("2.8.2", 0), ("3.0.0", 25)])
@pytest.mark.parametrize("api", ["Heartbeat", "SyncGroup", "OffsetCommit"])
def test_up_to_2_8_an_instance_that_is_not_there_does_not_matter(version, error, api):
    run = stable(coordinator(version), None)
    assert answer(run, api, "m1", "nowhere", 1) == error


@pytest.mark.parametrize(("version", "error"), [("2.8.2", 0), ("3.0.0", 25)])
def test_up_to_2_8_a_leaver_may_name_an_instance_that_is_not_there(version, error):
    run = stable(coordinator(version), None, None)
    assert answer(run, "LeaveGroup", [("m2", "nowhere")]) == error
    assert ("m2" in run.machine.group.members) == bool(error)


@pytest.mark.parametrize(("version", "error"), [("2.5.1", 81), ("2.6.0", None)])
def test_up_to_2_5_members_that_have_not_joined_again_take_up_room(version, error):
    run = stable(coordinator(version, max_size=2), None, None)
    run.do(("JoinGroup", "m1", None, NO_ID, RANGE))
    assert answer(run, "JoinGroup", "", None, NO_ID, RANGE) == error


def test_up_to_2_5_members_beyond_the_size_are_put_out_as_they_join_again():
    run = stable(coordinator("2.5.1", max_size=2), None)
    run.do(("JoinGroup", "", None, TWO_STEPS, RANGE))
    run.do(("JoinGroup", "", None, NO_ID, RANGE))
    run.do(("JoinGroup", "m2", None, TWO_STEPS, RANGE))
    assert len(run.machine.group.members) == 3
    assert answer(run, "JoinGroup", "m1", None, NO_ID, RANGE) == 81
    assert sorted(run.machine.group.members) == ["m2", "m3"]


@pytest.mark.parametrize(("version", "waits"), [("2.8.2", True), ("3.0.0", False)])
def test_up_to_2_8_an_id_stays_pending_when_its_join_is_refused_for_the_size(version, waits):
    run = stable(coordinator(version, max_size=2), None)
    run.do(("JoinGroup", "", None, TWO_STEPS, RANGE))
    run.do(("JoinGroup", "", None, NO_ID, RANGE))
    run.do(("JoinGroup", "m1", None, NO_ID, RANGE))
    assert answer(run, "JoinGroup", "m2", None, TWO_STEPS, RANGE) == 81
    assert (run.machine.group.state is GroupState.PREPARING) == waits


@pytest.mark.parametrize(("version", "error"), [("2.7.2", 0), ("2.8.0", 82)])
def test_up_to_2_7_a_static_member_that_finds_its_group_full_takes_its_name_from_who_has_it(version, error):
    run = stable(coordinator(version, max_size=1), "i1")
    assert answer(run, "JoinGroup", "", "i1", STATIC, RANGE) == 81
    assert answer(run, "Heartbeat", "somebody", "i1", 1) == (error or 25)
    assert answer(run, "Heartbeat", "m1", "i1", 1) == 0


@pytest.mark.parametrize(("version", "error"), [("2.5.1", 0), ("2.6.0", None)])
def test_up_to_2_5_a_static_member_comes_back_without_a_rebalance_whatever_it_offers(version, error):
    run = coordinator(version)
    for instance in ("i1", "i2"):
        run.do(("JoinGroup", "", instance, STATIC, (*RANGE, *OTHER)))
    complete(run)
    sync(run)
    assert answer(run, "JoinGroup", "", "i1", STATIC, (*OTHER, *RANGE)) in (0, error)
    assert answer(run, "JoinGroup", "", "i1", STATIC, OTHER) == error


@pytest.mark.parametrize(("version", "state"), [("2.4.1", GroupState.COMPLETING), ("2.5.0", GroupState.PREPARING)])
def test_up_to_2_4_a_static_member_comes_back_before_the_sync_without_a_rebalance(version, state):
    run = coordinator(version)
    run.do(("JoinGroup", "", "i1", STATIC, RANGE))
    run.do(("JoinGroup", "", "i2", STATIC, RANGE))
    complete(run)
    assert (answer(run, "JoinGroup", "", "i1", STATIC, RANGE) == 0) == (state is GroupState.COMPLETING)
    assert run.machine.group.state is state


@pytest.mark.parametrize(("version", "timeout"), [("3.2.3", 6_000), ("3.3.0", 8_000)])
def test_since_3_3_a_member_that_joins_again_brings_its_timeouts_anew(version, timeout):
    run = stable(coordinator(version), None)
    request = replace(run.request("JoinGroup", "m1", None, NO_ID, RANGE), session_timeout_ms=8_000)
    run.machine.handle(request, run.now)
    assert run.machine.group.members["m1"].session_timeout_ms == timeout


@pytest.mark.parametrize(("version", "stays"), [("2.4.0", False), ("2.4.1", True), ("2.5.0", False)])
def test_in_2_4_1_a_new_member_that_stays_silent_is_never_put_out(version, stays):
    run = coordinator(version)
    run.do(("JoinGroup", "", None, NO_ID, RANGE))
    complete(run)
    run.do(("wait", 60_000))
    assert ("m1" in run.machine.group.members) == stays


@pytest.mark.parametrize(("version", "is_put_out"), [("2.8.2", False), ("3.0.0", True)])
def test_in_2_8_a_static_member_that_comes_back_without_having_synced_ends_the_wait_for_the_others(version, is_put_out):
    run = coordinator(version)
    run.do(("JoinGroup", "", "i1", STATIC, RANGE))
    run.do(("JoinGroup", "", "i2", STATIC, RANGE))
    complete(run)
    run.do(("SyncGroup", run.machine.group.leader, None, 1))
    [follower] = set(run.machine.group.members) - {run.machine.group.leader}
    instance = run.machine.group.members[follower].group_instance_id
    assert answer(run, "JoinGroup", "", instance, STATIC, RANGE) == 0
    for _ in range(3):
        run.do(("wait", 3_500))
        for member_id in list(run.machine.group.members):
            run.do(("Heartbeat", member_id, None, 1))
    assert (run.machine.group.state is GroupState.PREPARING) == is_put_out


@pytest.mark.parametrize(("version", "answers"), [("3.2.3", [(1, 35), (2, None)]), ("3.3.0", [(1, 0), (2, 0)])])
def test_up_to_3_2_a_leader_that_knows_of_no_static_members_leaves_its_group_without_answers(version, answers):
    run = stable(coordinator(version), None)
    run.do(("JoinGroup", "", "i1", STATIC, RANGE))
    static, run.said = run.token, []
    run.do(("JoinGroup", "m1", None, NO_ID, RANGE))
    said = {each.token: each.error for each in run.said if isinstance(each, Answered)}
    assert [said.get(run.token), said.get(static)] == [error for _, error in answers]
    assert run.machine.group.state is GroupState.COMPLETING
    run.do(("LeaveGroup", [("m1", None)]))
    run.do(("wait", 1))
    assert run.machine.group.members["m2"].parked_join is None
    assert run.machine.group.generation == (3 if version == "3.2.3" else 2)


BUILDS = [
    ([("scala", "2.12"), ("version", "2.8.2")], "scala 2.12"),
    ([("scala", "2.13"), ("version", "2.4.1")], "scala"),
    ([("version", "2.4.1")], "scala 2.12"),
    ([("version", "2.8.2")], "scala"),
    ([("scala", "2.12"), ("version", "2.8.2"), ("version", "2.8.2")], "scala 2.12"),
    ([("scala", "2.12"), ("version", "2.8.2"), ("version", "3.6.2")], "scala"),
]
"""What brokers print as they start, once or twice, and the maps that they have then."""


@pytest.mark.parametrize(("printed", "map_kind"), BUILDS)
def test_the_order_of_the_members_is_that_of_the_build_that_runs(printed, map_kind):
    brokers = Brokers()
    for at, attribute in enumerate(printed):
        told = line(at, "broker_version", group_id=None, dialect=None, attributes=dict([attribute]))
        brokers.notice_line(typed_line(told))
    assert brokers.of("1").map_kind == map_kind


@pytest.mark.parametrize("version", ["2.8.2-SNAPSHOT", "2.8.2"])
def test_a_version_counts_as_far_as_it_is_numbers(version):
    assert CoordinatorSettings("scala").of_build(version).rules.release == (2, 8, 2)


@pytest.mark.parametrize("version", [None, "", "trunk"])
def test_a_release_that_is_not_told_is_taken_for_the_latest(version):
    assert CoordinatorSettings("scala").of_build(version) == CoordinatorSettings("scala")


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("5.3.1-ccs", (2, 3, 1)),
        ("6.2.0-ce", (2, 8, 0)),
        ("7.9.0-ccs", (3, 9, 0)),
        ("8.0.0-ccs", (4, 0, 0)),
        ("3.5.0.redhat-00001", (3, 5, 0)),
        ("0.11.0.3", (0, 11, 0, 3)),
        ("3.9.0-ce1", (3, 9, 0)),
        ("8", (8,)),
    ],
)
def test_whoever_builds_kafka_anew_is_told_by_the_release_that_it_is_made_of(version, release):
    assert release_of(version) == release


def test_a_broker_that_starts_with_the_other_coordinator_is_taken_at_its_word():
    brokers = Brokers()
    said = [("scala", "stabilized")] * 100 + [("java", "coordinator_started")] + [("java", "stabilized")] * 2
    for at, (dialect, event) in enumerate(said):
        brokers.notice_line(typed_line(line(at, event, dialect=dialect)))
        assert brokers.of("1").dialect == dialect
