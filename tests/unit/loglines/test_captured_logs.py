"""The logs of real brokers, against the clients' own record of what they were answered."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.captures import CALM, CHAOTIC, OLD
from transforms.loglines.entries.entries import entries
from transforms.loglines.parse import parse_entry

NAMES = (*CALM, *CHAOTIC, *OLD)
RAW_APIS = ("JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit", "LeaveGroup")

GREP = {
    "preparing_rebalance": "Preparing to rebalance group ",
    "stabilized": "Stabilized group ",
    "assignment_received": "Assignment received from leader ",
    "group_empty": " is now empty",
    "member_failed": "has failed, removing it from the group",
    "pending_member_expired": "has been removed after session timeout expiration",
    "members_not_rejoined": "removed dynamic members who haven't joined",
    "members_not_synced": "removed members who haven't sent their sync request",
    "static_member_replaced": "Replacing previously mapped member|rejoins, assigning new member id",
    "member_fenced": "for static member with groupInstanceId=|is identified as a known static member",
    "leader_replaced": r"Group leader \[",
    "coordinator_elected": "Elected as the group coordinator",
    "coordinator_resigned": "Resigned as the group coordinator",
    "broker_settings": "INFO KafkaConfig values:",
    "broker_version": r"INFO Kafka version ?: |java\.class\.path=\S+/kafka_",
}
"""Event to a pattern of a text that only its lines hold."""

Rows = dict[str, list[Any]]


@cache
def rows_of(folder: Path) -> Rows:
    found: Rows = {"coordinator_events": [], "group_requests": [], "rejected": []}
    for name in ("server.log", "kafka-request.log"):
        with (folder / "broker_logs" / name).open(encoding="utf-8", newline="\n") as lines:
            for entry in entries(lines):
                for fact in parse_entry(entry.text, entry.logged_at):
                    found[fact.table].append(fact)
    return found


@pytest.fixture(params=NAMES)
def folder(request: pytest.FixtureRequest, capture_dir: Callable[[str], Path]) -> Path:
    return capture_dir(request.param)


def test_nothing_is_rejected_or_unrecognised(folder: Path) -> None:
    rows = rows_of(folder)
    assert rows["rejected"] == []
    assert [row.attributes for row in rows["coordinator_events"] if row.event == "unrecognised"] == []


def test_events_are_as_many_as_their_lines(folder: Path) -> None:
    text = (folder / "broker_logs" / "server.log").read_text(encoding="utf-8")
    counted = Counter(row.event for row in rows_of(folder)["coordinator_events"])
    assert {event: counted[event] for event in GREP} == {
        event: len(re.findall(pattern, text)) for event, pattern in GREP.items()
    }


def test_every_rebalance_has_a_trigger_and_a_partition(folder: Path) -> None:
    preparing = [row for row in rows_of(folder)["coordinator_events"] if row.event == "preparing_rebalance"]
    assert preparing
    for row in preparing:
        assert row.attributes["trigger"] != "unknown", row
        # An administrator's leave names nobody: the Java coordinator lists members, that up to 2.8 has an empty id.
        assert row.member_id or "for () members" in row.reason or "member  on LeaveGroup" in row.reason, row
        assert row.topic_partition_of_group is not None
        assert row.generation >= 0


def test_requests_are_as_many_as_the_clients_counted(folder: Path) -> None:
    told: Counter[tuple[str, str, int]] = Counter()
    for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        noted = json.loads(line)
        if noted["api"] in RAW_APIS:
            told[noted["group"], noted["api"], noted["error"]] += 1
    groups = {group for group, _, _ in told}
    logged = Counter(
        (row.group_id, row.api, row.error_code)
        for row in rows_of(folder)["group_requests"]
        if row.group_id in groups and row.api in RAW_APIS
    )
    assert logged == told


def test_a_request_was_received_before_it_was_handled_and_answered(folder: Path) -> None:
    for row in rows_of(folder)["group_requests"]:
        assert row.received_at <= row.handled_at <= row.answered_at
        assert row.client_host == "/127.0.0.1"


@pytest.mark.parametrize(("name", "size"), [("chaos-4.2.0", "3"), ("kafka-3.9.1", "2147483647")])
def test_the_brokers_settings_are_found(capture_dir: Callable[[str], Path], name: str, size: str) -> None:
    settings = [row for row in rows_of(capture_dir(name))["coordinator_events"] if row.event == "broker_settings"]
    assert {row.attributes["group.max.size"] for row in settings} == {size}
    assert {row.attributes["group.initial.rebalance.delay.ms"] for row in settings} == {"3000"}
