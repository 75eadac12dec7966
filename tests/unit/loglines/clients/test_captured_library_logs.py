"""Excerpts of real clients' logs: fenced, stale and lost, each on a real broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from transforms.loglines.entries.entries import entries
from transforms.loglines.facts import ClientEvent
from transforms.loglines.parse import parse_entry

LOGS = Path(__file__).resolve().parents[3] / "data" / "loglines" / "clients"
NAMES = sorted(path.name for path in LOGS.iterdir())
LIBRARY_OF = {
    "aiokafka": "aiokafka",
    "franz": "franz-go",
    "java": "java",
    "kafka": "kafka-python",
    "librdkafka": "librdkafka",
    "sarama": "sarama",
    "spring": "java",
}
"""What the name of an excerpt begins with, and the library that printed it."""


def rows_of(name: str) -> list[ClientEvent]:
    with (LOGS / name).open(encoding="utf-8", newline="\n") as lines:
        facts = [fact for entry in entries(lines) for fact in parse_entry(entry.text, entry.logged_at)]
    return [fact for fact in facts if isinstance(fact, ClientEvent)]


def story(name: str) -> list[tuple[str, str | None]]:
    return [(row.event, row.error) for row in rows_of(name)]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_about_the_group_is_left_unrecognised(name: str) -> None:
    rows = rows_of(name)
    assert rows
    assert "unrecognised" not in {row.event for row in rows}
    assert {row.client_software for row in rows} == {LIBRARY_OF[name.rpartition("_")[0].partition("_")[0]]}
    assert all(row.logged_at for row in rows)


def test_a_static_member_of_kafka_python_is_fenced() -> None:
    name = "kafka_python_3.0_fenced.log"
    assert story(name)[-4:] == [
        ("heartbeat_failed", "FENCED_INSTANCE_ID"),
        ("fenced", "FENCED_INSTANCE_ID"),
        ("commit_failed", "FENCED_INSTANCE_ID"),
        ("fenced", "FENCED_INSTANCE_ID"),
    ]
    assert {row.group_instance_id for row in rows_of(name)[-3:]} == {"kp-0"}
    assert [row.generation for row in rows_of(name) if row.event == "joined"] == [2, 2]


def test_a_static_member_of_franz_go_is_fenced() -> None:
    rows = rows_of("franz_go_1.22_fenced.log")
    assert [row.event for row in rows] == [
        "joining", "joined", "synced", "assigned", "heartbeat_failed", "rebalance_failed", "rebalance_failed"
    ]  # fmt: skip
    assert (rows[1].group_instance_id, rows[1].generation, rows[2].partitions) == ("franz-0", 2, ["c-0", "c-1"])
    assert {row.error for row in rows[4:]} == {"FENCED_INSTANCE_ID"}


def test_a_static_member_of_sarama_is_fenced_when_it_joins() -> None:
    rows = rows_of("sarama_1.61_fenced.log")
    assert {row.group_id for row in rows} == {"sarama-fenced", None}
    assert {row.error for row in rows if row.event in ("fenced", "commit_failed")} == {"FENCED_INSTANCE_ID"}
    assert [row.group_instance_id for row in rows if row.api == "JoinGroup"] == ["sarama-0", "sarama-0"]
    assert [row.generation for row in rows if row.event == "revoked"] == [2]


def test_a_session_of_aiokafka_is_lost() -> None:
    told = story("aiokafka_0.14_session_lost.log")
    assert ("session_timeout", None) in told
    assert ("heartbeat_failed", "UNKNOWN_MEMBER_ID") in told
    assert {error for event, error in told if event == "commit_failed"} == {"UNKNOWN_MEMBER_ID", None}
    joined = [row for row in rows_of("aiokafka_0.14_session_lost.log") if row.event == "joined"]
    assert [row.generation for row in joined] == [1, 3]
    assert len({row.member_id for row in joined}) == 2


def test_librdkafka_tells_of_a_zombie_when_asked_to() -> None:
    rows = rows_of("librdkafka_2.16_debug_zombie.log")
    assert {row.client_id for row in rows} == {"price-feed-z"}
    assert {row.group_id for row in rows} == {"price-feed", None}
    assert [row.event for row in rows][:3] == ["session_timeout", "generation_reset", "lost"]
    refused = {(row.event, row.error) for row in rows if row.error is not None}
    assert refused == {("heartbeat_failed", "UNKNOWN_MEMBER_ID"), ("commit_failed", "UNKNOWN_MEMBER_ID")}
    assert [row.generation for row in rows if row.event == "joined"] == [3]
    states = [row.client_state for row in rows if row.event == "state_changed"]
    assert states[0] == "wait-unassign-call" and states[-1] == "steady"


def test_librdkafka_otherwise_tells_of_its_own_clocks_and_its_end() -> None:
    assert story("librdkafka_2.16_fenced.log")[0] == ("fenced", "FENCED_INSTANCE_ID")
    rows = rows_of("librdkafka_1.9_stderr.log")
    assert [row.event for row in rows][:2] == ["session_timeout", "poll_timeout"]
    assert {row.client_id for row in rows} == {"ck19-e0", None}


@pytest.mark.parametrize("name", ["librdkafka_2.16_stale_transactions.log", "java_4.2.0_stale_transactions.log"])
def test_transactions_of_a_generation_gone_by_are_refused(name: str) -> None:
    refused = [row for row in rows_of(name) if row.event == "commit_failed"]
    assert refused
    assert {(row.api, row.error) for row in refused} == {("TxnOffsetCommit", "ILLEGAL_GENERATION")}


def test_spring_logs_what_the_client_threw() -> None:
    rows = rows_of("spring_kafka_3.2_fenced.log")
    assert [(row.event, row.error) for row in rows[:3]] == [
        ("commit_failed", "FENCED_INSTANCE_ID"),
        ("fenced", "FENCED_INSTANCE_ID"),
        ("fenced", "FENCED_INSTANCE_ID"),
    ]
    assert [row.group_id for row in rows[:3]] == ["spring33-fenced", "spring33-fenced", None]
    assert rows[2].reason is not None and rows[2].reason.startswith("The broker rejected this static consumer")


def test_spring_wraps_what_the_client_threw() -> None:
    rows = rows_of("spring_kafka_2.8_poll_timeout.log")
    thrown = [row for row in rows if row.group_id is None]
    assert [row.event for row in thrown] == ["commit_failed"]
    assert thrown[0].reason is not None and thrown[0].reason.startswith("Commit cannot be completed since the group")
    assert [row.error for row in rows if row.event == "commit_failed"][:2] == ["UNKNOWN_MEMBER_ID", "UNKNOWN_MEMBER_ID"]


def test_librdkafka_with_debugging_tells_of_the_consumer_protocol_and_its_details_are_not_unrecognised() -> None:
    rows = rows_of("librdkafka_2.16_epochs_fenced.log")
    assert "unrecognised" not in {row.event for row in rows}
    joining = [row for row in rows if row.event == "joining"]
    assert {(row.member_id, row.api) for row in joining} == {("N4v6zuHsTqqPXWsMmBjM4g", "ConsumerGroupHeartbeat")}
    assert [row.partitions for row in rows if row.event in ("reconciling", "assignment_updated")] == [["orders-2"]] * 2
    assert [row.reason for row in rows if row.event == "fenced"] == ["member fenced - rejoining"]


def test_librdkafka_says_that_its_instance_is_still_used_by_another() -> None:
    rows = rows_of("librdkafka_2.16_epochs_unreleased.log")
    assert "unrecognised" not in {row.event for row in rows}
    told = [(row.event, row.api) for row in rows if row.error == "UNRELEASED_INSTANCE_ID"]
    assert told == [("heartbeat_failed", "ConsumerGroupHeartbeat")]
