"""A group with epochs is not foretold, and whoever asks is told what is known of it and what cannot be asked."""

from __future__ import annotations

import pytest

from transforms.whatif.change import Change, change_of
from transforms.whatif.epochs import not_to_be_asked

STATIC = change_of([], is_static=True)


def told(change: Change, epochs: dict[str, int]) -> str:
    return str(not_to_be_asked("orders", "prod", change, epochs))


def test_of_a_group_that_was_never_seen_nothing_is_known() -> None:
    assert told(STATIC, {}) == "nothing is known of group orders in cluster prod at that time"


def test_a_group_with_epochs_is_known_but_not_foretold() -> None:
    said = told(STATIC, {"consumer": 12})
    assert "nothing is known" not in said
    assert said.startswith("group orders in cluster prod is a consumer group: 12 epochs of it are known")
    assert "classic groups only" in said and "describe_group" in said
    assert "1 epoch of it is known" in told(STATIC, {"share": 1})


def test_a_group_that_spoke_several_protocols_is_called_by_all_of_them() -> None:
    assert "is a consumer and streams group: 5 epochs" in told(STATIC, {"streams": 2, "consumer": 3})


@pytest.mark.parametrize(("group_type", "is_spoken"), [("consumer", True), ("share", False), ("streams", False)])
def test_who_speaks_the_protocol_already_is_told_so(group_type: str, is_spoken: bool) -> None:
    said = told(change_of(["group.protocol=consumer"]), {group_type: 2})
    assert ("speaks group.protocol=consumer already" in said) == is_spoken
    assert "\n" not in said
