"""Reasons of rebalances, by the words of each release."""

from __future__ import annotations

import pytest

from transforms.loglines.broker.reasons import REASONS, ReasonPattern, read_reason


@pytest.mark.parametrize("pattern", REASONS, ids=lambda pattern: pattern.sample)
def test_a_sample_gives_its_trigger_and_names_its_member(pattern: ReasonPattern) -> None:
    reason = read_reason(pattern.sample)
    assert reason.trigger == pattern.trigger
    assert reason.text == pattern.sample.partition("; client reason")[0]
    if "{members}" in pattern.template:
        assert reason.member_ids[0] == "c1-7d1e"
    if "{instance}" in pattern.template:
        assert reason.group_instance_id == "i1"


@pytest.mark.parametrize(
    ("printed", "trigger"),
    [
        (
            "Leader m re-joining group during Stable; client reason: cached metadata has changed",
            "topic_metadata_changed",
        ),
        ("Leader m re-joining group during Stable; client reason: not provided", "leader_rejoined"),
        ("Removing member m on LeaveGroup; client reason: consumer poll timeout has expired.", "poll_timeout"),
        (
            "Adding new member m with group instance id null; client reason: cached metadata has changed",
            "member_joined",
        ),
        ("something new", "unknown"),
        ("", "unknown"),
    ],
)
def test_what_the_client_said_refines_the_trigger(printed: str, trigger: str) -> None:
    assert read_reason(printed).trigger == trigger


def test_the_clients_words_begin_at_the_first_mark() -> None:
    reason = read_reason("Leader m re-joining group during Stable; client reason: a; client reason: b")
    assert reason.client_reason == "a; client reason: b"
    assert reason.member_ids == ("m",)


def test_several_members_come_in_order() -> None:
    assert read_reason("Removing HashSet(b-2, a-1) on pending sync request expiration").member_ids == ("b-2", "a-1")
    assert read_reason("Removing [b-2, a-1] on pending sync request expiration").member_ids == ("b-2", "a-1")
    assert read_reason("explicit `LeaveGroup` request for (b-2, a-1) members.").member_ids == ("b-2", "a-1")


def test_a_dynamic_member_has_no_instance() -> None:
    for printed in ("None", "null"):
        assert read_reason(f"Adding new member m with group instance id {printed}").group_instance_id is None
