"""Lines of clients to the joins by which they came back: told that they were out, or started again."""

from __future__ import annotations

from typing import Any

import pytest

from transforms.findings.client_refusals import ClientLine
from transforms.findings.client_starts import STARTED, TOLD, returns

DEFAULTS: dict[str, Any] = {"client_id": "a", "group_id": "g", "client_software": "java", "logged_at": 1000}
FIRST = {"event": "synced", "member_id": "a-1"}
OTHER = {"event": "joined", "member_id": "a-2", "logged_at": 9000}
REFUSED = {"event": "heartbeat_failed", "error": "UNKNOWN_MEMBER_ID"}

UUIDS = [f"{number:08d}-aaaa-bbbb-cccc-0123456789ab" for number in range(4)]


def told(*lines: dict[str, Any]) -> list[tuple[str | None, str | None]]:
    """The member ids of those that came back, and what for."""
    found = returns(ClientLine(line_number=number, **{**DEFAULTS, **line}) for number, line in enumerate(lines, 1))
    assert all((one.api, one.error) == ("JoinGroup", "NONE") for one in found)
    return [(one.member_id, one.reason) for one in found]


def python(event: str, number: int | None = None, name: str = "w", **more: Any) -> dict[str, Any]:
    """A line of a library that does not name its client."""
    member_id = None if number is None else f"{name}-{UUIDS[number]}"
    return {"client_software": "aiokafka", "client_id": None, "event": event, "member_id": member_id, **more}


def test_a_log_that_goes_from_one_member_id_to_another_without_a_word_is_of_another_process() -> None:
    asked = {"event": "rejoin_requested", "member_id": "a-2"}
    assert told(FIRST, {"event": "coordinator_discovered"}, {"event": "joining"}, asked, OTHER) == [("a-2", STARTED)]


def test_a_process_is_told_of_once_for_each_start() -> None:
    third = {"event": "synced", "member_id": "a-3"}
    assert told(FIRST, OTHER, {**OTHER, "event": "synced"}, third) == [("a-2", STARTED), ("a-3", STARTED)]


def test_who_is_told_that_nobody_knows_it_lived_on() -> None:
    assert told(FIRST, REFUSED, {"event": "generation_reset"}, OTHER) == [("a-2", TOLD)]


@pytest.mark.parametrize("event", ["generation_reset", "poll_timeout", "leaving", "unrecognised", "lost"])
def test_who_says_something_else_is_neither(event: str) -> None:
    assert told(FIRST, {"event": event}, OTHER) == []


def test_what_was_said_before_the_last_rebalance_explains_nothing_later() -> None:
    assert told(FIRST, REFUSED, FIRST, OTHER) == [("a-2", STARTED)]


@pytest.mark.parametrize(
    "other", [{"client_software": "sarama"}, {"client_id": None}, {"group_id": None}, {"member_id": "a-1"}]
)
def test_lines_of_libraries_that_tell_less_or_without_names_tell_of_no_return(other: dict[str, Any]) -> None:
    assert told(FIRST, {**OTHER, **other}) == []


def test_the_first_member_id_of_a_log_is_no_new_one() -> None:
    assert told(OTHER) == []


def test_each_client_of_a_log_has_its_own_member_id_and_its_own_word() -> None:
    assert told(FIRST, {**OTHER, "client_id": "b"}) == []
    refused_other = {**REFUSED, "client_id": "b"}
    assert told(FIRST, {**FIRST, "client_id": "b", "member_id": "b-1"}, refused_other, OTHER) == [("a-2", STARTED)]


def test_a_client_that_no_line_names_is_known_by_what_its_member_ids_begin_with() -> None:
    refused = python("heartbeat_failed", error="UNKNOWN_MEMBER_ID", group_id=None)
    first, other = f"w-{UUIDS[1]}", f"w-{UUIDS[2]}"
    lines = [python("joined", 0), python("revoked"), python("joined", 1), refused, python("joined", 2)]
    assert told(*lines) == [(first, STARTED), (other, TOLD)]


def test_consumers_of_a_process_that_go_under_one_name_are_not_taken_for_each_other() -> None:
    by_turns = [python("joined", number) for number in (0, 1, 0, 1)]
    assert told(*by_turns) == []
