from __future__ import annotations

import struct

import pytest

from transforms.coordinator.assignors.memory import Memory, cooperative_memory, sticky_memory
from transforms.coordinator.assignors.sticky import assign_cooperative, assign_sticky
from transforms.coordinator.assignors.subscriptions import MemberSubscription as Member
from transforms.coordinator.assignors.subscriptions import NoAssignment, NotPredicted, of_wire
from transforms.wire.consumer_protocol import read_subscription

T = ("t",)


def partitions(*numbers: int) -> tuple[tuple[str, int], ...]:
    return tuple(("t", number) for number in numbers)


def remembering(*numbers: int, generation: int | None = 5, topics: tuple[str, ...] = T) -> Member:
    """A member of a sticky group, its past in the user data as StickyAssignor writes it."""
    raw = struct.pack(">ih1s", 1, 1, b"t") + struct.pack(f">i{len(numbers)}i", len(numbers), *numbers)
    return Member(topics, user_data=raw + (b"" if generation is None else struct.pack(">i", generation)))


def owning(*numbers: int, generation: int | None = 5, topics: tuple[str, ...] = T) -> Member:
    return Member(topics, owned=partitions(*numbers), generation=generation)


def test_without_a_past_partitions_go_round() -> None:
    members = {"b": Member(("t", "u")), "a": Member(("t", "u"))}
    assert assign_sticky(members, {"t": 3, "u": 2}) == {
        "a": [("t", 0), ("t", 2), ("u", 1)],
        "b": [("t", 1), ("u", 0)],
    }


def test_members_keep_what_they_had_when_one_leaves() -> None:
    members = {"a": remembering(0, 3), "c": remembering(2, 5)}
    assert assign_sticky(members, {"t": 6}) == {"a": [*partitions(0, 3, 1)], "c": [*partitions(2, 5, 4)]}


def test_a_new_member_takes_the_highest_partition_numbers_only() -> None:
    members = {"a": remembering(4, 0, 2), "b": remembering(5, 3, 1), "c": Member(T)}
    assert assign_sticky(members, {"t": 6}) == {
        "a": [*partitions(0, 2)],
        "b": [*partitions(1, 3)],
        "c": [*partitions(4, 5)],
    }


def test_before_3_7_1_a_member_kept_what_it_named_first() -> None:
    members = {"a": remembering(3, 2, 1, 0), "b": Member(T)}
    assert assign_sticky(members, {"t": 4}, is_before_3_7_1=True)["a"] == [*partitions(3, 2)]
    assert assign_sticky(members, {"t": 4})["a"] == [*partitions(0, 1)]


def test_of_two_claims_to_a_partition_the_newer_generation_wins() -> None:
    members = {"a": owning(0, 1, generation=4), "b": owning(0, 1, generation=5)}
    assert assign_cooperative(members, {"t": 4}) == {"a": [*partitions(2, 3)], "b": [*partitions(0, 1)]}


def test_what_two_members_of_one_generation_claim_is_withheld_from_both() -> None:
    members = {"a": owning(0, 1), "b": owning(1, 2)}
    assert assign_cooperative(members, {"t": 4}) == {"a": [("t", 0)], "b": [("t", 2), ("t", 3)]}


def test_an_eager_group_has_given_everything_up_and_so_withholds_nothing() -> None:
    members = {"a": remembering(0, 1), "b": Member(T)}
    assert assign_sticky(members, {"t": 2}) == {"a": [("t", 0)], "b": [("t", 1)]}


def test_cooperation_withholds_for_a_rebalance_what_another_member_must_give_up() -> None:
    first = {"a": owning(0, 1, 2), "b": Member(T)}
    given = assign_cooperative(first, {"t": 4})
    assert given == {"a": [*partitions(0, 1)], "b": [("t", 3)]}
    second = {"a": owning(0, 1, generation=6), "b": owning(3, generation=6)}
    assert assign_cooperative(second, {"t": 4}) == {"a": [*partitions(0, 1)], "b": [*partitions(3, 2)]}


def test_cooperation_withholds_where_subscriptions_differ_too() -> None:
    members = {"a": owning(0, 1, 2, 3), "b": Member(("t", "u"))}
    given = assign_cooperative(members, {"t": 4, "u": 1})
    assert given == {"a": [*partitions(1, 2, 3)], "b": [("u", 0)]}


def test_members_keep_their_own_where_subscriptions_differ() -> None:
    members = {"a": remembering(0, 2), "b": remembering(1, topics=("t", "u"))}
    assert assign_sticky(members, {"t": 3, "u": 1}) == {"a": [*partitions(0, 2)], "b": [("t", 1), ("u", 0)]}


def test_a_member_gives_up_a_topic_that_it_no_longer_wants() -> None:
    members = {"a": remembering(0, 1, topics=("u",)), "b": Member(T)}
    assert assign_sticky(members, {"t": 2, "u": 1}) == {"a": [("u", 0)], "b": [*partitions(0, 1)]}


def test_partitions_that_are_gone_give_no_made_up_assignment() -> None:
    with pytest.raises(NotPredicted):
        assign_sticky({"a": remembering(7), "b": Member(("t", "u"))}, {"t": 2, "u": 1})
    with pytest.raises(NoAssignment):  # Kafka: "No more unfilled consumers to be assigned."
        assign_sticky({"a": remembering(5, 6, 7), "b": remembering(8, 9)}, {"t": 4})


@pytest.mark.parametrize(
    ("user_data", "memory"),
    [
        (remembering(1, 2, generation=5).user_data, Memory(partitions(1, 2), 5)),
        (remembering(1, 2, generation=None).user_data, Memory(partitions(1, 2))),
        (None, Memory()),
        (b"", Memory()),
        (b"\0\0\0\1\0\1", Memory((), -1)),
    ],
    ids=["version 1", "version 0", "none", "empty", "cut short"],
)
def test_user_data_of_sticky(user_data: bytes | None, memory: Memory) -> None:
    assert sticky_memory(Member(T, user_data=user_data)) == memory


@pytest.mark.parametrize(
    ("generation", "user_data", "expected"),
    [(9, b"\0\0\0\7", 9), (None, b"\0\0\0\7", 7), (None, None, None), (None, b"\0", -1)],
)
def test_cooperative_generation_is_in_the_subscription_or_else_in_the_user_data(
    generation: int | None, user_data: bytes | None, expected: int | None
) -> None:
    member = Member(T, owned=partitions(0), generation=generation, user_data=user_data)
    assert cooperative_memory(member) == Memory(partitions(0), expected)


def test_subscription_bytes_of_version_3_become_a_member() -> None:
    raw = struct.pack(">hih1s", 3, 1, 1, b"t") + struct.pack(">i", -1)
    raw += struct.pack(">ih1sii", 1, 1, b"t", 1, 4) + struct.pack(">ih2s", 6, 2, b"r1")
    assert of_wire(read_subscription(raw), "host-1") == Member(T, "host-1", partitions(4), 6, None, "r1")
    assert of_wire(read_subscription(raw[:11]), None) == Member(T)


def test_a_balancing_on_which_kafka_never_comes_to_an_end_ends_here() -> None:
    orders = "3 0 19 14 13 33 36 32 15 24 29 2 25 4 35 26 28 31 34 20 37 10 6 11 1 18 23 30 12 16 9 7 22 17 8 5 21"
    late = {"clicks.v2": (2,), "invoices": (14, 23, 21, 18, 10), "orders": (16, 20, 15)}
    members = {
        "consumer-billing-0-acb9f6526693aee30": Member(("a", "clicks.v2"), generation=6),
        "rdkafka-4702d2c461774b871": Member(
            ("orders",), owned=tuple(("orders", int(number)) for number in orders.split()), generation=7
        ),
        "84609413ef558633-é2": Member(
            ("a", "orders"),
            owned=tuple((topic, number) for topic, numbers in late.items() for number in numbers),
            generation=6,
        ),
        "0ef7a5da2d46844b-é3": Member(("clicks.v2", "orders"), generation=7),
        "m44": Member(
            ("a", "clicks.v2", "invoices", "orders"),
            owned=(("invoices", 11), ("invoices", 15), ("invoices", 17)),
            generation=6,
        ),
        "rdkafka-1cbba0892f784d735": Member(("invoices",), generation=7),
    }
    with pytest.raises(NotPredicted, match="circles"):
        assign_cooperative(members, {"invoices": 24, "orders": 38, "a": 4, "clicks.v2": 23})
