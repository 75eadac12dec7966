"""Less evidence says less, and never something else; the order in which it comes does not matter."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from schemas.catalog import BY_NAME
from tests.support.captures import CALM, CHAOTIC
from tests.support.pure_pipeline import evidence_by_group, read_silver, replay
from transforms.coordinator.replay import replay_group

Row = dict[str, Any]

PRINTED = (*CALM, *CHAOTIC, "chaos-2.8.2")
"""Without failovers: of the lives that these cut short, less evidence knows less."""

CAPTURES = (*PRINTED, "chaos-2.1.1")
"""Without 2.4.1: from 2.3 to 2.5 no record tells of a static member that came back within a generation."""

DEPTHS = {
    "records only": ("coordinator_events", "group_requests"),
    "records and lines": ("group_requests",),
    "lines only": ("group_requests", "group_metadata"),
    "lines and requests": ("group_metadata",),
}
"""What is taken away."""

LATE_BY_MS = 15
"""A request shows a moment this much off, a line a little; both only where the record is gone."""

TIMES = ("preparing_at", "completing_at", "stable_at", "emptied_at", "ended_at")
FACTS = (
    "outcome",
    "trigger_member_id",
    "leader_member_id",
    "protocol",
    "protocol_type",
    "member_count",
    "partitions_total",
    "joined_member_ids",
    "departed_member_ids",
    "is_subscription_changed",
)


def key(row: Row) -> tuple[Any, ...]:
    return row["group_id"], row["life"], row["generation"]


@pytest.fixture(scope="module")
def silver_of(capture_dir):
    return lambda name: read_silver(Path(capture_dir(name)))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", CAPTURES)
def test_what_less_evidence_still_says_is_what_all_of_it_says(name, depth, silver_of):
    silver = silver_of(name)
    full = {key(row): row for row in replay(silver)["generations"]}
    cut = replay({table: [] if table in DEPTHS[depth] else rows for table, rows in silver.items()})
    assert cut["generations"]
    for row in cut["generations"]:
        whole = full[key(row)]
        for name_ in FACTS:
            if row[name_] is not None and not (row["is_inferred"] and name_ == "trigger_member_id"):
                assert row[name_] == whole[name_], (key(row), name_)
        if row["trigger"] != "unknown" and not row["is_inferred"]:
            assert row["trigger"] == whole["trigger"], key(row)
        for name_ in TIMES:
            if row[name_] is not None and not row["is_inferred"]:
                assert abs(row[name_] - whole[name_]) <= LATE_BY_MS, (key(row), name_)


@pytest.mark.parametrize("name", CAPTURES)
def test_assignments_need_the_records_only(name, silver_of):
    silver = silver_of(name)
    cut = replay({**silver, "coordinator_events": [], "group_requests": []})
    owned = [
        {
            (*key(row), row["member_id"], row["topic"], row["partition"], row["valid_from"])
            for row in tables["assignments"]
        }
        for tables in (replay(silver), cut)
    ]
    assert owned[0] == owned[1] != set()


@pytest.mark.parametrize("name", PRINTED)  # up to 2.7 the request log does not print assignments
def test_where_compaction_took_the_records_the_request_log_has_the_assignments(name, silver_of):
    silver = silver_of(name)
    last = {row["group_id"]: row["record_offset"] for row in silver["group_metadata"]}
    compacted = [row for row in silver["group_metadata"] if last[row["group_id"]] == row["record_offset"]]
    assert 0 < len(compacted) < len(silver["group_metadata"])
    owned = [
        {(*key(row), row["member_id"], row["topic"], row["partition"]) for row in tables["assignments"]}
        for tables in (replay(silver), replay({**silver, "group_metadata": compacted}))
    ]
    assert owned[0] == owned[1] != set()


def _said(requests: list[Row]) -> list[Row]:
    """What the clients' own logs would have said of their requests, by clocks that are an hour off."""
    words = {"JoinGroup": "joined", "SyncGroup": "synced", "LeaveGroup": "leaving"}
    lines = []
    for number, row in enumerate(row for row in requests if row["api"] in words and not row["error_code"]):
        line = dict.fromkeys(BY_NAME["client_events"].columns)
        generation = row["answered_generation"] if row["api"] == "JoinGroup" else row["generation"]
        member_id = row["answered_member_id"] if row["api"] == "JoinGroup" else row["member_id"]
        place = {"source_file": row["client_id"], "line_number": number, "logged_at": row["answered_at"] + 3_600_000}
        named = {"group_id": row["group_id"], "generation": generation, "member_id": member_id}
        lines.append({**line, **place, **named, "event": words[row["api"]]})
    return lines


@pytest.mark.parametrize("name", CAPTURES)
def test_what_clients_say_is_laid_beside_and_contradicts_nothing(name, silver_of):
    silver = silver_of(name)
    without = replay(silver)
    heard = replay({**silver, "client_events": _said(silver["group_requests"])})
    told = {(*key(row), row["member_id"]): row["told_at"] for row in without["generation_members"]}
    witnessed = set()
    for row in heard.pop("client_timeline"):
        if row["event"] == "synced":
            assert told[(*key(row), row["member_id"])] == row["told_at"] is not None
            assert row["broker_state"] == "Stable"
        if row["event"] in ("joined", "synced"):
            witnessed.add(key(row))
    assert witnessed
    for row in heard["generations"]:
        assert (row["evidence"][-1:] == ["client_log"]) == (key(row) in witnessed)
        row["evidence"] = [source for source in row["evidence"] if source != "client_log"]
    assert heard == {table: rows for table, rows in without.items() if table != "client_timeline"}


@pytest.mark.parametrize("name", CAPTURES)
def test_rows_may_come_in_any_order(name, silver_of):
    dice = random.Random(7)
    for group, evidence in sorted(evidence_by_group(silver_of(name)).items()):
        shuffled = tuple(dice.sample(rows, len(rows)) for rows in evidence)
        assert replay_group("demo", group, *shuffled, 50) == replay_group("demo", group, *evidence, 50)
