"""Simulated clients hand each other what Kafka's assignors need to know."""

from __future__ import annotations

import pytest

from transforms.whatif.sharing import Offer, assignments, offer_bytes, read_assignment

COUNTS = {"orders": 4, "clicks": 2}
TOPICS = ("orders", "clicks")
OWNED = {"a": (("clicks", 0), ("orders", 3), ("orders", 1)), "b": (("clicks", 1), ("orders", 0), ("orders", 2))}


def shared(strategy: str, owned: dict[str, tuple[tuple[str, int], ...]]) -> dict[str, set[tuple[str, int]]] | None:
    offers = {
        member_id: offer_bytes(Offer(TOPICS, None, places, generation=7 if places else None))
        for member_id, places in owned.items()
    }
    given = assignments(offers, strategy, COUNTS)
    return None if given is None else {member_id: set(read_assignment(raw)) for member_id, raw in given.items()}


@pytest.mark.parametrize("strategy", ["sticky", "cooperative-sticky"])
def test_sticky_members_keep_what_they_had(strategy: str) -> None:
    assert shared(strategy, OWNED) == {member_id: set(places) for member_id, places in OWNED.items()}


def test_members_of_an_eager_assignor_keep_nothing_by_right() -> None:
    assert shared("range", OWNED) == {
        "a": {("orders", 0), ("orders", 1), ("clicks", 0)},
        "b": {("orders", 2), ("orders", 3), ("clicks", 1)},
    }


def test_what_another_one_still_holds_is_withheld_for_a_rebalance() -> None:
    everything = tuple((topic, partition) for topic, count in COUNTS.items() for partition in range(count))
    given = shared("cooperative-sticky", {"a": everything, "b": ()})
    assert given is not None
    assert len(given["a"]) == 3
    assert given["b"] == set()


def test_an_assignor_that_is_not_kafkas_gives_no_answer() -> None:
    assert shared("fair", OWNED) is None
