from __future__ import annotations

from transforms.coordinator.assignors.eager import assign_range, assign_roundrobin
from transforms.coordinator.assignors.subscriptions import MemberSubscription as Member


def test_range_gives_the_first_members_one_more_of_each_topic() -> None:
    members = {"b": Member(("t", "u")), "a": Member(("t", "u"))}
    assert assign_range(members, {"t": 3, "u": 3}) == {
        "a": [("t", 0), ("t", 1), ("u", 0), ("u", 1)],
        "b": [("t", 2), ("u", 2)],
    }


def test_range_shares_a_topic_among_its_own_subscribers_only() -> None:
    members = {"a": Member(("t",)), "b": Member(("t", "u")), "c": Member(("u",))}
    assert assign_range(members, {"t": 2, "u": 2}) == {"a": [("t", 0)], "b": [("t", 1), ("u", 0)], "c": [("u", 1)]}


def test_range_leaves_members_empty_when_there_are_more_of_them_than_partitions() -> None:
    assert assign_range({"a": Member(("t",)), "b": Member(("t",))}, {"t": 1}) == {"a": [("t", 0)], "b": []}


def test_static_members_come_first_by_instance_id_whatever_their_member_id() -> None:
    members = {"a": Member(("t",)), "z": Member(("t",), "host-1"), "b": Member(("t",), "host-2")}
    assert assign_range(members, {"t": 3}) == {"z": [("t", 0)], "b": [("t", 1)], "a": [("t", 2)]}
    assert assign_roundrobin(members, {"t": 3}) == {"z": [("t", 0)], "b": [("t", 1)], "a": [("t", 2)]}


def test_roundrobin_deals_on_from_topic_to_topic() -> None:
    members = {"a": Member(("t", "u")), "b": Member(("t", "u"))}
    assert assign_roundrobin(members, {"u": 3, "t": 3}) == {
        "a": [("t", 0), ("t", 2), ("u", 1)],
        "b": [("t", 1), ("u", 0), ("u", 2)],
    }


def test_roundrobin_passes_members_that_do_not_subscribe() -> None:
    members = {"a": Member(("t",)), "b": Member(("t", "u")), "c": Member(("t", "u", "v"))}
    assert assign_roundrobin(members, {"t": 1, "u": 2, "v": 3}) == {
        "a": [("t", 0)],
        "b": [("u", 0)],
        "c": [("u", 1), ("v", 0), ("v", 1), ("v", 2)],
    }


def test_topics_that_do_not_exist_are_not_assigned() -> None:
    members = {"a": Member(("gone", "t"))}
    for assign in (assign_range, assign_roundrobin):
        assert assign(members, {"t": 1, "unread": 4}) == {"a": [("t", 0)]}
        assert assign(members, {}) == {"a": []}
