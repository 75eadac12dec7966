"""Brokers' lines about fenced instances as refusals, beside what requests and clients tell, in Spark."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemas.tables.gold import ILLEGAL_GENERATION_BURSTS, MEMBER_SESSIONS
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_REQUESTS
from tests.support.drawn_table import Row
from tests.support.frames import to_frame, to_rows
from tests.support.incidents.play import GAP_MS as LONGEST_GAP_MS
from tests.support.incidents.play import MIN_ERRORS, play, tables_of
from tests.unit.findings import pure
from tests.unit.findings.golden import complete
from transforms.gold.broker_refusals import fencings, with_broker_refusals
from transforms.gold.client_refusals import with_client_refusals
from transforms.gold.illegal_generation_bursts import READ, illegal_generation_bursts

pytestmark = pytest.mark.spark

GAP_MS = 1000


def line(at: float, member_id: str = "i-1", **attributes: str) -> Row:
    said = {"event": "member_fenced", "member_id": member_id, "group_instance_id": "i", "attributes": attributes}
    return complete("coordinator_events", {"line_number": int(at), "logged_at": at, "broker": "1", **said})


def request(at: float, group_id: str = "g") -> Row:
    row = {"group_id": group_id, "error": "FENCED_INSTANCE_ID", "answered_at": at, "member_id": "i-1"}
    return complete("group_requests", {**row, "api": "Heartbeat"})


def stay(member_id: str = "i-1", group_id: str = "g") -> Row:
    who = {"member_id": member_id, "group_id": group_id, "client_id": "a", "client_host": "/h"}
    return complete("member_sessions", {**who, "life": 1, "group_type": "classic"})


def told(spark: SparkSession, requests: list[Row], lines: list[Row], stays: list[Row]) -> list[Row]:
    known = with_client_refusals(to_frame(spark, GROUP_REQUESTS, requests), None, GAP_MS)
    found = fencings(to_frame(spark, COORDINATOR_EVENTS, lines), to_frame(spark, MEMBER_SESSIONS, stays))
    return sorted(to_rows(with_broker_refusals(known, found, GAP_MS)), key=lambda row: row["answered_at"])


def test_a_fenced_instance_is_of_the_group_that_its_member_was_in(spark: SparkSession) -> None:
    lines = [line(100, operation="offset-commit"), line(200), line(300, "nobody's", operation="heartbeat")]
    rows = told(spark, [], lines, [stay(), stay()])
    names = ("group_id", "error", "api", "answered_at", "member_id", "group_instance_id", "client_id", "evidence")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("g", "FENCED_INSTANCE_ID", api, at, "i-1", "i", "a", "broker_log")
        for at, api in ((100, "OffsetCommit"), (200, "unknown"))
    ]


def test_what_requests_tell_is_not_told_again(spark: SparkSession) -> None:
    """Neither what stands beside a request, nor what could be the same a moment off; other groups do not matter."""
    requests = [request(5_000), request(9_000, "h")]
    rows = told(spark, requests, [line(at) for at in (3_900, 4_100, 5_000, 6_000, 6_001, 9_000)], [stay()])
    lines = [row["answered_at"] for row in rows if row["evidence"] == "broker_log"]
    assert lines == [3_900, 6_001, 9_000]


def test_a_war_is_found_in_brokers_lines_alone(spark: SparkSession) -> None:
    """As the evidence of one that was played shows it, and as plain loops find it."""
    group = play("fencing_war", 3, 31)
    tables: dict[str, list[Any]] = {**tables_of(group, "lines"), "coordinator_events": group.world.paper.events}
    frames = {spec: to_frame(spark, spec, tables[spec.name]) for spec in READ if spec.name in tables}
    (found,) = to_rows(illegal_generation_bursts(frames, LONGEST_GAP_MS, MIN_ERRORS, group.until))
    requests = pure.with_broker_refusals([], group.world.paper.events, tables["member_sessions"], LONGEST_GAP_MS)
    (foreseen,) = pure.bursts({**tables, "group_requests": requests}, LONGEST_GAP_MS, MIN_ERRORS, group.until)
    assert found == {name: foreseen[name] for name in ILLEGAL_GENERATION_BURSTS.columns} | {"evidence": "broker_log"}
    assert found["suspected_cause"] == "fencing_war"
