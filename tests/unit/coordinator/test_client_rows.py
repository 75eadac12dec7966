"""What clients said of themselves, beside what their coordinator did."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from schemas.catalog import BY_NAME
from schemas.rows import ClientEventRow, GenerationRow, MemberSessionRow
from tests.unit.coordinator.evidence_rows import GROUP, A, B, Row, line, prepare, round_of
from transforms.coordinator.replay import replay_group
from transforms.coordinator.rows.clients import slow_pollers, slow_stays, take_clients
from transforms.coordinator.rows.tables import Rows

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


# --- consumers of the new protocol, which come back by the same member id ---------------------------------------------


def state(number: int, client_state: str, epoch: int) -> ClientEventRow:
    event = said(number, "state_changed", member_id="m", client_state=client_state, generation=epoch)
    return msgspec.convert(event, ClientEventRow)


def epoch_of(number: int, trigger: str, **fields: Any) -> GenerationRow:
    return GenerationRow(
        cluster="c",
        group_id=GROUP,
        life=1,
        generation=number,
        group_type="consumer",
        trigger=trigger,
        trigger_member_id="m",
        evidence=["offsets", "broker_log"],
        is_inferred=False,
        missing_before=0,
        **fields,
    )


def stay(number: int, first: int, last: int, end_cause: str) -> MemberSessionRow:
    return MemberSessionRow(
        cluster="c",
        group_id=GROUP,
        life=1,
        member_id="m",
        stay=number,
        group_type="consumer",
        end_cause=end_cause,
        first_generation=first,
        last_generation=last,
    )


def two_stays(end_cause: str = "left") -> Rows:
    """A member that was there in epochs 1 and 2, and again in 4."""
    epochs = [
        epoch_of(1, "member_joined", stable_at=1.0),
        epoch_of(2, "subscription_changed", completing_at=2.0),
        epoch_of(3, "member_left", outcome="empty"),
        epoch_of(4, "member_joined"),
        epoch_of(5, "member_left", outcome="empty"),
    ]
    return Rows(generations=epochs, member_sessions=[stay(1, 1, 2, end_cause), stay(2, 4, 4, "left")])


TIMED_OUT = [
    state(1, "STABLE", 1),
    state(2, "PREPARE_LEAVING", 2),
    state(3, "LEAVING", -1),
    state(4, "STALE", -1),
    state(5, "JOINING", 0),
    state(6, "STABLE", 4),
    state(7, "PREPARE_LEAVING", 4),
    state(8, "LEAVING", -1),
    state(9, "UNSUBSCRIBED", -1),
]


def test_only_the_stay_whose_member_went_stale_ended_by_a_poll_timeout():
    assert slow_stays(TIMED_OUT) == {("m", 2)}
    rows = two_stays()
    refined = take_clients(rows, "c", TIMED_OUT)
    assert [row.end_cause for row in rows.member_sessions] == ["poll_timeout", "left"]
    assert [row.trigger for row in rows.generations][2:] == ["poll_timeout", "member_joined", "member_left"]
    assert rows.generations[2].client_reason == POLL_TIMEOUT
    assert rows.generations[2].evidence == ["offsets", "broker_log", "client_log"]
    assert refined.member_sessions == rows.member_sessions[:1]
    again = take_clients(rows, "c", TIMED_OUT)
    assert (again.generations, again.member_sessions) == ([], [])


def test_a_session_that_the_coordinator_saw_expire_did_not_end_by_a_leave_that_never_came():
    rows = two_stays(end_cause="session_expired")
    take_clients(rows, "c", TIMED_OUT)
    assert rows.member_sessions[0].end_cause == "session_expired"
    assert rows.generations[2].trigger == "member_left"


def test_details_of_debugging_take_no_other_stay_along():
    leaving = said(2, "leaving", member_id="m", generation=-1)
    lines = [state(1, "STALE", -1), msgspec.convert(said(0, "poll_timeout"), ClientEventRow)]
    assert slow_pollers([lines[1], lines[0], msgspec.convert(leaving, ClientEventRow)]) == set()


def test_a_line_stands_beside_the_stay_and_the_state_of_the_epoch_that_it_names():
    rows = two_stays(end_cause="session_expired")
    take_clients(rows, "c", TIMED_OUT)
    told = [(row.generation, row.life, row.broker_state, row.end_cause) for row in rows.client_timeline]
    assert told[0] == (1, 1, "Stable", "session_expired")
    assert told[1] == (2, 1, "Reconciling", "session_expired")
    assert told[5] == (4, 1, "Assigning", "left")
    assert told[3] == (None, 1, None, None), "which stay a line without an epoch is of is not known"
