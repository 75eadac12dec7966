"""What members remember of their last assignment as they join, from the bytes that clients send."""

from __future__ import annotations

import struct

import pytest

from tests.support.incidents.sharing import cooperative_user_data, subscription
from transforms.coordinator.assignors.memory import remembered_generation

NONE = -1
HAD = (("orders", 0), ("orders", 3))


def joins(protocol: str, user_data: bytes | None, generation: int = NONE) -> int | None:
    return remembered_generation(protocol, subscription(("orders",), (), generation, user_data))


@pytest.mark.parametrize("generation", [1, 7, 2**31 - 1])
def test_a_java_consumer_whose_assignor_lived_on_names_the_generation_that_it_was_in(generation: int) -> None:
    said = cooperative_user_data("apache-kafka-java", generation, HAD)
    assert joins("cooperative-sticky", said) == generation


def test_a_new_java_consumer_says_that_it_was_in_none() -> None:
    assert joins("cooperative-sticky", cooperative_user_data("apache-kafka-java", NONE, ())) == NONE


def test_librdkafka_tells_its_generation_and_writes_no_user_data_before_it_has_one() -> None:
    assert joins("cooperative-sticky", cooperative_user_data("librdkafka", 5, HAD)) == 5
    assert joins("cooperative-sticky", cooperative_user_data("librdkafka", NONE, ())) == NONE


def test_an_eager_sticky_assignor_tells_its_generation_but_not_that_it_has_none() -> None:
    assert joins("sticky", cooperative_user_data("librdkafka", 5, HAD)) == 5
    assert joins("sticky", None) is None


def test_the_generation_in_a_subscription_counts_with_any_assignor() -> None:
    assert joins("range", None, 3) == 3
    assert joins("range", None) is None


def test_an_empty_assignment_without_a_generation_says_nothing() -> None:
    assert joins("cooperative-sticky", struct.pack(">i", 0)) is None  # as franz-go 1.22 joins first


@pytest.mark.parametrize("raw", [None, b"", b"\x00", b"\x00\x03\x00\x00\x00\x01\x00"])
def test_what_cannot_be_read_says_nothing(raw: bytes | None) -> None:
    assert remembered_generation("cooperative-sticky", raw) is None
