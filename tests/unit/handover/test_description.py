"""A group as it was at a moment: what the document holds, and how it reads."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.findings.golden import complete
from transforms.findings.description.document import document
from transforms.findings.description.lines import lines

FOREIGN = st.text(st.characters(), min_size=1, max_size=12)

STATE = {
    "life": 2,
    "state": "Stable",
    "generation": 7,
    "protocol_type": "consumer",
    "protocol": "range",
    "leader_member_id": "m-1",
    "since": 1000.0,
    "group_type": "classic",
}


def member(name: str, *partitions: str) -> dict[str, Any]:
    given = {"member_id": name, "client_id": f"c-{name}", "client_host": "/10.0.0.1", "group_instance_id": None}
    return {**given, "joined_at": 500.0, "partitions": list(partitions)}


def rebalance(**more: Any) -> dict[str, Any]:
    row = complete(
        "generations", {"life": 2, "generation": 7, "trigger": "session_expired", "rebalance_ms": 1500, **more}
    )
    return {**row, "began_at": 900.0}


def text_of(told: dict[str, Any]) -> str:
    return "\n".join(f"{label}: {text}" for label, text in lines(told))


def test_the_document_says_who_owned_what_and_who_led() -> None:
    members = [member("m-1", "a-b-0", "a-b-1", "a-b-2", "a-b-9", "c-3"), member("m-2")]
    told = document("demo", "shop", 61_000.0, STATE, members, rebalance(), [], [])
    assert [each["is_leader"] for each in told["members"]] == [True, False]
    assert told["members"][0]["partitions"] == [
        {"topic": "a-b", "partitions": [0, 1, 2, 9]},
        {"topic": "c", "partitions": [3]},
    ]
    text = text_of(told)
    assert "owns a-b 0-2, 9; c 3" in text
    assert "owns nothing" in text
    assert "m-1 (leader)" in text
    assert "Stable, since 1970-01-01 00:00:01.000, for 60.0 s" in text


def test_it_says_why_the_group_last_rebalanced() -> None:
    row = rebalance(
        trigger_member_id="m-0",
        trigger_client_id="c-0",
        trigger_client_host="/10.0.0.9",
        reason="removing member",
        client_reason="the consumer is being closed",
    )
    text = text_of(document("demo", "shop", None, STATE, [], row, [], []))
    assert "1970-01-01 00:00:00.900, to generation 7 of life 2, took 1.5 s" in text
    assert "because of session_expired" in text
    assert "by m-0, client c-0 at /10.0.0.9" in text
    assert "reason: removing member" in text
    assert "the client's reason: the consumer is being closed" in text


def test_of_a_rebalance_under_way_it_does_not_say_how_it_came_out() -> None:
    row = rebalance(outcome="stable")
    under_way = document("demo", "shop", 2000.0, STATE, [], row, [], [])["last_rebalance"]
    through = document("demo", "shop", 2400.0, STATE, [], row, [], [])["last_rebalance"]
    assert (under_way["outcome"], under_way["rebalance_ms"]) == (None, None)
    assert (through["outcome"], through["rebalance_ms"]) == ("stable", 1500)


def test_findings_that_cover_the_moment_are_told_with_their_culprit_and_advice() -> None:
    storm = complete(
        "rebalance_storms", {"started_at": 0.0, "ended_at": 9000.0, "is_open": False, "rebalance_count": 9}
    )
    storm |= {"severity": "critical", "pattern": "crash_loop", "main_client_id": "c-0", "advice": "mend c-0"}
    burst = complete("illegal_generation_bursts", {"started_at": 0.0, "error": "UNKNOWN_MEMBER_ID", "is_open": True})
    burst |= {"error_count": 30, "suspected_cause": "zombie", "client_ids": ["c-1"], "advice": "stop c-1"}
    told = document("demo", "shop", 5.0, STATE, [], None, [storm], [burst])
    assert [finding["finding_kind"] for finding in told["findings"]] == ["rebalance_storm", "illegal_generation_burst"]
    text = text_of(told)
    for said in (
        "crash_loop",
        "9 rebalances",
        "culprit c-0 at not known",
        "mend c-0",
        "30 times",
        "zombie",
        "stop c-1",
    ):
        assert said in text


@given(FOREIGN, FOREIGN, FOREIGN)
def test_whatever_others_call_things_the_terminal_shows_it_and_json_keeps_it(group: str, client: str, why: str) -> None:
    row = rebalance(trigger_client_id=client, reason=why, client_reason=why)
    there = {**member(client), "group_instance_id": why, "client_host": group, "partitions": [f"{client}-0"]}
    storm = complete("rebalance_storms", {"started_at": 0.0, "ended_at": 1.0, "is_open": True, "rebalance_count": 2})
    storm |= {"severity": "info", "pattern": "mixed", "main_client_id": client, "advice": why}
    told = document(client, group, 0.0, {**STATE, "protocol": why}, [there], row, [storm], [])
    assert all(text.isprintable() for _, text in lines(told))
    kept = json.dumps(told)
    assert kept.isascii()
    assert kept.isprintable()
    assert json.loads(kept)["members"][0]["partitions"][0]["topic"] == client


def test_a_group_that_has_but_offsets_is_told_as_such() -> None:
    told = document("demo", "shop", 0.0, {"state": "Empty", "group_type": None}, [], None, [], [])
    assert (told["state"], told["members"], told["life"]) == ("Empty", [], None)
    assert "never seen with members" in text_of(told)
