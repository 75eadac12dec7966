"""Lines of the request log before 2.8, as Kafka's own classes print them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from transforms.loglines.facts import Rejected
from transforms.loglines.parse import parse_entry
from transforms.loglines.requests.struct_text import read_struct

DATA = Path(__file__).resolve().parents[3] / "data" / "loglines" / "request_text.txt"

TAIL = (
    " from connection 10.0.0.1:9092-10.0.0.7:50312-4;totalTime:12.5,requestQueueTime:0.25,localTime:1.0,"
    "remoteTime:10.75,throttleTime:0.0,responseQueueTime:0.25,sendTime:0.25,securityProtocol:SSL,"
    "principal:User:CN=app, OU=x,listener:INTERNAL"
)
SOFTWARE = ",clientInformation:ClientInformation(softwareName=apache-kafka-java, softwareVersion=2.5.1)"
LOGGED_AT = 1592222400123


def printed() -> dict[str, list[tuple[str, str]]]:
    """Release, API and version to requests and answers."""
    lines = [line for line in DATA.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found: dict[str, list[tuple[str, str]]] = {}
    for title, request, answer in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        found.setdefault(title, []).append((request, answer))
    return found


PRINTED = printed()


def line(request: str, answer: str, tail: str = TAIL) -> str:
    return f"[2020-06-15 12:00:00,123] DEBUG Completed request:{request},response:{answer}{tail} (kafka.request.logger)"


def read(title: str, number: int = 0) -> list[Any]:
    parsed = parse_entry(line(*PRINTED[title][number]), LOGGED_AT)
    assert {each.table for each in parsed} == {"group_requests"}
    return list(parsed)


def one(title: str, number: int = 0) -> Any:
    (row,) = read(title, number)
    return row


@pytest.mark.parametrize("title", PRINTED)
def test_every_request_of_every_release_is_read(title: str) -> None:
    for number in range(len(PRINTED[title])):
        for row in read(title, number):
            assert row.group_id in ("g1", "g2", "g,1")
            assert f"v{row.api_version}" == title.split(" ")[2]
            assert row.client_id == "app, (x)"
            assert row.correlation_id == 17
            assert (row.client_host, row.client_software) == ("/10.0.0.7", None)
            assert (row.received_at, row.handled_at) == (LOGGED_AT - 12.5, LOGGED_AT - 12.25)
            assert row.parked_ms == 10.75


@pytest.mark.parametrize("release", ["1.0.2", "2.3.1"])
def test_a_leaders_join_in_the_names_of_both_schemas(release: str) -> None:
    row = one(f"{release} JOIN_GROUP v2")
    assert (row.group_id, row.member_id, row.protocol_type) == ("g,1", "", "consumer")
    assert (row.session_timeout_ms, row.rebalance_timeout_ms) == (45000, 300000)
    assert row.protocols == [{"name": "range", "metadata": None}, {"name": "sticky", "metadata": None}]
    assert (row.generation, row.answered_generation, row.error_code) == (None, 5, 0)
    assert (row.answered_protocol, row.answered_leader, row.answered_member_id) == ("range", "m1", "m1")
    assert [member["member_id"] for member in row.answered_members] == ["m1", "m2"]


def test_a_join_with_tagged_fields() -> None:
    row = one("2.5.1 JOIN_GROUP v7")
    assert (row.group_instance_id, row.answered_protocol) == ("i1", "range")
    assert row.answered_members == [{"member_id": "m1", "group_instance_id": None, "metadata": None}]
    refused = one("2.5.1 JOIN_GROUP v7", 1)
    assert (refused.error, refused.answered_generation, refused.answered_protocol) == (
        "UNKNOWN_MEMBER_ID",
        None,
        None,
    )


def test_a_join_that_must_come_again() -> None:
    row = one("2.3.1 JOIN_GROUP v5")
    assert (row.error_code, row.answered_member_id, row.member_id) == (79, "m1", "m")
    assert row.answered_members == []


@pytest.mark.parametrize("title", ["1.0.2 SYNC_GROUP v1", "2.3.1 SYNC_GROUP v1"])
def test_a_leaders_sync(title: str) -> None:
    row = one(title)
    assert (row.generation, row.member_id, row.error_code) == (5, "m1", 0)
    assert row.assignments == [{"member_id": "m1", "assignment": None}, {"member_id": "m2", "assignment": None}]
    assert row.answered_assignment is None


def test_heartbeats() -> None:
    assert one("1.0.2 HEARTBEAT v1").error == "ILLEGAL_GENERATION"
    assert one("2.3.1 HEARTBEAT v3").group_instance_id == "i1"
    assert one("2.7.2 HEARTBEAT v4").group_instance_id is None


def test_leaving_alone_and_together() -> None:
    assert one("1.0.2 LEAVE_GROUP v1").leaving_members == [
        {"member_id": "m1", "group_instance_id": None, "reason": None, "error_code": 0}
    ]
    together = one("2.5.1 LEAVE_GROUP v3")
    assert [(each["member_id"], each["error_code"]) for each in together.leaving_members] == [("m1", 0), ("", 25)]
    assert together.error_code == 25


@pytest.mark.parametrize("release", ["1.0.2", "2.3.1", "2.5.1"])
def test_a_commit_with_metadata_that_looks_like_a_struct(release: str) -> None:
    row = one(f"{release} OFFSET_COMMIT v3")
    assert (row.generation, row.member_id, row.error_code) == (5, "m1", 22)
    assert row.partition_errors == {0: 1, 22: 1, 12: 1}


def test_a_transactional_commit() -> None:
    assert one("2.5.1 TXN_OFFSET_COMMIT v3").error == "ILLEGAL_GENERATION"
    assert one("1.0.2 TXN_OFFSET_COMMIT v0").generation is None


@pytest.mark.parametrize("release", ["2.0.1", "2.5.1"])
def test_groups_are_deleted_each_with_its_answer(release: str) -> None:
    rows = read(f"{release} DELETE_GROUPS v0")
    assert [(row.seq, row.group_id, row.error_code) for row in rows] == [(0, "g1", 0), (1, "g2", 68)]


def test_the_client_says_what_it_is_since_2_5() -> None:
    for more in ("", ",temporaryMemoryBytes:5", ",messageConversionsTime:0.5"):
        (parsed,) = parse_entry(line(*PRINTED["2.5.1 HEARTBEAT v4"][0], TAIL + SOFTWARE + more), LOGGED_AT)
        assert parsed.client_software == "apache-kafka-java/2.5.1"


def one_rejected(text: str) -> str:
    (parsed,) = parse_entry(text, LOGGED_AT)
    assert isinstance(parsed, Rejected)
    return str(parsed.reason_code)


def test_broken_lines_are_rejected() -> None:
    request, answer = PRINTED["2.5.1 HEARTBEAT v4"][0]
    whole = line(request, answer)
    assert one_rejected(line(request, "")) == "request_without_answer"
    for end in (140, 200, 300, 330):
        assert one_rejected(whole[:end]) == "bad_request_line"
    assert one_rejected(line(request.replace("generation_id=5", "generation_id=x"), answer)) == "bad_request_line"


@pytest.mark.parametrize("odd", ["a,b", "[{x}]", "{a=b}", "x}", "java.nio", "null", "", "a=b", "q,error_code"])
def test_texts_may_hold_what_structs_are_made_of(odd: str) -> None:
    read_back = read_struct(f"{{group_id={odd},generation_id=5,member_id={odd}}}")
    assert read_back == {"groupId": odd, "generationId": 5, "memberId": odd}


@pytest.mark.parametrize(
    "text", ["", "{", "{group_id=g", "{members=[{member_id=m}", "{group_id=g} ", "x", "{_tagged_fields="]
)
def test_what_is_no_struct_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_struct(text)
