"""What clients said of themselves, beside what their coordinator did."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schemas.catalog import BY_NAME
from schemas.rows import ClientEventRow
from tests.unit.coordinator.evidence_rows import GROUP, A, B, Row, line, prepare, round_of
from transforms.coordinator.replay import replay_group
from transforms.coordinator.rows.clients import slow_pollers

POLL_TIMEOUT = "consumer poll timeout has expired."


def said(number: int, event: str, file: str = "app.log", client: str = "app", **fields: Any) -> Row:
    row = dict.fromkeys(BY_NAME["client_events"].columns)
    place = {"source_file": file, "line_number": number, "group_id": GROUP, "client_id": client}
    return {**row, **place, "logged_at": 0, "event": event, **fields}


def replayed(rounds: list[tuple[list[Row], list[Row]]], *client_events: Row) -> dict[str, list[Row]]:
    lines = [row for each in rounds for row in each[0]]
    records = [row for each in rounds for row in each[1]]
    return replay_group("c", GROUP, records, lines, [], 50, (), client_events)


def leave(at: int, old: int, member: str, client_reason: str | None = None) -> tuple[list[Row], list[Row]]:
    row = prepare(at, old)
    reason = {"reason": f"removing member {member} on LeaveGroup", "client_reason": client_reason}
    return [{**row, "member_id": member, "attributes": {"trigger": "member_left"}, **reason}], []


TWO_LIVES = [
    round_of(1_000, 1, "1", A, stored=0),
    ([line(3_000, "group_deleted")], []),
    round_of(5_000, 1, "1", B, stored=1),
]


@pytest.mark.parametrize(
    ("named", "life"),
    [
        ({"generation": 1, "member_id": "a"}, 1),
        ({"generation": 1, "member_id": "b"}, 2),
        ({"member_id": "b"}, 2),
        ({"generation": 1}, None),
        ({"generation": 9, "member_id": "b"}, None),
        ({"generation": -1, "member_id": ""}, None),
        ({}, None),
    ],
)
def test_a_line_belongs_to_the_life_of_what_it_names_whatever_its_clock_says(named, life):
    (row,) = replayed(TWO_LIVES, said(1, "joined", **named))["client_timeline"]
    assert row["life"] == life
    assert row["broker_state"] == ("Stable" if life and "generation" in named else None)


def test_only_generations_that_a_member_names_have_the_client_as_a_witness():
    tables = replayed(
        [round_of(1_000, 1, "1", A, stored=0), round_of(5_000, 2, "1", A, B, stored=1)],
        said(1, "synced", generation=2, member_id="b"),
        said(2, "heartbeat_failed", generation=1, member_id="b"),  # it was no member then
        said(3, "revoked", member_id="a"),
    )
    evidence = {row["generation"]: row["evidence"] for row in tables["generations"]}
    assert evidence == {1: ["offsets", "broker_log"], 2: ["offsets", "broker_log", "client_log"]}


def test_a_leave_without_a_reason_is_a_poll_timeout_where_the_clients_log_says_so():
    rounds = [round_of(1_000, 1, "1", A, B, stored=0), leave(5_000, 1, "b"), round_of(5_000, 2, "1", A, stored=1)]
    before = replayed(rounds)
    after = replayed(rounds, said(1, "poll_timeout"), said(2, "leaving", member_id="b"))
    assert [row["trigger"] for row in before["generations"]] == ["member_joined", "member_left"]
    assert [row["trigger"] for row in after["generations"]] == ["member_joined", "poll_timeout"]
    assert after["generations"][1]["client_reason"] == POLL_TIMEOUT
    assert "client_log" in after["generations"][1]["evidence"]
    assert {row["member_id"]: row["end_cause"] for row in after["member_sessions"]} == {"a": None, "b": "poll_timeout"}
    assert [row["end_cause"] for row in after["client_timeline"]] == [None, "poll_timeout"]


def test_the_reason_that_the_coordinator_was_given_stands():
    rounds = [
        round_of(1_000, 1, "1", A, B, stored=0),
        leave(5_000, 1, "b", "the consumer is being closed"),
        round_of(5_000, 2, "1", A, stored=1),
    ]
    tables = replayed(rounds, said(1, "leaving", member_id="b", reason=POLL_TIMEOUT))
    assert tables["generations"][1]["trigger"] == "member_left"


@pytest.mark.parametrize(
    ("events", "members"),
    [
        ([said(1, "leaving", member_id="m", reason=POLL_TIMEOUT)], {"m"}),
        ([said(1, "leaving", member_id="m", reason="the consumer is being closed")], set()),
        ([said(1, "poll_timeout"), said(2, "leaving", member_id="m")], {"m"}),
        ([said(1, "poll_timeout"), said(2, "joined"), said(3, "leaving", member_id="m")], set()),
        ([said(1, "poll_timeout"), said(2, "leaving", client="other", member_id="m")], set()),
        ([said(1, "poll_timeout", file="a"), said(2, "leaving", file="b", member_id="m")], set()),
        ([said(1, "poll_timeout")], set()),
    ],
)
def test_who_left_for_polling_too_rarely(events, members):
    assert slow_pollers([msgspec.convert(event, ClientEventRow) for event in events]) == members


def test_a_group_that_only_its_clients_tell_of_has_their_words_and_no_generation():
    tables = replay_group("c", GROUP, [], [], [], 50, (), [said(1, "joined", generation=1, member_id="a")])
    assert [(row["generation"], row["life"], row["cluster"]) for row in tables["client_timeline"]] == [(1, None, "c")]
    assert not tables["generations"]
