"""What clients say of themselves, and what it makes of a trigger."""

from __future__ import annotations

import pytest

from schemas.client_reasons import METADATA_CHANGED, POLL_TIMEOUT, REFINED, is_poll_timeout, refined, said
from schemas.words import TRIGGERS


@pytest.mark.parametrize("dot", ["", "."])
@pytest.mark.parametrize(
    ("trigger", "reason", "better"),
    [
        ("leader_rejoined", METADATA_CHANGED, "topic_metadata_changed"),
        ("member_left", POLL_TIMEOUT, "poll_timeout"),
        ("member_joined", METADATA_CHANGED, "member_joined"),
        ("leader_rejoined", POLL_TIMEOUT, "leader_rejoined"),
        ("member_left", "the consumer is being closed", "member_left"),
    ],
)
def test_a_reason_refines_a_trigger_with_its_final_dot_or_without(
    trigger: str, reason: str, better: str, dot: str
) -> None:
    assert refined(trigger, reason.rstrip(".") + dot) == better


def test_no_reason_changes_nothing() -> None:
    assert [refined(trigger, None) for trigger in TRIGGERS] == list(TRIGGERS)
    assert [refined(trigger, "") for trigger in TRIGGERS] == list(TRIGGERS)


def test_all_triggers_are_of_the_vocabulary() -> None:
    assert {trigger for key, better in REFINED.items() for trigger in (key[0], better)} <= set(TRIGGERS)


def test_a_slow_poller_is_known_by_its_reason() -> None:
    assert is_poll_timeout("consumer poll timeout has expired.")
    assert is_poll_timeout("consumer poll timeout has expired")
    assert not is_poll_timeout("the consumer is being closed")
    assert not is_poll_timeout(None)


def test_a_reason_that_was_not_given_is_none() -> None:
    assert said("not provided") is None
    assert said("") == ""
    assert said(POLL_TIMEOUT) == POLL_TIMEOUT
