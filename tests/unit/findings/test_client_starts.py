"""Lines of clients to the joins by which a process that was started again began anew."""

from __future__ import annotations

from typing import Any

import pytest

from transforms.findings.client_refusals import ClientLine
from transforms.findings.client_starts import fresh_starts

DEFAULTS: dict[str, Any] = {"client_id": "a", "group_id": "g", "client_software": "java", "logged_at": 1000}
FIRST = {"event": "synced", "member_id": "a-1"}
OTHER = {"event": "joined", "member_id": "a-2", "logged_at": 9000}


def members(*lines: dict[str, Any]) -> list[str | None]:
    """The member ids of those that began anew."""
    found = fresh_starts(ClientLine(line_number=number, **{**DEFAULTS, **line}) for number, line in enumerate(lines, 1))
    assert all((one.api, one.error) == ("JoinGroup", "NONE") for one in found)
    return [one.member_id for one in found]


def test_a_log_that_goes_from_one_member_id_to_another_without_a_word_is_of_another_process() -> None:
    asked = {"event": "rejoin_requested", "member_id": "a-2"}
    assert members(FIRST, {"event": "coordinator_discovered"}, {"event": "joining"}, asked, OTHER) == ["a-2"]


def test_a_process_is_told_of_once_for_each_start() -> None:
    assert members(FIRST, OTHER, {**OTHER, "event": "synced"}, {"event": "synced", "member_id": "a-3"}) == [
        "a-2",
        "a-3",
    ]


@pytest.mark.parametrize(
    "line",
    [
        {"event": "generation_reset"},
        {"event": "heartbeat_failed", "error": "UNKNOWN_MEMBER_ID"},
        {"event": "poll_timeout"},
        {"event": "leaving"},
        {"event": "unrecognised"},
        {"event": "joining", "error": "UNKNOWN_MEMBER_ID"},
    ],
)
def test_who_says_why_it_is_no_member_any_more_lived_on(line: dict[str, Any]) -> None:
    assert members(FIRST, line, OTHER) == []


def test_what_was_said_before_the_last_rebalance_explains_nothing_later() -> None:
    assert members(FIRST, {"event": "revoked"}, FIRST, OTHER) == ["a-2"]


@pytest.mark.parametrize(
    "other", [{"client_software": "librdkafka"}, {"client_id": None}, {"group_id": None}, {"member_id": "a-1"}]
)
def test_lines_of_other_libraries_or_without_names_tell_of_no_start(other: dict[str, Any]) -> None:
    assert members(FIRST, {**OTHER, **other}) == []


def test_the_first_member_id_of_a_log_is_no_new_one() -> None:
    assert members(OTHER) == []


def test_each_client_of_a_log_has_its_own_member_id() -> None:
    assert members(FIRST, {**OTHER, "client_id": "b"}) == []
