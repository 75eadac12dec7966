"""Orders that decide leaders and votes, and the partition of a group."""

from __future__ import annotations

import pytest

from transforms.coordinator.kafka.java_hashing import map_order, offsets_partition, string_hash, vote_order


@pytest.mark.parametrize(
    ("text", "signed"),
    [
        ("", 0),
        ("hello", 99162322),
        ("polygenelubricants", -(2**31)),
        ("Ünïcödé", None),
        ("\U0001f600", 55357 * 31 + 56832),
    ],
)
def test_string_hash_is_javas_over_utf_16_units(text, signed):
    if signed is None:
        signed = 0
        for unit in memoryview(text.encode("utf-16-le")).cast("H"):
            signed = (signed * 31 + unit) & 0xFFFFFFFF
        signed -= (signed >> 31) << 32
    assert string_hash(text) == signed & 0xFFFFFFFF


@pytest.mark.parametrize(
    ("group", "partition"),
    [("warm-up", 33), ("polygenelubricants", 0), ("chaos-7", 10), ("chaos-1", 4), ("reborn", 28), ("hello", 22)],
)
def test_a_group_lives_where_the_brokers_of_the_captures_put_it(group, partition):
    assert offsets_partition(group, 50) == partition


def test_java_map_keeps_insertion_order_inside_a_bucket():
    # "Aa" and "BB" have the same hash.
    assert map_order(["BB", "Aa"], 2, "java") == ["BB", "Aa"]
    assert map_order(["Aa", "BB"], 2, "java") == ["Aa", "BB"]


@pytest.mark.parametrize(
    ("dialect", "largest", "order"),
    [
        # "a" (97) and "q" (113) share a bucket of 16, and part in a table of 32.
        ("java", 12, ["q", "a"]),
        ("java", 13, ["a", "q"]),
        ("scala", 11, ["a", "q"]),
    ],
)
def test_the_order_depends_on_the_most_members_there_ever_were(dialect, largest, order):
    assert map_order(["q", "a"], largest, dialect) == order


def test_scala_sorts_a_bucket_by_hash_until_the_table_grows():
    # "1" (49) and "A" (65) share a bucket of 16; in a table of 32 "A" comes first.
    assert map_order(["1", "A"], 11, "scala") == ["1", "A"]
    assert map_order(["1", "A"], 12, "scala") == ["A", "1"]


def test_tied_votes_go_as_the_two_coordinators_were_seen_to_decide():
    assert vote_order(["roundrobin", "range"], "java")[0] == "range"
    assert vote_order(["range", "roundrobin"], "scala")[0] == "roundrobin"


SCALA = [
    ("scala 2.12", "c-0 c-1 c-2 c-3 c-4 c-5", "c-5 c-2 c-1 c-4 c-0 c-3"),
    ("scala 2.12", "c-5 c-4 c-3 c-2 c-1 c-0", "c-5 c-2 c-1 c-4 c-0 c-3"),
    ("scala 2.12", "Aa BB", "BB Aa"),
    ("scala", "c-0 c-1 c-2 c-3 c-4 c-5", "c-1 c-0 c-3 c-2 c-5 c-4"),
    ("scala", "BB Aa", "BB Aa"),
]
"""What scala.collection.mutable.HashMap of 2.12.7 and of 2.13.5 says of keys put into it in an order."""


@pytest.mark.parametrize(("kind", "put", "found"), SCALA)
def test_members_come_in_the_order_of_scalas_own_maps(kind, put, found):
    keys = put.split()
    assert map_order(keys, len(keys), kind) == found.split()


VOTES = [
    ("scala 2.12", "range roundrobin sticky", "range sticky roundrobin"),
    ("scala 2.12", "x1 b v0 v4", "b v4 v0 x1"),
    (
        "scala 2.12",
        "range roundrobin sticky cooperative-sticky uniform",
        "cooperative-sticky roundrobin uniform range sticky",
    ),
    ("scala 2.12", "v0 x1 v4 b a", "a v4 b v0 x1"),
    ("scala", "range roundrobin sticky", "roundrobin range sticky"),
    ("scala", "x1 b v0 v4", "v0 x1 v4 b"),
    ("scala", "v0 x1 v4 b a", "a v0 x1 v4 b"),
]
"""What `groupBy` of a list of votes gives in 2.12.7 and in 2.13.5."""


@pytest.mark.parametrize(("kind", "votes", "found"), VOTES)
def test_votes_are_counted_in_the_order_of_scalas_own_maps(kind, votes, found):
    assert vote_order(votes.split(), kind) == found.split()
