"""Lines of clients to the requests that were refused them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from transforms.findings.client_refusals import ClientLine, ToldRequest, refusals
from transforms.loglines.entries.entries import entries
from transforms.loglines.facts import ClientEvent
from transforms.loglines.parse import parse_entry

LOGS = Path(__file__).resolve().parents[2] / "data" / "loglines" / "clients"
DEFAULTS: dict[str, Any] = {
    "event": "commit_failed",
    "logged_at": 1000,
    "group_id": "g",
    "api": "OffsetCommit",
    "error": "ILLEGAL_GENERATION",
    "client_software": "java",
}


def told(*lines: dict[str, Any]) -> list[ToldRequest]:
    return refusals(ClientLine(line_number=number, **{**DEFAULTS, **line}) for number, line in enumerate(lines, 1))


def log(name: str) -> list[ToldRequest]:
    rows = []
    with (LOGS / name).open(encoding="utf-8", newline="\n") as lines:
        for entry in entries(lines):
            for fact in parse_entry(entry.text, entry.logged_at):
                if isinstance(fact, ClientEvent):
                    row = {name: getattr(fact, name, None) for name in ClientLine.__struct_fields__}
                    rows.append(msgspec.convert({**row, "line_number": entry.line_number}, ClientLine))
    return refusals(rows)


def test_a_line_with_a_fencing_error_is_a_refusal() -> None:
    line = {"api": "SyncGroup", "event": "sync_failed", "client_id": "a", "member_id": "a-1", "generation": 4}
    assert told(line) == [
        ToldRequest(
            group_id="g",
            error="ILLEGAL_GENERATION",
            answered_at=1000,
            api="SyncGroup",
            generation=4,
            member_id="a-1",
            client_id="a",
        )
    ]


@pytest.mark.parametrize(
    "line",
    [
        {"error": None},
        {"error": "REBALANCE_IN_PROGRESS"},
        {"event": "generation_reset"},
        {"event": "join_failed"},
        {"event": "unrecognised"},
        {"group_id": None},
        {"logged_at": None},
    ],
)
def test_other_lines_are_none(line: dict[str, Any]) -> None:
    assert told(line) == []


def test_what_is_told_of_one_refusal_counts_once() -> None:
    heartbeat = {"event": "heartbeat_failed", "api": "Heartbeat"}
    once = told(
        {},
        {"partitions": ["t-0"], "logged_at": 1001},
        {"partitions": ["t-1"], "logged_at": 1001},
        {"logged_at": 1049, "generation": 3, "member_id": "m"},
        {"event": "fenced", "api": None, "logged_at": 5000},
    )
    assert [(one.answered_at, one.generation, one.member_id) for one in once] == [(1000, 3, "m")]
    assert len(told({}, {"logged_at": 1100})) == 2
    assert len(told({}, heartbeat)) == 2
    assert len(told(heartbeat, heartbeat)) == 2
    assert len(told({}, {"error": "UNKNOWN_MEMBER_ID"})) == 2
    assert len(told({}, {"group_id": "h"})) == 2
    assert len(told({"client_id": "a"}, {"client_id": "b"})) == 2
    assert len(told({"partitions": ["t-0"]}, {"partitions": ["t-0"]})) == 2
    assert len(told({}, {"event": "fenced", "api": None, "logged_at": 6001})) == 2


def test_a_request_that_no_line_names_is_unknown_until_one_does() -> None:
    fenced = {"event": "fenced", "api": None, "error": "FENCED_INSTANCE_ID"}
    assert [one.api for one in told(fenced)] == ["unknown"]
    assert [one.api for one in told(fenced, {**fenced, "api": "Heartbeat"})] == ["Heartbeat"]


def test_the_only_group_and_the_only_client_of_a_file_are_those_of_its_lines() -> None:
    (one,) = told({"event": "joining", "client_id": "a"}, {"group_id": None})
    assert (one.group_id, one.client_id) == ("g", "a")
    assert told({"event": "joining"}, {"event": "joining", "group_id": "h"}, {"group_id": None}) == []
    (one,) = told({"event": "joining", "client_id": "a"}, {"event": "joining", "client_id": "b"}, {})
    assert one.client_id is None


def test_a_client_goes_on_with_the_member_id_that_it_joined_with() -> None:
    joined = {"event": "joined", "client_id": "a", "member_id": "a-1", "generation": 3, "error": None}
    refused = {"client_id": "a", "generation": None}
    (one,) = told(joined, refused)
    assert (one.member_id, one.generation) == ("a-1", 3)
    (one,) = told(joined, {**joined, "event": "left"}, refused)
    assert (one.member_id, one.generation) == (None, None)
    (one,) = told(joined, {**refused, "client_id": "b"})
    assert (one.member_id, one.generation) == (None, None)
    another = {**joined, "client_id": "b", "member_id": "b-1"}
    (one,) = told(joined, another, {"client_id": None})  # of which of several consumers, who knows
    assert one.member_id is None
    (one,) = told(joined, {"client_id": None})
    assert (one.member_id, one.generation) == ("a-1", None), "the only one; what it sent is another matter"


def test_a_producer_sends_offsets_for_the_only_consumer_of_its_file() -> None:
    joined = {"event": "joined", "client_id": "a", "member_id": "a-1", "generation": 3, "error": None}
    sent = {"client_id": "a-tx", "api": "TxnOffsetCommit"}
    (one,) = told(joined, sent)
    assert (one.client_id, one.member_id) == ("a-tx", "a-1")
    (one,) = told(joined, {**joined, "client_id": "b", "member_id": "b-1"}, sent)
    assert one.member_id is None


OWN: dict[str, Any] = {
    "error": None,
    "reason": "Offset commit cannot be completed since the consumer is not part of an active group for auto partition "
    "assignment; it is likely that the consumer was kicked out of the group.",
}
"""As Java and kafka-python refuse a commit themselves: `pdf-archive-p` and `price-zone-b-z` of the incidents."""


def test_a_commit_that_a_client_refuses_itself_is_of_the_member_that_it_was() -> None:
    joined = {"event": "joined", "client_id": "a", "member_id": "a-1", "generation": 3, "error": None}
    left = {"event": "generation_reset", "client_id": "a", "error": None}
    (one,) = told(joined, left, {**OWN, "client_id": "a"}, {**OWN, "logged_at": 1005})
    assert one.is_own
    assert (one.error, one.client_id, one.member_id, one.generation) == ("UNKNOWN_MEMBER_ID", "a", "a-1", 3)
    assert len(told({**OWN, "client_id": "a"}, {**OWN, "client_id": "a", "logged_at": 1100})) == 2


def test_what_the_coordinator_refused_and_what_the_client_refused_itself_are_two() -> None:
    refused = {"error": "UNKNOWN_MEMBER_ID", "client_id": "a"}
    assert [one.is_own for one in told(refused, {**OWN, "client_id": "a", "logged_at": 1010})] == [False, True]


def test_a_commit_that_waits_for_a_rebalance_is_not_refused_by_who_was_kicked_out() -> None:
    waiting = "Offset commit cannot be completed since the consumer is undergoing a rebalance"
    assert told({**OWN, "reason": "the consumer is not part of an active group"}) == []
    assert told({**OWN, "error": "REBALANCE_IN_PROGRESS", "reason": waiting}) == []


def test_a_library_that_names_no_client_names_it_in_its_member_id() -> None:
    member = "app-0-" + "0" * 8 + "-0000-0000-0000-" + "0" * 12
    joined = {"event": "joined", "client_id": None, "member_id": member, "generation": 2, "error": None}
    (one,) = told(joined, OWN)
    assert (one.client_id, one.member_id, one.generation) == (None, member, 2)
    (one,) = told(joined, {**joined, "member_id": member.replace("app-0", "app-1")}, OWN)
    assert one.member_id is None


def test_librdkafkas_own_lines_make_the_applications_superfluous() -> None:
    own = {"client_software": "librdkafka", "client_id": "a"}
    thrown = {"client_software": "librdkafka", "client_id": None}
    assert len(told(own, own, {**thrown, "logged_at": 500}, {**thrown, "logged_at": 9000})) == 2
    assert len(told({**thrown, "logged_at": 500}, {**thrown, "logged_at": 9000})) == 2


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # The broker refused three commits, two of them within 2 ms: aiokafka has a line for each partition of each.
        ("aiokafka_0.14_session_lost.log", {"OffsetCommit": 2, "Heartbeat": 2}),
        ("franz_go_1.22_fenced.log", {"Heartbeat": 1}),
        ("java_4.2.0_stale_transactions.log", {"TxnOffsetCommit": 3}),
        ("kafka_python_3.0_fenced.log", {"Heartbeat": 1, "OffsetCommit": 1}),
        ("librdkafka_2.16_debug_zombie.log", {"Heartbeat": 4, "OffsetCommit": 6}),
        ("sarama_1.61_fenced.log", {"JoinGroup": 2, "OffsetCommit": 7}),
        ("spring_kafka_3.2_fenced.log", {"OffsetCommit": 1}),
    ],
)
def test_logs_of_real_clients_tell_of_as_many_refusals_as_there_were(name: str, expected: dict[str, int]) -> None:
    found = [one.api for one in log(name)]
    assert {api: found.count(api) for api in found} == expected


def epochs_of(name: str) -> list[tuple[Any, ...]]:
    return [(one.client_id, one.api, one.error, one.generation) for one in log(name)]


def test_consumers_of_the_new_protocol_tell_each_refused_request_once_with_the_epoch_that_it_had() -> None:
    """As the broker's request log had them; of a commit by one who is no member any more no line tells the epoch."""
    assert epochs_of("java_4.2.0_epochs_refused.log") == [
        ("a", "OffsetCommit", "STALE_MEMBER_EPOCH", 3),
        ("a", "ConsumerGroupHeartbeat", "FENCED_MEMBER_EPOCH", 3),
        ("a", "OffsetCommit", "UNKNOWN_MEMBER_ID", None),
        ("a", "ConsumerGroupHeartbeat", "UNKNOWN_MEMBER_ID", 5),
        ("b", "ConsumerGroupHeartbeat", "FENCED_INSTANCE_ID", 9),
    ]
    assert epochs_of("java_4.2.0_epochs_silent.log") == [
        ("c", "ConsumerGroupHeartbeat", "UNKNOWN_MEMBER_ID", 7),
        ("b2", "ConsumerGroupHeartbeat", "UNRELEASED_INSTANCE_ID", 0),
    ]
    (kept_out,) = (one for one in log("java_4.2.0_epochs_silent.log") if one.error == "UNRELEASED_INSTANCE_ID")
    assert kept_out.group_instance_id, "nothing else tells under which id somebody asked who never was a member"
    assert {
        one.member_id is None for name in ("refused", "silent") for one in log(f"java_4.2.0_epochs_{name}.log")
    } == {False}


def test_an_epoch_that_only_the_state_after_it_tells_is_that_of_the_refused_heartbeat() -> None:
    stable = {"event": "state_changed", "member_id": "m", "client_id": "a", "error": None, "client_state": "STABLE"}
    refused = {
        "event": "heartbeat_failed",
        "api": "ConsumerGroupHeartbeat",
        "error": "UNKNOWN_MEMBER_ID",
        "client_id": "a",
        "logged_at": 2000,
    }
    fenced = {**stable, "client_state": "FENCED", "generation": 8, "logged_at": 2001}
    (one,) = told({**stable, "generation": 7}, refused, fenced)
    assert (one.member_id, one.generation) == ("m", 8)
    (one,) = told({**stable, "generation": 7}, refused)
    assert (one.member_id, one.generation) == ("m", None), "it may have gone on to an epoch with nothing to say of it"
    (one,) = told({**stable, "generation": 7}, refused, {**fenced, "member_id": "n"})
    assert one.generation is None
    (one,) = told(refused, {**stable, "generation": 7}, fenced)
    assert one.generation is None, "what came later was another refusal"


def test_a_stale_commit_that_the_application_hears_of_at_its_next_poll_counts_once() -> None:
    stale = {"error": "STALE_MEMBER_EPOCH", "client_id": "a", "member_id": "m", "generation": 3}
    heard = {"error": "STALE_MEMBER_EPOCH", "client_id": "a", "logged_at": 3000}
    assert len(told(stale, heard)) == 1
    assert len(told(stale, {**stale, "logged_at": 2000}, heard, {**heard, "logged_at": 3001})) == 2
    assert len(told(stale, {**heard, "logged_at": 6001})) == 2
    assert len(told(stale, heard, {**heard, "logged_at": 4000})) == 2


def test_a_member_that_is_fenced_again_at_each_heartbeat_tells_of_each() -> None:
    """Brokers of 4.1 refuse epoch 0 to one who still is a member, and the client asks again at once."""
    fenced = {"event": "fenced", "api": "ConsumerGroupHeartbeat", "error": "FENCED_MEMBER_EPOCH", "client_id": "a"}
    lines = [{**fenced, "member_id": "m", "generation": 0, "logged_at": 1000 + at} for at in range(5)]
    assert len(told(*lines)) == 5
