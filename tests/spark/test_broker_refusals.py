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
from tests.support.searches import bursts
from tests.unit.findings import pure
from tests.unit.findings.golden import complete
from transforms.gold.broker_refusals import fencings, may_tell, with_broker_refusals
from transforms.gold.client_refusals import with_client_refusals
from transforms.gold.illegal_generation_bursts import READ

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


def test_whether_lines_may_tell_of_refusals_is_known_where_they_are_at_hand(spark: SparkSession) -> None:
    """Nobody opens all stays for lines that tell of none."""
    told, other = line(100), {**line(200), "event": "broker_settings"}
    assert [may_tell(to_frame(spark, COORDINATOR_EVENTS, rows)) for rows in ([told, other], [other], [])] == [
        True,
        False,
        False,
    ]
    assert may_tell(to_frame(spark, COORDINATOR_EVENTS, [other]).where("true")), "nobody has looked"


def test_what_requests_tell_is_not_told_again(spark: SparkSession) -> None:
    """Neither what stands beside a request, nor what could be the same a moment off; other groups do not matter."""
    requests = [request(5_000), request(9_000, "h")]
    rows = told(spark, requests, [line(at) for at in (3_900, 4_100, 5_000, 6_000, 6_001, 9_000)], [stay()])
    lines = [row["answered_at"] for row in rows if row["evidence"] == "broker_log"]
    assert lines == [3_900, 6_001, 9_000]


def test_who_is_not_let_in_is_told_of_by_the_line_that_names_its_group(spark: SparkSession) -> None:
    """It never was a member: nothing but its line, and who holds the instance, tells of it; one line is a finding."""
    who = {"event": "modern_instance_held", "group_id": "g", "member_id": "i-9", "group_instance_id": "i"}
    held = [{**line(at, current_member_id="i-1"), **who} for at in (100_000, 120_000)]
    rows = told(spark, [], held, [])
    names = ("group_id", "error", "api", "answered_at", "member_id", "generation", "client_id", "evidence")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("g", "UNRELEASED_INSTANCE_ID", "ConsumerGroupHeartbeat", at, "i-9", 0, None, "broker_log")
        for at in (100_000, 120_000)
    ]
    asked = {**request(120_000), "error": "UNRELEASED_INSTANCE_ID", "api": "ConsumerGroupHeartbeat"}
    fenced = {**request(100_000), "member_id": "other"}
    rows = told(spark, [asked, fenced], held, [])
    assert [row["answered_at"] for row in rows if row["evidence"] == "broker_log"] == [100_000], "once, error by error"
    stays = [{**stay(), "group_type": "consumer", "group_instance_id": "i", "joined_at": 0, "ended_at": 130_000}]
    stays[0]["end_cause"] = "session_expired"
    tables = {"coordinator_events": held, "member_sessions": stays}
    frames = {spec: to_frame(spark, spec, tables.get(spec.name, [])) for spec in READ if spec.name != "client_events"}
    (found,) = to_rows(bursts(frames, GAP_MS, MIN_ERRORS, 900_000))
    assert (found["error_count"], found["evidence"]) == (2, "broker_log")
    assert found["suspected_cause"] == "unreleased_instance"
    assert "i was held by member i-1 of a on /h" in found["advice"]


def test_a_war_is_found_in_brokers_lines_alone(spark: SparkSession) -> None:
    """As the evidence of one that was played shows it, and as plain loops find it."""
    group = play("fencing_war", 3, 31)
    tables: dict[str, list[Any]] = {**tables_of(group, "lines"), "coordinator_events": group.world.paper.events}
    frames = {spec: to_frame(spark, spec, tables[spec.name]) for spec in READ if spec.name in tables}
    (found,) = to_rows(bursts(frames, LONGEST_GAP_MS, MIN_ERRORS, group.until))
    requests = pure.with_broker_refusals([], group.world.paper.events, tables["member_sessions"], LONGEST_GAP_MS)
    (foreseen,) = pure.bursts({**tables, "group_requests": requests}, LONGEST_GAP_MS, MIN_ERRORS, group.until)
    assert found == {name: foreseen[name] for name in ILLEGAL_GENERATION_BURSTS.columns} | {"evidence": "broker_log"}
    assert found["suspected_cause"] == "fencing_war"
