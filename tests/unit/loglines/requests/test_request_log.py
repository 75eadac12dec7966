"""Lines of the request log, API by API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from transforms.loglines.facts import Fact, GroupRequest
from transforms.loglines.parse import parse_entry
from transforms.loglines.requests.columns import client_host

LOGGED_AT = 1718452800123


def line(key: int, version: int, request: Any, response: Any, **envelope: Any) -> str:
    logged = {
        "isForwarded": False,
        "requestHeader": {
            "requestApiKey": key,
            "requestApiVersion": version,
            "correlationId": 17,
            "clientId": "app",
            "requestApiKeyName": "X",
        },
        "request": request,
        "response": response,
        "connection": "10.0.0.1:9092-10.0.0.7:50312-0-4",
        "totalTimeMs": 12.5,
        "requestQueueTimeMs": 0.25,
        "localTimeMs": 1.0,
        "remoteTimeMs": 10.75,
        "throttleTimeMs": 0,
        "responseQueueTimeMs": 0.25,
        "sendTimeMs": 0.25,
        "securityProtocol": "PLAINTEXT",
        "principal": "User:ANONYMOUS",
        "listener": "PLAINTEXT",
        "clientInformation": {"softwareName": "apache-kafka-java", "softwareVersion": "4.2.0"},
        **envelope,
    }
    text = json.dumps(logged, separators=(",", ":"))
    return f"[2024-06-15 12:00:00,123] DEBUG Completed request:{text} (kafka.request.logger)"


def read(*args: Any, **envelope: Any) -> list[Fact]:
    return list(parse_entry(line(*args, **envelope), LOGGED_AT))


def one(*args: Any, **envelope: Any) -> Any:
    (parsed,) = read(*args, **envelope)
    assert isinstance(parsed, GroupRequest)
    return parsed


HEARTBEAT = {"groupId": "g1", "generationId": 5, "memberId": "m", "groupInstanceId": None}
FINE = {"throttleTimeMs": 0, "errorCode": 0}
TEXT_LINE = (
    "[2020-06-15 12:00:00,123] DEBUG Completed request:RequestHeader(apiKey=JOIN_GROUP, apiVersion=5, clientId=c, "
    "correlationId=3) -- {group_id=g1},response:{error_code=0} from connection 127.0.0.1:9092-127.0.0.1:50000-0;"
    "totalTime:1.2,requestQueueTime:0.1,localTime:1.0,remoteTime:0.0,throttleTime:0.0,responseQueueTime:0.0,"
    "sendTime:0.1,securityProtocol:PLAINTEXT,principal:User:ANONYMOUS,listener:PLAINTEXT (kafka.request.logger)"
)


def test_the_envelope() -> None:
    row = one(12, 4, HEARTBEAT, FINE)
    assert row.api == "Heartbeat"
    assert row.api_version == 4
    assert row.answered_at == LOGGED_AT
    assert row.received_at == LOGGED_AT - 12.5
    assert row.handled_at == LOGGED_AT - 12.25
    assert row.parked_ms == 10.75
    assert (row.client_id, row.client_host) == ("app", "/10.0.0.7")
    assert row.client_software == "apache-kafka-java/4.2.0"
    assert (row.connection, row.correlation_id) == ("10.0.0.1:9092-10.0.0.7:50312-0-4", 17)
    assert (row.error_code, row.error) == (0, "NONE")


@pytest.mark.parametrize(
    ("connection", "host"),
    [
        ("127.0.0.1:9092-10.0.0.7:50312-4", "/10.0.0.7"),
        ("127.0.0.1:9092-10.0.0.7:50312-0-4", "/10.0.0.7"),
        ("0:0:0:0:0:0:0:1:9092-0:0:0:0:0:0:0:2:50312-4", "/0:0:0:0:0:0:0:2"),
        ("fe80:0:0:0:1:2:3:4%eth0:9092-fe80:0:0:0:1:2:3:5%eth0:50312-0-4", "/fe80:0:0:0:1:2:3:5%eth0"),
        ("elsewhere", None),
    ],
)
def test_the_clients_address(connection: str, host: str | None) -> None:
    assert client_host(connection) == host


def test_a_first_join() -> None:
    row = one(
        11,
        9,
        {
            "groupId": "g1",
            "sessionTimeoutMs": 45000,
            "rebalanceTimeoutMs": 300000,
            "memberId": "",
            "groupInstanceId": None,
            "protocolType": "consumer",
            "protocols": [{"name": "range", "metadata": "AAMAAAAB"}],
            "reason": "",
        },
        {
            "throttleTimeMs": 0,
            "errorCode": 79,
            "generationId": -1,
            "protocolType": None,
            "protocolName": None,
            "leader": "",
            "skipAssignment": False,
            "memberId": "c1-x",
            "members": [],
        },
    )
    assert (row.member_id, row.answered_member_id) == ("", "c1-x")
    assert (row.generation, row.answered_generation) == (None, None)
    assert (row.error_code, row.error) == (79, "MEMBER_ID_REQUIRED")
    assert (row.session_timeout_ms, row.rebalance_timeout_ms) == (45000, 300000)
    assert row.protocols == [{"name": "range", "metadata": b"\0\3\0\0\0\1"}]
    assert row.reason == ""


def test_a_leaders_join() -> None:
    row = one(
        11,
        5,
        {"groupId": "g1", "memberId": "m", "groupInstanceId": "i1", "protocols": []},
        {
            "errorCode": 0,
            "generationId": 6,
            "protocolName": "range",
            "leader": "m",
            "memberId": "m",
            "members": [{"memberId": "m", "groupInstanceId": "i1", "metadata": "AAM="}],
        },
    )
    assert (row.answered_generation, row.answered_protocol, row.answered_leader) == (6, "range", "m")
    assert row.answered_members == [{"member_id": "m", "group_instance_id": "i1", "metadata": b"\0\3"}]


def test_a_leaders_sync() -> None:
    row = one(
        14,
        5,
        {
            **HEARTBEAT,
            "protocolType": "consumer",
            "protocolName": "range",
            "assignments": [{"memberId": "m", "assignment": "AAA="}],
        },
        {**FINE, "protocolType": "consumer", "protocolName": "range", "assignment": "AAA="},
    )
    assert (row.generation, row.protocol, row.answered_protocol) == (5, "range", "range")
    assert row.assignments == [{"member_id": "m", "assignment": b"\0\0"}]
    assert row.answered_assignment == b"\0\0"


def test_one_member_leaves_by_an_old_version() -> None:
    row = one(13, 1, {"groupId": "g1", "memberId": "m"}, {"throttleTimeMs": 0, "errorCode": 25})
    assert (row.member_id, row.error_code) == ("m", 25)
    assert row.leaving_members == [{"member_id": "m", "group_instance_id": None, "reason": None, "error_code": 25}]


def test_several_members_leave_each_with_its_answer() -> None:
    row = one(
        13,
        5,
        {
            "groupId": "g1",
            "members": [
                {"memberId": "m", "groupInstanceId": None, "reason": "bye"},
                {"memberId": "", "groupInstanceId": "i2", "reason": None},
            ],
        },
        {
            **FINE,
            "members": [
                {"memberId": "m", "groupInstanceId": None, "errorCode": 0},
                {"memberId": "", "groupInstanceId": "i2", "errorCode": 25},
            ],
        },
    )
    assert (row.member_id, row.reason, row.error_code) == ("m", "bye", 25)
    assert [(each["group_instance_id"], each["error_code"]) for each in row.leaving_members] == [
        (None, 0),
        ("i2", 25),
    ]


@pytest.mark.parametrize(("key", "api"), [(8, "OffsetCommit"), (28, "TxnOffsetCommit")])
@pytest.mark.parametrize("name", ["generationId", "generationIdOrMemberEpoch"])
def test_a_commit_counts_the_answers_of_its_partitions(key: int, api: str, name: str) -> None:
    answers = [
        {"name": "a", "partitions": [{"partitionIndex": i, "errorCode": code} for i, code in enumerate((0, 12, 3, 0))]}
    ]
    row = one(
        key, 7, {"groupId": "g1", name: -1, "memberId": "", "topics": []}, {"throttleTimeMs": 0, "topics": answers}
    )
    assert (row.api, row.generation, row.member_id) == (api, -1, "")
    assert row.error_code == 12
    assert row.partition_errors == {0: 2, 12: 1, 3: 1}


def test_an_offset_delete_has_errors_of_both_kinds() -> None:
    answer = {"errorCode": 0, "topics": [{"name": "a", "partitions": [{"partitionIndex": 0, "errorCode": 86}]}]}
    row = one(47, 0, {"groupId": "g1", "topics": []}, answer)
    assert (row.api, row.error, row.partition_errors) == ("OffsetDelete", "GROUP_SUBSCRIBED_TO_TOPIC", {86: 1})


def test_deleting_groups_gives_a_row_for_each() -> None:
    rows = read(
        42,
        2,
        {"groupsNames": ["a", "b"]},
        {"throttleTimeMs": 0, "results": [{"groupId": "a", "errorCode": 0}, {"groupId": "b", "errorCode": 68}]},
    )
    assert [(row.seq, row.group_id, row.error) for row in rows] == [
        (0, "a", "NONE"),
        (1, "b", "NON_EMPTY_GROUP"),
    ]


@pytest.mark.parametrize(
    ("key", "api"), [(68, "ConsumerGroupHeartbeat"), (76, "ShareGroupHeartbeat"), (88, "StreamsGroupHeartbeat")]
)
def test_members_of_modern_groups_have_epochs(key: int, api: str) -> None:
    asked = {"groupId": "g1", "memberId": "m", "memberEpoch": 3, "instanceId": "i1", "rebalanceTimeoutMs": 300000}
    row = one(key, 1, asked, {**FINE, "errorMessage": None, "memberId": "m", "memberEpoch": 4})
    assert (row.api, row.generation, row.answered_generation) == (api, 3, 4)
    assert (row.group_instance_id, row.answered_member_id) == ("i1", "m")
    fenced = one(key, 1, asked, {"errorCode": 110, "memberId": None, "memberEpoch": 0})
    assert (fenced.error, fenced.answered_generation) == ("FENCED_MEMBER_EPOCH", None)


def test_a_member_of_a_streams_group_says_its_tasks_by_role_and_brings_a_topology() -> None:
    tasks, topology = [{"subtopologyId": "1", "partitions": [0, 2]}], {"epoch": 0, "subtopologies": []}
    asked = {"groupId": "g1", "memberId": "m", "memberEpoch": 3, "activeTasks": tasks, "standbyTasks": []}
    row = one(88, 0, {**asked, "topology": topology}, {**FINE, "memberEpoch": 4, "warmupTasks": tasks})
    held = [{"subtopology_id": "1", "partitions": [0, 2]}]
    assert (row.owned_active, row.owned_standby, row.owned_warmup) == (held, [], None)
    assert (row.told_active, row.told_standby, row.told_warmup) == (None, None, held)
    assert row.topology == '{"epoch":0,"subtopologies":[]}'
    assert one(88, 0, {**asked, "topology": None}, FINE).topology is None


@pytest.mark.parametrize("key", [0, 1, 3, 9, 10, 15, 16, 22, 69, 80, 111, 112, 113, 114, 130, 140])
def test_other_apis_are_passed_over_unread(key: int) -> None:
    assert parse_entry(line(key, 0, {}, {})[:400] + "broken", LOGGED_AT) == []


def test_other_apis_as_text_are_passed_over_too() -> None:
    assert parse_entry(TEXT_LINE.replace("JOIN_GROUP", "FETCH"), LOGGED_AT) == []


def test_a_client_cannot_pass_for_another_api() -> None:
    fetch = line(1, 0, {"x": '"requestApiKey":11,'}, FINE)
    assert parse_entry(fetch, LOGGED_AT) == []


def test_a_line_longer_than_100_kb_is_read() -> None:
    members = [{"memberId": f"m{i}", "groupInstanceId": None, "metadata": "AAAA" * 100} for i in range(500)]
    answer = {"errorCode": 0, "generationId": 1, "leader": "m0", "memberId": "m0", "members": members}
    assert len(one(11, 5, {"groupId": "g1", "memberId": "m0"}, answer).answered_members) == 500


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (line(12, 4, HEARTBEAT, FINE)[:300], "bad_request_line"),
        (TEXT_LINE[:-150], "bad_request_line"),
        (line(12, 4, HEARTBEAT, ""), "request_without_answer"),
        (line(12, 4, "", FINE), "request_without_body"),
        (line(12, 4, {"memberId": "m"}, FINE), "bad_request_line"),
        (line(12, 4, [], FINE), "bad_request_line"),
        (line(12, 4, {**HEARTBEAT, "generationId": 1 << 40}, FINE), "bad_request_line"),
        (line(12, 4, {**HEARTBEAT, "memberId": 7}, FINE), "bad_request_line"),
        (line(11, 4, {"groupId": "g1", "protocols": [{"name": "r", "metadata": "%"}]}, FINE), "bad_request_line"),
        (line(12, 4, HEARTBEAT, FINE, totalTimeMs=float("nan")), "bad_request_line"),
        (line(12, 4, HEARTBEAT, FINE, totalTimeMs=1e300), "bad_request_line"),
        (line(42, 2, {"groupsNames": ["a"]}, {"results": [{}]}), "bad_request_line"),
        (line(12, 4, HEARTBEAT, FINE).replace('"request":{', '"request":' + "[" * 100_000), "bad_request_line"),
    ],
)
def test_what_cannot_be_read_is_rejected_whole(text: str, code: str) -> None:
    (parsed,) = parse_entry(text, LOGGED_AT)
    assert parsed.table == "rejected"
    assert parsed.reason_code == code
    assert parsed.raw == text.encode()
    assert parsed.detail


def test_half_a_surrogate_pair_does_not_reach_the_tables() -> None:
    row = one(12, 4, {**HEARTBEAT, "memberId": "\ud83d x"}, FINE)
    row.member_id.encode("utf-8")
    assert one(12, 4, {**HEARTBEAT, "memberId": "😀"}, FINE).member_id == "😀"
