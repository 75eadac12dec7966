"""Reasons of rebalances, by the words of each release."""

from __future__ import annotations

import pytest

from transforms.loglines.broker.reasons import REASONS, Reason, read_reason
from transforms.loglines.templates.matching import Template


@pytest.mark.parametrize("said", ["", "; client reason: not provided", "; client reason: need to re-join"])
@pytest.mark.parametrize("template", REASONS, ids=lambda template: template.text)
def test_a_sample_gives_its_trigger_and_names_its_member(template: Template[Reason], said: str) -> None:
    (sample,) = template.samples
    reason = read_reason(sample + said)
    assert reason.trigger == template.meaning
    assert reason.text == sample
    assert reason.client_reason == ("need to re-join" if "need" in said else None)
    if "{member" in template.text:
        assert reason.member_ids[0] == "c1-7d1e"
    if "{instance}" in template.text:
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


def test_up_to_2_8_an_administrators_leave_names_nobody() -> None:
    reason = read_reason("removing member  on LeaveGroup")  # two blanks, as 2.4.1 and 2.8.2 print it
    assert (reason.trigger, reason.member_ids) == ("member_left", ())
