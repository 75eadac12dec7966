"""Bursts out of what clients logged, in Spark."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemas.tables.gold import GENERATIONS, MEMBER_SESSIONS
from schemas.tables.silver import CLIENT_EVENTS, GROUP_REQUESTS
from tests.support.drawn_table import Row
from tests.support.frames import to_frame, to_rows
from tests.unit.findings.golden import complete
from transforms.gold.illegal_generation_bursts import illegal_generation_bursts

pytestmark = pytest.mark.spark

GAP_MS, MIN_ERRORS = 1000, 3


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


def bursts(spark: SparkSession, requests: list[Row], lines: list[Row], sessions: list[Row] | None = None) -> list[Row]:
    found = illegal_generation_bursts(
        to_frame(spark, GROUP_REQUESTS, requests),
        to_frame(spark, GENERATIONS, []),
        GAP_MS,
        MIN_ERRORS,
        to_frame(spark, MEMBER_SESSIONS, sessions or []),
        to_frame(spark, CLIENT_EVENTS, lines),
    )
    return to_rows(found)


def test_where_there_is_no_request_log_bursts_are_made_of_what_clients_logged(spark: SparkSession) -> None:
    lines = [said(at, at * 100.0) for at in range(1, 5)]
    (burst,) = bursts(spark, [], lines)
    assert (burst["group_id"], burst["error"], burst["error_count"]) == ("g", "ILLEGAL_GENERATION", 4)
    assert (burst["started_at"], burst["ended_at"], burst["evidence"]) == (100, 400, "client_log")
    assert (burst["apis"], burst["client_ids"], burst["stale_generation_max"]) == ({"Heartbeat": 4}, ["a"], 1)


def test_a_burst_that_the_request_log_shows_is_not_shown_again(spark: SparkSession) -> None:
    requests = [request(at * 100.0) for at in range(1, 5)]
    late = [said(at, at * 100.0 + 900) for at in range(1, 5)]  # a clock that is ahead
    (burst,) = bursts(spark, requests, late)
    assert (burst["error_count"], burst["evidence"]) == (4, "request_log")


def test_a_group_that_the_request_log_does_not_know_has_its_clients_word(spark: SparkSession) -> None:
    requests = [request(at * 100.0) for at in range(1, 5)]
    lines = [said(at, at * 100.0, group_id="h", source_file="h.log") for at in range(1, 5)]
    found = {burst["group_id"]: burst["evidence"] for burst in bursts(spark, requests, lines)}
    assert found == {"g": "request_log", "h": "client_log"}


def test_after_the_end_of_the_request_log_clients_go_on(spark: SparkSession) -> None:
    requests = [request(at * 100.0) for at in range(1, 5)]
    lines = [said(at, 60_000 + at * 100.0) for at in range(1, 5)]
    assert sorted(burst["evidence"] for burst in bursts(spark, requests, lines)) == ["client_log", "request_log"]


def test_a_client_whose_lines_name_no_group_is_in_the_group_of_its_sessions(spark: SparkSession) -> None:
    lines = [said(at, at * 100.0, group_id=None) for at in range(1, 5)]
    sessions = [complete("member_sessions", {"group_id": "g", "member_id": "a-1", "client_id": "a"})]
    elsewhere = [*sessions, complete("member_sessions", {"group_id": "h", "member_id": "a-2", "client_id": "a"})]
    assert bursts(spark, [], lines) == []
    assert [burst["group_id"] for burst in bursts(spark, [], lines, sessions)] == ["g"]
    assert bursts(spark, [], lines, elsewhere) == []
