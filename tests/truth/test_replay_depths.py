"""Less evidence says less, and never something else; the order in which it comes does not matter."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.captures import CAPTURES
from tests.support.pure_pipeline import evidence_by_group, read_silver, replay
from transforms.coordinator.replay import replay_group

Row = dict[str, Any]

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


@pytest.mark.parametrize("name", CAPTURES)
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


@pytest.mark.parametrize("name", CAPTURES)
def test_rows_may_come_in_any_order(name, silver_of):
    dice = random.Random(7)
    for group, evidence in sorted(evidence_by_group(silver_of(name)).items()):
        shuffled = tuple(dice.sample(rows, len(rows)) for rows in evidence)
        assert replay_group("demo", group, *shuffled, 50) == replay_group("demo", group, *evidence, 50)
