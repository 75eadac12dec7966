from __future__ import annotations

from transforms.coordinator.assignors.classify import ASSIGNORS, classify, shown_counts
from transforms.coordinator.assignors.subscriptions import MemberSubscription as Member

MEMBERS = {"a": Member(("t", "u")), "b": Member(("t", "u"))}
COUNTS = {"t": 3, "u": 3}


def test_each_assignor_is_recognised_by_its_own_result() -> None:
    for name, (assign, *_) in ASSIGNORS.items():
        assert classify(MEMBERS, COUNTS, assign(MEMBERS, COUNTS), elected=name) == name


def test_an_elected_protocol_that_did_not_compute_the_assignment_is_not_believed() -> None:
    sent = ASSIGNORS["range"][0](MEMBERS, COUNTS)
    assert classify(MEMBERS, COUNTS, sent, elected="roundrobin") == "range"
    assert classify(MEMBERS, COUNTS, sent, elected="stream") == "range"


def test_order_of_partitions_and_members_left_out_do_not_count() -> None:
    alone = {"a": Member(("t",)), "b": Member(("t",))}
    assert classify(alone, {"t": 1}, {"a": [("t", 0)]}, "range") == "range"
    sent = {name: given[::-1] for name, given in ASSIGNORS["sticky"][0](MEMBERS, COUNTS).items()}
    assert classify(MEMBERS, COUNTS, sent, "sticky") == "sticky"


def test_what_no_assignor_computes_is_custom() -> None:
    everything = [(topic, number) for topic, count in COUNTS.items() for number in range(count)]
    assert classify(MEMBERS, COUNTS, {"b": everything}, "range") == "custom"
    assert classify(MEMBERS, COUNTS, {"a": everything[:3], "stranger": everything[3:]}) == "custom"
    assert classify(MEMBERS, COUNTS, {}, "range") == "custom"


def test_a_sticky_client_before_3_7_1_is_sticky_too() -> None:
    owner = Member(("t",), owned=(("t", 3), ("t", 2), ("t", 1), ("t", 0)), generation=1)
    sent = {"a": [("t", 3), ("t", 2)]}  # the rest is withheld
    assert classify({"a": owner, "b": Member(("t",))}, {"t": 4}, sent, "cooperative-sticky") == "cooperative-sticky"


def test_an_assignment_shows_the_counts_it_was_made_from() -> None:
    owner = Member(("t",), owned=(("t", 0), ("t", 1)), generation=1)
    assert shown_counts({"a": owner, "b": Member(("t",))}, {"a": [("t", 0)], "b": [("u", 4)]}) == {"t": 2, "u": 5}


def test_a_leader_that_assigns_nothing_is_in_line_with_every_assignor_when_there_is_nothing_to_assign() -> None:
    assert classify({"a": Member(("gone",))}, {}, {"a": []}, "roundrobin") == "roundrobin"
    assert classify({}, {}, {}, "sticky") == "sticky"
