"""Rules for newer groups that not all releases have: the same request, put to the last release with and without."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.oracle_modern.consumer_situations import FOO, TOPICS, elsewhere, machine, subscription
from tests.unit.coordinator.evidence_rows import GROUP, Row, line, modern_records, request
from transforms.coordinator.consumer import machine as consumer
from transforms.coordinator.consumer.conversion import ClassicAfter, ClassicBefore, ClassicMemberBefore, upgrade
from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.machine import Elsewhere
from transforms.coordinator.consumer.reconcile import Goal, Standing, reconcile
from transforms.coordinator.consumer.reconcile_early import reconcile_by_target
from transforms.coordinator.consumer.records import ClassicMember, ClassicProtocol, MemberMetadata
from transforms.coordinator.consumer.requests import HeartbeatRequest, Request
from transforms.coordinator.consumer.turn import Memory, Turn
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.rules import release_of
from transforms.coordinator.kafka.states import MemberState
from transforms.coordinator.modern.records import listed
from transforms.coordinator.modern.requests import (
    Answer,
    Caller,
    CommitRequest,
    JoinRequest,
    LeaveRequest,
    LeavingMember,
    Protocol,
)
from transforms.coordinator.modern.world import ModernSettings, World
from transforms.coordinator.replay import replay_group
from transforms.coordinator.share import group as share_group
from transforms.coordinator.share import machine as share
from transforms.coordinator.share.records import MemberMetadata as ShareMetadata
from transforms.coordinator.share.requests import HeartbeatRequest as ShareHeartbeat
from transforms.coordinator.timeline.audit import WHY_LATER_RELEASE, WHY_SETTING, WHY_UNTOLD

OLDEST_VERSION = 0
JOINING = HeartbeatRequest("m9", 0, None, None, 20_000, ("foo",), None, None, [])
KEPT = HeartbeatRequest("m1", 2)


def world(version: str) -> World:
    return World(TOPICS, ModernSettings(rules=ModernRules(release_of(version) or ())), 1_000.0)


def answer(
    version: str, situation: str, asked: Request, api_version: int = 1, elsewhere: Elsewhere | None = None
) -> Answer:
    outcome = machine(situation).handle(
        asked, world(version), Caller(api_version, "client", "host"), elsewhere or Elsewhere(), given_id="new"
    )
    assert outcome.answer is not None
    return outcome.answer


def group_of_classic_member() -> Group:
    """Return a consumer group in which one is, a static member of the classic protocol."""
    classic = ClassicMember(10_000, (ClassicProtocol("range", subscription("foo")),))
    holder = MemberMetadata("i1", None, "client", "host", ("foo",), "", 20_000, None, classic)
    group = Group(2, TOPICS.hash_of(["foo"]), 2)
    group.put(Member("c1", holder, Standing(2, 1, assigned={FOO: (0, 1)})))
    return group


@pytest.mark.parametrize(("version", "error"), [("3.7.2", 110), ("4.1.1", 110), ("4.2.0", 0)])
def test_up_to_4_1_a_member_that_is_there_cannot_join_again(version, error):
    assert answer(version, "STABLE", replace(JOINING, member_id="m1")).error == error


def test_one_that_says_only_now_which_instance_it_is_always_could():
    rejoining = replace(JOINING, member_id="m1", instance_id="i9")
    assert [answer(version, "STABLE", rejoining).error for version in ("3.9.1", "4.1.1", "4.2.0")] == [0, 0, 0]


@pytest.mark.parametrize(("version", "error"), [("3.9.1", 42), ("4.0.0", 0)])
def test_up_to_3_9_who_joins_names_a_topic(version, error):
    assert answer(version, "STABLE", replace(JOINING, subscribed_topic_names=())).error == error


@pytest.mark.parametrize(("version", "error"), [("3.9.1", 42), ("4.0.0", 82)])
def test_up_to_3_9_who_leaves_for_a_while_has_to_be_named_before_anything_else(version, error):
    leaving = HeartbeatRequest("", -2, "i1")
    assert answer(version, "STATIC", leaving, OLDEST_VERSION).error == error


@pytest.mark.parametrize(("version", "error"), [("3.7.2", 0), ("3.8.0", 35)])
def test_in_3_7_an_old_client_may_commit_with_the_right_epoch(version, error):
    assert answer(version, "STABLE", CommitRequest("m1", 2), 8).error == error
    assert answer(version, "STABLE", CommitRequest("m1", 1), 8).error == 35


@pytest.mark.parametrize(("version", "error"), [("3.9.1", 25), ("4.0.0", 0)])
def test_up_to_3_9_a_transaction_cannot_commit_for_nobody(version, error):
    assert answer(version, "STABLE", CommitRequest(is_transactional=True), 3).error == error


@pytest.mark.parametrize(("version", "error"), [("3.9.1", 25), ("4.0.0", 0)])
def test_up_to_3_9_an_administrator_cannot_remove_members_of_the_new_protocol(version, error):
    removed = answer(version, "STABLE", LeaveRequest((LeavingMember("m1"),)))
    assert removed.leaver_errors == (error,)


@pytest.mark.parametrize(("version", "errors", "leaves"), [("3.9.1", (25, 25, 25), False), ("4.0.0", (0, 0, 25), True)])
def test_up_to_3_9_nobody_leaves_by_a_request_that_names_a_member_twice(version, errors, leaves):
    asked = LeaveRequest(tuple(LeavingMember(name) for name in ("c1", "c1", "ghost")))
    outcome = consumer.Machine(group_of_classic_member()).handle(asked, world(version), Caller(5, "client", "host"))
    assert outcome.answer is not None and outcome.answer.leaver_errors == errors
    assert bool(outcome.records) == leaves


@pytest.mark.parametrize(("version", "error"), [("3.9.1", 111), ("4.0.0", 0)])
def test_up_to_3_9_a_static_member_of_the_classic_protocol_keeps_its_place(version, error):
    group = group_of_classic_member()
    asked = replace(JOINING, instance_id="i1")
    outcome = consumer.Machine(group).handle(asked, world(version), Caller(1, "client", "host"))
    assert outcome.answer is not None and outcome.answer.error == error


@pytest.mark.parametrize(("version", "error"), [("3.7.2", 69), ("3.8.0", 0)])
def test_in_3_7_nobody_of_the_classic_protocol_gets_into_a_consumer_group(version, error):
    joining = JoinRequest("c9", None, 10_000, 20_000, "consumer", (Protocol("range", subscription("foo")),))
    assert answer(version, "STABLE", joining, 5).error == error


@pytest.mark.parametrize(("version", "error"), [("3.7.2", 69), ("3.8.0", 0)])
def test_in_3_7_a_classic_group_stays_one_though_it_is_empty(version, error):
    assert answer(version, "CLASSIC_EMPTY", JOINING, elsewhere=elsewhere("CLASSIC_EMPTY")).error == error


@pytest.mark.parametrize(
    ("version", "policy"), [("3.8.1", "disabled"), ("3.9.1", "disabled"), ("4.0.0", "bidirectional")]
)
def test_up_to_3_9_groups_are_converted_only_where_the_broker_is_set_to(version, policy):
    settings = CoordinatorSettings().of_build(version)
    assert settings.migration_policy == policy
    assert settings.updated({"group.consumer.migration.policy": "upgrade"}).migration_policy == "upgrade"


@pytest.mark.parametrize(("version", "is_told"), [("3.7.2", True), ("3.8.0", False)])
def test_in_3_7_whoever_says_what_it_owns_is_told_what_it_may_use(version, is_told):
    told = answer(version, "STABLE", replace(KEPT, topic_partitions=[])).assignment
    assert (told is not None) == is_told
    assert answer(version, "STABLE", KEPT).assignment is None


@pytest.mark.parametrize(("by_subscription", "epoch"), [(False, 3), (True, 2)])
def test_up_to_4_1_who_has_given_up_and_has_to_give_up_more_goes_one_epoch_on(by_subscription, epoch):
    gives_up = Standing(2, 2, MemberState.UNREVOKED_PARTITIONS, {FOO: (0, 1)}, {FOO: (2,)})
    goal = Goal(4, {FOO: (0,)}, lambda _: True, lambda *_: True, False, {FOO: (0, 1)}, by_subscription)
    after = reconcile(gives_up, goal)
    assert after == Standing(epoch, 2, MemberState.UNREVOKED_PARTITIONS, {FOO: (0,)}, {FOO: (1,)})


@pytest.mark.parametrize(
    ("version", "state"), [("4.1.1", MemberState.STABLE), ("4.2.0", MemberState.UNREVOKED_PARTITIONS)]
)
def test_up_to_4_1_a_target_is_given_whether_or_not_the_member_subscribes_to_it(version, state):
    group = machine("STABLE")
    assert group.present is not None
    behind = group.present.members["m1"]
    metadata = replace(behind.metadata, subscribed_topic_names=("bar",))
    group.present.put(replace(behind, metadata=metadata, standing=replace(behind.standing, epoch=1)))
    group.handle(HeartbeatRequest("m1", 1), world(version), Caller(1, "client", "host"))
    assert group.present.members["m1"].standing.state is state


@pytest.mark.parametrize(
    ("version", "state"),
    [
        ("4.0.1", MemberState.UNRELEASED_PARTITIONS),
        ("4.0.2", MemberState.STABLE),
        ("4.1.1", MemberState.UNRELEASED_PARTITIONS),
        ("4.1.2", MemberState.STABLE),
        ("4.2.0", MemberState.STABLE),
    ],
)
def test_a_member_that_is_to_have_again_what_it_did_not_give_up_waited_for_itself(version, state):
    group = machine("STABLE")
    assert group.present is not None
    there = group.present.members["m1"]
    gives_up = Standing(1, 1, MemberState.UNREVOKED_PARTITIONS, {FOO: (0, 1)}, {FOO: (2,)})
    group.present.put(replace(there, standing=gives_up))
    group.present.targets["m1"] = {FOO: (0, 1, 2)}
    group.handle(HeartbeatRequest("m1", 1, topic_partitions=listed({FOO: (0, 1)})), world(version), Caller(1, "c", "h"))
    assert group.present.members["m1"].standing.state is state


@pytest.mark.parametrize(
    ("version", "is_dropped"),
    [("4.0.1", False), ("4.0.2", True), ("4.1.0", False), ("4.1.1", False), ("4.1.2", True), ("4.2.0", True)],
)
def test_an_heir_of_the_classic_protocol_kept_its_regular_expression(version, is_dropped):
    group = Group(2, TOPICS.hash_of(["foo"]), 2)
    for member_id, instance_id, regex in (("m1", "i1", "fo.*"), ("m2", None, "")):
        named = MemberMetadata(instance_id, None, "client", "host", ("foo",), regex, 20_000)
        epoch = -2 if instance_id else 2
        group.put(Member(member_id, named, Standing(epoch, 1, assigned={})))
    joining = JoinRequest("", "i1", 10_000, 20_000, "consumer", (Protocol("range", subscription("foo")),))
    outcome = consumer.Machine(group).handle(joining, world(version), Caller(5, "client", "host"), given_id="c1")
    assert outcome.answer is not None and outcome.answer.error == 0
    assert group.members["c1"].regex == ("" if is_dropped else "fo.*")
    assert group.epoch == (3 if is_dropped else 2)


@pytest.mark.parametrize(
    ("version", "knows_them"), [("3.9.1", False), ("4.0.0", False), ("4.0.1", True), ("4.1.0", True), ("4.2.0", True)]
)
def test_a_group_that_was_converted_did_not_know_its_topics_at_once(version, knows_them):
    turn = Turn(Group(), world(version), Memory())
    classic = ClassicMember(10_000, (ClassicProtocol("range", subscription("foo")),))
    upgrade(
        turn, ClassicBefore(3, "consumer", "range", [ClassicMemberBefore("c1", None, "client", "host", 1, classic)])
    )
    assert (turn.group.metadata_hash == TOPICS.hash_of(["foo"])) == knows_them


@pytest.mark.parametrize(
    ("version", "rebalances"), [("4.0.1", False), ("4.0.2", True), ("4.1.0", False), ("4.1.1", True), ("4.2.0", True)]
)
def test_rules_that_were_taken_back_to_an_earlier_branch_hold_in_its_later_releases(version, rebalances):
    assert ModernRules(release_of(version) or ()).rebalances_for_heirs == rebalances


def test_in_3_7_a_newer_target_gives_back_what_was_to_be_given_up():
    gives_up = Standing(2, 1, MemberState.UNREVOKED_PARTITIONS, {FOO: (0,)}, {FOO: (1,)}, 3)
    goal = Goal(4, {FOO: (0, 1, 2)}, lambda _: True, lambda _, number: number == 2)
    assert reconcile_by_target(gives_up, goal) == Standing(
        4, 2, MemberState.UNRELEASED_PARTITIONS, {FOO: (0, 1)}, {}, 4
    )


def test_in_3_7_a_member_shows_what_it_gave_up_by_owning_just_the_rest():
    gives_up = Standing(2, 1, MemberState.UNREVOKED_PARTITIONS, {FOO: (0,)}, {FOO: (1,)}, 3)
    goal = Goal(3, {FOO: (0,)}, lambda _: True, lambda *_: False, False, {FOO: (0, 1)})
    assert reconcile_by_target(gives_up, goal) == gives_up
    after = reconcile_by_target(gives_up, replace(goal, owned={FOO: (0,)}))
    assert after == Standing(3, 2, MemberState.STABLE, {FOO: (0,)}, {}, 3)


# --- share groups ----------------------------------------------------------------------------------------------------


def shared() -> share.Machine:
    group = share_group.Group(5, TOPICS.hash_of(["foo"]), 5)
    metadata = ShareMetadata(None, "client", "host", ("foo",))
    group.put(share_group.Member("m1", metadata, share_group.Standing(5, 4, {FOO: (0, 1, 2, 3, 4, 5)})))
    group.targets["m1"] = {FOO: (0, 1, 2, 3, 4, 5)}
    group.share_state = share_group.ShareState({}, {FOO: (0, 1, 2, 3, 4, 5)}, (), {FOO: "foo"}, 900.0)
    made = share.Machine(group)
    made.memory.must_refresh = False
    return made


def shared_answer(version: str, asked: ShareHeartbeat) -> Answer:
    outcome = shared().handle(asked, world(version), Caller(1, "client", "host"))
    assert outcome.answer is not None
    return outcome.answer


@pytest.mark.parametrize(("version", "error"), [("4.1.1", 110), ("4.2.0", 0)])
def test_up_to_4_1_a_member_of_a_share_group_cannot_join_again(version, error):
    assert shared_answer(version, ShareHeartbeat("m1", 0, None, ("foo",))).error == error


@pytest.mark.parametrize(("version", "error"), [("3.9.1", 0), ("4.0.0", 110)])
def test_in_3_9_a_member_of_a_share_group_may_be_any_number_of_epochs_behind(version, error):
    assert shared_answer(version, ShareHeartbeat("m1", 2)).error == error


@pytest.mark.parametrize(("version", "is_told"), [("4.0.0", False), ("4.1.0", True)])
def test_since_4_1_who_says_what_it_subscribes_to_is_told_what_it_may_use(version, is_told):
    assert (shared_answer(version, ShareHeartbeat("m1", 5, None, ("foo",))).assignment is not None) == is_told


def test_up_to_4_0_every_member_of_a_share_group_has_all_of_its_topics():
    group = shared()
    group.handle(ShareHeartbeat("m2", 0, None, ("foo",)), world("4.0.0"), Caller(1, "client", "host"))
    assert group.present is not None
    assert {name: of[FOO] for name, of in group.present.targets.items()} == dict.fromkeys(
        ("m1", "m2"), (0, 1, 2, 3, 4, 5)
    )


# --- what is made of it in the audit ---------------------------------------------------------------------------------

MEMBER = {"subscribedTopicNames": ["foo"], "rebalanceTimeoutMs": 6_000}
JOINED = [
    (5, "m", MEMBER),
    (3, "", {"epoch": 1}),
    (7, "m", {"topicPartitions": []}),
    (6, "", {"assignmentEpoch": 1}),
    (8, "m", {"memberEpoch": 1, "previousMemberEpoch": 0, "state": 0}),
]


def heartbeat(at: float, member_id: str, epoch: int, error: int = 0, **fields: Any) -> Row:
    asked = {"api_version": 0, "generation": epoch, "answered_member_id": member_id if not error else None}
    return request(at, "ConsumerGroupHeartbeat", member_id, error, **{**asked, "rebalance_timeout_ms": -1, **fields})


def audited(version: str, lines: list[Row], *requests: Row, records: list[Row] | None = None) -> list[Row]:
    printed = line(900, "broker_version", group_id=None, attributes={"version": version})
    stored = modern_records((1_001, JOINED)) if records is None else records
    rows = replay_group("c", GROUP, [], [printed, *lines], list(requests), 50, modern_records=stored)
    return sorted(rows["replay_audit"], key=lambda row: row["handled_at"])


def test_a_join_whose_targets_could_not_be_computed_is_foreseen_by_the_line_that_tells():
    failed = line(2_000, "modern_assignment_failed", generation=2, attributes={"detail": "Mismatch"})
    joins = heartbeat(2_000, "", 0, -1, rebalance_timeout_ms=6_000, subscribed_topics=["bar"], owned=[])
    (row,) = audited("3.9.1", [failed], joins)
    assert (row["agrees"], row["predicted_error"]) == (True, int(Error.UNKNOWN_SERVER_ERROR))
    (row,) = audited("3.9.1", [failed], heartbeat(2_000, "m", 1, answered_generation=1))
    assert (row["agrees"], row["predicted_error"]) == (True, 0)


def test_without_the_line_it_is_not_foreseen_where_the_release_has_that_flaw_and_is_wrong_elsewhere():
    joins = heartbeat(2_000, "", 0, -1, rebalance_timeout_ms=6_000, subscribed_topics=["bar"], owned=[])
    (row,) = audited("3.9.1", [], joins)
    assert (row["agrees"], row["why"]) == (None, WHY_UNTOLD)
    (row,) = audited("4.2.0", [], joins)
    assert row["agrees"] is False


def test_what_a_later_release_answers_otherwise_is_marked():
    fenced = heartbeat(2_000, "m", 1, 110)
    (row,) = audited("5.1.0", [], fenced)
    assert row["agrees"] is False and row["why"].endswith(WHY_LATER_RELEASE)
    (row,) = audited("4.2.1", [], fenced)
    assert row["agrees"] is False and WHY_LATER_RELEASE not in row["why"]


def without_lines(records: list[Row], *requests: Row) -> list[Row]:
    rows = replay_group("c", GROUP, [], [], list(requests), 50, modern_records=records)["replay_audit"]
    return sorted(rows, key=lambda row: row["handled_at"])


WENT_ON = [
    (3, "", {"epoch": 2}),
    (6, "", {"assignmentEpoch": 2}),
    (8, "m", {"memberEpoch": 2, "previousMemberEpoch": 1, "state": 0}),
]


def rejoin(at: float, error: int) -> Row:
    said = {"rebalance_timeout_ms": 6_000, "subscribed_topics": ["foo"], "owned": []}
    return heartbeat(at, "m", 0, error, **said, answered_generation=None if error else 2, told=None if error else [])


def test_records_that_list_topics_show_a_broker_up_to_4_0():
    listing = [*JOINED[:1], (4, "", {"topics": []}), *JOINED[1:]]
    (row,) = without_lines(modern_records((1_001, listing), (1_501, WENT_ON)), rejoin(2_000, 110))
    assert (row["agrees"], row["is_answer_used"]) == (True, False)


def test_a_fenced_join_itself_shows_a_broker_up_to_4_1_where_nothing_else_tells():
    stored = modern_records((1_001, JOINED), (1_501, WENT_ON))
    first, second = without_lines(stored, rejoin(2_000, 110), rejoin(3_000, 110))
    assert (first["agrees"], first["is_answer_used"], first["why"]) == (True, True, WHY_SETTING)
    assert (second["agrees"], second["is_answer_used"]) == (True, False)
    (row,) = without_lines(stored, rejoin(2_000, 0))
    assert (row["agrees"], row["is_answer_used"]) == (True, False)


def test_what_share_groups_of_3_9_answer_is_not_foreseen_as_no_record_has_it():
    told = {"generation": 0, "answered_generation": 1, "answered_member_id": "m", "subscribed_topics": ["foo"]}
    stored = modern_records((1_001, [(10, "m", {"subscribedTopicNames": ["foo"]}), (11, "", {"epoch": 1})]))
    (row,) = audited("3.9.1", [], request(1_000, "ShareGroupHeartbeat", "m", **told), records=stored)
    assert (row["agrees"], row["why"]) == (None, WHY_UNTOLD)


@pytest.mark.parametrize(
    ("version", "epoch", "must_rebalance", "has_targets"),
    [("4.0.0", 3, False, True), ("4.0.1", 3, False, True), ("4.1.0", 3, False, True), ("4.1.1", 0, True, False)],
)
def test_up_to_4_1_0_the_last_heir_of_a_consumer_group_makes_no_rebalance(version, epoch, must_rebalance, has_targets):
    """It subscribes to something else than the member whose place it takes."""
    classic = ClassicMember(10_000, (ClassicProtocol("range", subscription("foo")),))
    group = Group(2, 0, 2)
    held = MemberMetadata("i1", None, "client", "host", ("foo",), "", 20_000)
    old = MemberMetadata(None, None, "client", "host", ("foo",), "", 20_000, None, classic)
    group.put(Member("m1", held, Standing(2, 1, assigned={FOO: (0, 1, 2)})))
    group.put(Member("c1", old, Standing(2, 1, assigned={FOO: (3, 4, 5)})))
    group.targets.update({"m1": {FOO: (0, 1, 2)}, "c1": {FOO: (3, 4, 5)}})
    group.metadata_hash = TOPICS.hash_of(["foo"])
    taking = consumer.Machine(group)
    taking.memory.must_refresh = False
    join = JoinRequest("", "i1", 10_000, 20_000, "consumer", (Protocol("range", subscription("bar")),))
    outcome = taking.handle(join, world(version), Caller(9, "client", "host"), Elsewhere(), given_id="new")
    assert outcome.answer is not None
    assert (outcome.answer.error, outcome.answer.epoch) == (Error.NONE, epoch)
    after = next(record.value for record in outcome.records if isinstance(record.value, ClassicAfter))
    assert (after.generation, after.must_rebalance) == (2, must_rebalance)
    assert any(record.type_id == 6 and record.value is not None for record in outcome.records) == has_targets
