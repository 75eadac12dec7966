"""Whose result a consumer group's targets are, where nothing is known of the topics but what the targets show."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.recognise import assignor_of
from transforms.coordinator.consumer.records import MemberMetadata
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.topics import Topic, Topics

ORDERS, PAYMENTS, RETURNS = "AAAAAAAADwAAAAAAAAAAAQ", "AAAAAAAAC6IAAAAAAAAAAg", "AAAAAAAAD6AAAAAAAAAAAw"
NAMES = {ORDERS: "orders", PAYMENTS: "payments", RETURNS: "returns"}


def _group(targets: Mapping[str, Partitions], topics: Mapping[str, tuple[str, ...]], metadata_hash: int = 7) -> Group:
    group = Group(epoch=2, assignment_epoch=2, metadata_hash=metadata_hash)
    for member_id, names in topics.items():
        group.put(Member(member_id, MemberMetadata(subscribed_topic_names=names)))
    group.targets = dict(targets)
    return group


SAME = {"a": ("orders",), "b": ("orders",)}
MIXED = {"a": ("orders", "payments"), "b": ("orders", "returns")}


def test_what_the_balanced_assignor_would_not_have_given_is_custom():
    lopsided = _group({"a": {ORDERS: (0, 1, 2)}, "b": {ORDERS: (3,)}}, SAME)
    assert assignor_of(lopsided, {}, NAMES) == "custom"
    assert assignor_of(lopsided, {}, NAMES, "uniform") == "custom"


def test_who_keeps_what_it_had_is_uniform_and_a_run_of_each_topic_is_range():
    had = {"a": {ORDERS: (0, 2, 4, 5)}}
    kept = _group({"a": {ORDERS: (0, 2, 4)}, "b": {ORDERS: (1, 3, 5)}}, SAME)
    assert assignor_of(kept, had, NAMES) == "uniform"
    assert assignor_of(_group({"a": {ORDERS: (0, 1, 2)}, "b": {ORDERS: (3, 4, 5)}}, SAME), had, NAMES) == "range"


def test_of_several_that_agree_the_elected_one_is_named():
    alone = _group({"a": {ORDERS: (0, 1)}}, {"a": ("orders",)})
    assert assignor_of(alone, {}, NAMES) == "uniform"
    assert assignor_of(alone, {}, NAMES, "range") == "range"
    assert assignor_of(alone, {}, NAMES, "theirs") == "uniform"


def test_brokers_that_tell_no_hash_of_the_topics_are_never_said_to_have_an_assignor_of_their_own():
    assert assignor_of(_group({"a": {ORDERS: (0, 1, 2)}, "b": {ORDERS: (3,)}}, SAME, 0), {}, NAMES) is None


def _of_4_0(group: Group, **counts: int) -> Group:
    """As a broker up to 4.0 writes of it: with its topics, and without their hash."""
    ids = {name: topic_id for topic_id, name in NAMES.items()}
    group.metadata_hash = 0
    group.topics = tuple(Topic(name, ids[name], count) for name, count in counts.items())
    return group


def test_brokers_that_list_the_topics_can_have_an_assignor_of_their_own():
    had = {"a": {ORDERS: (0, 1, 2, 3)}}
    lopsided = _of_4_0(_group({"a": {ORDERS: (0, 1, 2)}, "b": {ORDERS: (3,)}}, SAME), orders=4)
    assert assignor_of(lopsided, had, {}) == "custom"
    some_left_over = _of_4_0(_group({"a": {ORDERS: (0, 1)}, "b": {ORDERS: (2, 3)}}, SAME), orders=6)
    assert assignor_of(some_left_over, had, {}) == "custom"
    of_a_topic_not_listed = _of_4_0(_group({"a": {ORDERS: (0, 1)}, "b": {ORDERS: (2, 3)}}, SAME), payments=6)
    assert assignor_of(of_a_topic_not_listed, had, {}) is None


def test_a_release_is_known_by_how_its_assignors_share_out():
    had = {"a": {ORDERS: (0, 1, 2, 3, 4, 5)}}
    sticky = _of_4_0(_group({"b": {ORDERS: (2, 3, 4)}, "a": {ORDERS: (0, 1, 5)}}, SAME), orders=6)
    had_odd = {"a": {ORDERS: (0, 1, 5)}, "b": {ORDERS: (2, 3, 4)}}
    assert assignor_of(sticky, had_odd, {}, "range") == "range"
    assert assignor_of(sticky, had_odd, {}, "range", [(3, 8, 1)]) == "range"
    assert assignor_of(sticky, had_odd, {}, "range", [(3, 9, 1)]) == "uniform"
    assert assignor_of(sticky, had, {}, "range", [(3, 9, 1)]) == "custom"


def test_a_release_that_cannot_have_written_the_records_is_not_believed():
    had = {"a": {ORDERS: (0, 1, 5)}, "b": {ORDERS: (2, 3, 4)}}
    sticky = _of_4_0(_group({"b": {ORDERS: (2, 3, 4)}, "a": {ORDERS: (0, 1, 5)}}, SAME), orders=6)
    assert assignor_of(sticky, had, {}, "range", [(4, 2, 0)]) == "range"


@pytest.mark.parametrize("names", [SAME, {**SAME, "b": ("orders", "payments")}])
def test_what_hangs_on_racks_is_left_open_where_subscriptions_differ(names: dict[str, tuple[str, ...]]):
    """Of four partitions, two and two, those that are near go to each."""
    group = _group({"a": {ORDERS: (1, 3)}, "b": {ORDERS: (0, 2)}}, names)
    for name, each in names.items():
        group.put(Member(name, MemberMetadata(rack_id=f"r-{name}", subscribed_topic_names=each)))
    group.metadata_hash = 0
    racks = (("r-b",), ("r-a",), ("r-b",), ("r-a",))
    group.topics = (Topic("orders", ORDERS, 4, racks), Topic("payments", PAYMENTS, 1, (("r-b",),)))
    told = assignor_of(group, {}, {PAYMENTS: "payments"}, releases=[(3, 7, 2)])
    assert told == ("uniform" if names is SAME else None)
    if names is SAME:
        assert assignor_of(group, {}, {}, releases=[(3, 8, 1)]) == "custom"


def test_where_subscriptions_differ_names_must_be_known():
    targets: dict[str, Partitions] = {
        "a": {ORDERS: (0,), PAYMENTS: (0, 1)},
        "b": {ORDERS: (1,), RETURNS: (0, 1)},
    }
    assert assignor_of(_group(targets, MIXED), {}, NAMES, "range") == "range"
    assert assignor_of(_group(targets, MIXED), {}, {ORDERS: "orders"}, "range") is None
    all_but_one = {ORDERS: "orders", PAYMENTS: "payments"}
    assert assignor_of(_group(targets, MIXED), {}, all_but_one, "range") == "range"


def test_names_that_nobody_tells_follow_from_the_hash_of_the_topics():
    targets: dict[str, Partitions] = {
        "a": {ORDERS: (0,), PAYMENTS: (0, 1)},
        "b": {ORDERS: (1,), RETURNS: (0, 1)},
    }
    topics = Topics(Topic(name, topic_id, 2) for topic_id, name in NAMES.items())
    group = _group(targets, MIXED, topics.hash_of(NAMES.values()))
    assert assignor_of(group, {}, {}, "range") == "range"
    turned = _group({"a": targets["b"], "b": targets["a"]}, MIXED, group.metadata_hash)
    assert assignor_of(turned, {}, {}) == "custom"


def test_nothing_is_said_of_targets_that_are_empty_or_give_a_partition_twice():
    assert assignor_of(_group({"a": {}, "b": {}}, SAME), {}, NAMES) is None
    assert assignor_of(_group({"a": {ORDERS: (0, 1)}, "b": {ORDERS: (1,)}}, SAME), {}, NAMES) is None


def test_what_a_leader_of_the_classic_protocol_gave_is_nobodys_result():
    group = _group({"a": {ORDERS: (0, 1)}}, {"a": ("orders",)})
    member = group.members["a"]
    standing = type(member.standing)(2, 2)
    group.put(Member("a", member.metadata, standing))
    assert assignor_of(group, {}, NAMES) is None


@pytest.mark.parametrize("number", [5_000, 1 << 30])
def test_of_topics_that_are_large_beyond_measure_nothing_is_worked_out(number):
    """A damaged record can have any number in it."""
    odd = _group({"a": {ORDERS: (number,)}, "b": {ORDERS: (1,)}}, SAME)
    assert assignor_of(odd, {}, NAMES) is None
    assert assignor_of(_of_4_0(_group({"a": {ORDERS: (0,)}}, SAME), orders=number + 1), {}, NAMES) is None
