"""What clients logged of refusals beside the request log, in Spark."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemas.tables.gold import MEMBER_SESSIONS
from schemas.tables.silver import CLIENT_EVENTS, GROUP_REQUESTS
from tests.support.drawn_table import Row
from tests.support.frames import to_frame, to_rows
from tests.support.searches import bursts
from tests.unit.findings.golden import complete
from transforms.gold.client_refusals import with_client_refusals

pytestmark = pytest.mark.spark

GAP_MS = 1000


def said(number: int, at: float, **fields: Any) -> Row:
    line = {
        "source_file": "a.log",
        "line_number": number,
        "logged_at": at,
        "event": "heartbeat_failed",
        "api": "Heartbeat",
        "error": "ILLEGAL_GENERATION",
        "client_software": "java",
        "group_id": "g",
        "client_id": "a",
        "generation": 1,
    }
    return complete("client_events", {**line, **fields})


def request(at: float, **fields: Any) -> Row:
    row = {"group_id": "g", "error": "ILLEGAL_GENERATION", "answered_at": at, "member_id": "a-1", "client_id": "a"}
    return complete("group_requests", {**row, **fields})


def told(spark: SparkSession, requests: list[Row], lines: list[Row], sessions: list[Row] | None = None) -> list[Row]:
    found = with_client_refusals(
        to_frame(spark, GROUP_REQUESTS, requests),
        to_frame(spark, CLIENT_EVENTS, lines),
        GAP_MS,
        to_frame(spark, MEMBER_SESSIONS, sessions or []),
    )
    return sorted(to_rows(found), key=lambda row: (row["answered_at"], row["group_id"]))


def test_where_there_is_no_request_log_clients_tell_of_refusals(spark: SparkSession) -> None:
    rows = told(spark, [], [said(at, at * 100.0) for at in range(1, 3)])
    columns = ("cluster", "group_id", "error", "answered_at", "api", "generation", "client_id", "evidence")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("demo", "g", "ILLEGAL_GENERATION", at, "Heartbeat", 1, "a", "client_log") for at in (100, 200)
    ]


def test_a_process_that_was_started_again_joins_by_its_own_word(spark: SparkSession) -> None:
    comes: Row = {"event": "synced", "api": "SyncGroup", "error": None}
    lines = [said(at, at * 100.0, **comes, member_id=f"a-{at}") for at in range(1, 3)]
    (row,) = told(spark, [], lines)
    columns = ("group_id", "api", "error", "member_id", "client_id", "answered_at", "evidence")
    assert tuple(row[name] for name in columns) == ("g", "JoinGroup", "NONE", "a-2", "a", 200, "client_log")


def test_without_logs_of_clients_there_are_the_requests(spark: SparkSession) -> None:
    requests = to_frame(spark, GROUP_REQUESTS, [request(100.0)])
    (row,) = to_rows(with_client_refusals(requests, None, GAP_MS))
    assert row == {**to_rows(requests)[0], "evidence": "request_log", "is_own": False}


def test_what_the_request_log_shows_is_not_told_again(spark: SparkSession) -> None:
    requests = [request(at * 100.0) for at in range(1, 5)]
    late = [said(at, at * 100.0 + 900) for at in range(1, 5)]  # a clock that is ahead
    assert [row["evidence"] for row in told(spark, requests, late)] == ["request_log"] * 4


def test_a_group_that_the_request_log_does_not_know_has_its_clients_word(spark: SparkSession) -> None:
    lines = [said(1, 100.0, group_id="h", source_file="h.log")]
    found = {row["group_id"]: row["evidence"] for row in told(spark, [request(100.0)], lines)}
    assert found == {"g": "request_log", "h": "client_log"}


def test_after_the_end_of_the_request_log_clients_go_on(spark: SparkSession) -> None:
    rows = told(spark, [request(100.0), request(200.0)], [said(1, 1200.0), said(2, 1201.0)])
    assert [(row["answered_at"], row["evidence"]) for row in rows] == [
        (100, "request_log"), (200, "request_log"), (1201, "client_log")
    ]  # fmt: skip


def test_where_the_request_log_says_nothing_of_a_group_for_long_its_clients_do(spark: SparkSession) -> None:
    """Its coordinator may be another broker for a while, or its log was lost; what others ask does not matter."""
    requests = [request(100.0), request(9000.0), *(request(at * 100.0, group_id="h") for at in range(90))]
    lines = [said(number, at) for number, at in enumerate((1099.0, 1101.0, 7999.0, 8001.0))]
    of_clients = [row for row in told(spark, requests, lines) if row["evidence"] == "client_log"]
    assert [(row["group_id"], row["answered_at"]) for row in of_clients] == [("g", 1101), ("g", 7999)]


def test_a_client_whose_lines_name_no_group_is_in_the_group_of_its_sessions(spark: SparkSession) -> None:
    lines = [said(1, 100.0, group_id=None)]
    sessions = [complete("member_sessions", {"group_id": "g", "member_id": "a-1", "client_id": "a"})]
    elsewhere = [*sessions, complete("member_sessions", {"group_id": "h", "member_id": "a-2", "client_id": "a"})]
    assert told(spark, [], lines) == []
    assert [row["group_id"] for row in told(spark, [], lines, sessions)] == ["g"]
    assert told(spark, [], lines, elsewhere) == []


def test_bursts_are_made_of_what_clients_logged_where_there_is_no_request_log(spark: SparkSession) -> None:
    lines = [said(at, at * 100.0) for at in range(1, 5)]
    requests = [request(at * 100.0, group_id="h") for at in range(1, 5)]
    tables = {
        GROUP_REQUESTS: to_frame(spark, GROUP_REQUESTS, requests),
        CLIENT_EVENTS: to_frame(spark, CLIENT_EVENTS, lines),
    }
    found = {row["group_id"]: row for row in to_rows(bursts(tables, GAP_MS, 3))}
    assert {group: (row["evidence"], row["error_count"]) for group, row in found.items()} == {
        "g": ("client_log", 4),
        "h": ("request_log", 4),
    }
    burst = found["g"]
    assert (burst["apis"], burst["client_ids"], burst["stale_generation_max"]) == ({"Heartbeat": 4}, ["a"], 1)


def refused_by_itself(number: int, at: float) -> Row:
    reason = "the consumer is not part of an active group for auto partition assignment; it is likely that the c"
    return said(number, at, event="commit_failed", api="OffsetCommit", error=None, reason=reason, generation=None)


def test_commits_that_a_client_refused_itself_are_a_burst_that_no_request_log_has(spark: SparkSession) -> None:
    """Beside a burst of what the coordinator refused they are a part of it, and make no second one."""
    lines = [refused_by_itself(at, at * 100.0) for at in range(1, 5)]

    def found(requests: list[Row]) -> list[tuple[Any, ...]]:
        tables = {
            GROUP_REQUESTS: to_frame(spark, GROUP_REQUESTS, requests),
            CLIENT_EVENTS: to_frame(spark, CLIENT_EVENTS, lines),
        }
        told = to_rows(bursts(tables, GAP_MS, 3))
        return [(row["error"], row["evidence"], row["error_count"], row["client_ids"]) for row in told]

    assert found([request(100.0), request(200.0)]) == [("UNKNOWN_MEMBER_ID", "client_log", 4, ["a"])]
    assert found([request(at * 100.0) for at in range(1, 5)]) == [("ILLEGAL_GENERATION", "request_log", 4, ["a"])]
    later = [request(5000.0 + at * 100.0) for at in range(1, 5)]
    assert {(error, evidence) for error, evidence, *_ in found(later)} == {
        ("UNKNOWN_MEMBER_ID", "client_log"),
        ("ILLEGAL_GENERATION", "request_log"),
    }
