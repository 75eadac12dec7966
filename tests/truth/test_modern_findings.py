"""What was done to consumer, share and streams groups of a real broker is what the findings say of them."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame

from schemas.kafka_errors import error_name
from schemas.table import TableSpec
from schemas.tables.silver import CLIENT_EVENTS
from schemas.words import FENCING_ERRORS, UNREVOKED
from tests.support.captures import MODERN, MODERN_CHAOTIC, MODERN_EARLIER
from tests.support.frames import to_frame, to_rows
from tests.support.searches import Way, bursts, by_duckdb, by_spark, storms
from tests.truth.checks_findings import GAP_MS, MIN_ERRORS, bursts_by_error
from tests.unit.findings import pure
from transforms.findings.sentences import times
from transforms.findings.storms.limits import StormLimits, Thresholds
from transforms.gold.illegal_generation_bursts import READ as READ_FOR_BURSTS
from transforms.gold.rebalance_storms import READ as READ_FOR_STORMS
from transforms.gold.slow_revokers import READ as READ_FOR_REVOKERS
from transforms.gold.slow_revokers import slow_revokers

Row = dict[str, Any]

THRESHOLDS = Thresholds(StormLimits(window_ms=60_000))

PLANTED = {
    "checkout-storm": ("flapping_member", "member_left", "checkout-storm-f"),
    "ship-crash": ("crash_loop", "session_expired", "ship-crash-loop-"),
    "etl-slow": ("slow_revoker", "rebalance_timeout", "etl-slow-stuck"),
}
"""Group to the pattern, the main trigger and the culprits' client ids: members that come and go; that die, each
followed by a new one; that give partitions up late, or never."""


def _told(folder: Path) -> list[Row]:
    with (folder / "truth.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", MODERN)
def test_every_planted_storm_has_its_pattern_cause_and_culprit(name: str, pure_tables: Any) -> None:
    found = {row["group_id"]: row for row in pure.storms(pure_tables(name), THRESHOLDS)}
    assert "billing-steady" not in found
    for group, (pattern, trigger, culprit) in PLANTED.items():
        row = found[group]
        assert (row["pattern"], row["main_trigger"]) == (pattern, trigger), group
        assert row["main_client_id"].startswith(culprit)
        assert row["partitions_moved"] >= row["partitions_moved_back"] > 0
        assert row["unowned_ms"] > 0


@pytest.mark.parametrize("name", MODERN)
def test_who_never_gave_partitions_up_was_fenced_as_often_as_its_application_lost_them(
    name: str, pure_tables: Any, capture_dir: Any
) -> None:
    lost = [line for line in _told(capture_dir(name)) if line["api"] == "_lost_partitions"]
    stuck = [line for line in lost if line["group"] == "etl-slow"]
    assert {line["name"] for line in stuck} == {"etl-slow-stuck"}
    storm = next(row for row in pure.storms(pure_tables(name), THRESHOLDS) if row["group_id"] == "etl-slow")
    assert f"etl-slow-stuck on /127.0.0.1 never gave them up and was fenced {times(len(stuck))}" in storm["advice"]


@pytest.mark.spark
@pytest.mark.parametrize("name", MODERN)
def test_who_gives_partitions_up_late_is_found_without_any_storm(
    name: str, pure_tables: Any, capture_dir: Any, spark: Any
) -> None:
    tables = pure_tables(name)
    frames = {spec: to_frame(spark, spec, tables[spec.name]) for spec in READ_FOR_REVOKERS}
    found = to_rows(slow_revokers(frames, 2_000))
    waits = [row for row in tables["reconciliations"] if row["state"] in UNREVOKED and row["to_at"] is not None]
    long = [row for row in waits if row["to_at"] - row["from_at"] >= 2_000]
    assert {(row["member_id"], row["started_at"], row["held_up_ms"]) for row in found} == {
        (row["member_id"], row["from_at"], row["to_at"] - row["from_at"]) for row in long
    }
    assert "etl-slow" in {row["group_id"] for row in found}
    lost = [line for line in _told(capture_dir(name)) if line["api"] == "_lost_partitions"]
    stuck = [row for row in found if row["client_id"] == "etl-slow-stuck"]
    assert len(stuck) == sum(line["name"] == "etl-slow-stuck" for line in lost)
    assert {row["end_cause"] for row in stuck} == {"rebalance_timeout"}
    assert all(row["waiting_member_ids"] and "was fenced for that" in row["advice"] for row in stuck)
    slow = [row for row in found if row["client_id"].startswith("etl-slow") and row not in stuck]
    assert {row["end_cause"] for row in slow} <= {None} and all(row["rebalance_timeout_ms"] for row in slow)


@pytest.mark.parametrize("name", MODERN)
def test_advice_names_no_setting_that_such_a_group_does_not_have(name: str, pure_tables: Any) -> None:
    tables = pure_tables(name)
    types = {row["group_id"]: row["group_type"] for row in tables["generations"]}
    storms = [row for row in pure.storms(tables, THRESHOLDS) if types[row["group_id"]] != "classic"]
    assert {types[row["group_id"]] for row in storms} == {"consumer", "share", "streams"}
    for row in storms:
        assert " session.timeout.ms" not in row["advice"], row["group_id"]
        if types[row["group_id"]] != "consumer":
            assert "A group.instance.id" not in row["advice"], row["group_id"]
    crash = next(row for row in storms if row["group_id"] == "ship-crash")
    assert "does not help against deaths" in crash["advice"]


@pytest.mark.parametrize("name", [*MODERN, *MODERN_CHAOTIC])
def test_bursts_are_those_that_the_clients_felt(name: str, pure_tables: Any, capture_dir: Any) -> None:
    felt: dict[tuple[str, str], list[float]] = defaultdict(list)
    for line in _told(capture_dir(name)):
        is_asked_of_the_coordinator = not line["api"].startswith("_") and line["api"] != "OffsetFetch"
        if is_asked_of_the_coordinator and line.get("error") and error_name(line["error"]) in FENCING_ERRORS:
            felt[line["group"], error_name(line["error"])].append(line["t1"] * 1000)
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in pure.bursts(pure_tables(name), GAP_MS, MIN_ERRORS):
        found[row["group_id"], row["error"]].append(row["error_count"])
    assert found == {key: [run.count for run in runs] for key, runs in bursts_by_error(felt).items()}
    assert {error for _, error in found} >= {
        "STALE_MEMBER_EPOCH",
        "FENCED_MEMBER_EPOCH",
        "UNKNOWN_MEMBER_ID",
        "UNRELEASED_INSTANCE_ID",
    }


HELD_BY = re.compile(r"instance id (\S+) cannot join the group because the instance id is owned by (\S+) member")
TOLD_HOLDER = re.compile(r"(\S+) was held by (?:member (\S+)|the same member)")


@pytest.mark.parametrize("name", [*MODERN, *MODERN_EARLIER, *MODERN_CHAOTIC])
def test_who_held_an_instance_is_who_the_broker_named_to_those_it_kept_out(
    name: str, pure_tables: Any, capture_dir: Any
) -> None:
    refused = [line for line in _told(capture_dir(name)) if line.get("error") == 111]
    found = [row for row in pure.bursts(pure_tables(name), GAP_MS, MIN_ERRORS) if row["error"] == error_name(111)]
    assert sum(row["error_count"] for row in found) == len(refused)
    for row in found:
        near = (row["started_at"] - 500, row["ended_at"] + 500)
        mine = [line for line in refused if line["group"] == row["group_id"]]
        mine = [line for line in mine if near[0] <= line["t1"] * 1000 <= near[1]]
        named = {HELD_BY.search(line["error_message"]).groups() for line in mine}
        told = {(instance, member) for instance, member in TOLD_HOLDER.findall(row["advice"])}
        assert {pair for pair in told if pair[1]} <= named
        assert {instance for instance, _ in told} == {instance for instance, _ in named}


@pytest.mark.parametrize("name", [*MODERN, *MODERN_EARLIER])
def test_who_comes_back_after_a_crash_is_told_that_nobody_gave_the_instance_back(
    name: str, pure_tables: Any, capture_dir: Any
) -> None:
    crashed = {line["member"] for line in _told(capture_dir(name)) if line["api"] == "_end" and line["how"] == "crash"}
    (row,) = (r for r in pure.bursts(pure_tables(name), GAP_MS, MIN_ERRORS) if r["error"] == error_name(111))
    assert row["suspected_cause"] == "unreleased_instance"
    (_, first), *_ = TOLD_HOLDER.findall(row["advice"])
    assert first in crashed
    assert f"member {first} of " in row["advice"] and "until its session ended at" in row["advice"]


@pytest.mark.parametrize("name", MODERN)
def test_who_goes_on_under_an_old_epoch_is_a_zombie(name: str, pure_tables: Any) -> None:
    found = pure.bursts(pure_tables(name), GAP_MS, MIN_ERRORS)
    assert {row["group_id"] for row in found if row["error"] != error_name(111)} == {"fraud-zombie"}
    longest = max((row for row in found if row["error"] == "STALE_MEMBER_EPOCH"), key=lambda row: row["error_count"])
    fenced = [row for row in found if row["error"] == "FENCED_MEMBER_EPOCH"]
    assert {row["suspected_cause"] for row in (longest, *fenced)} == {"zombie"}
    assert longest["lost_commit_count"] >= longest["error_count"]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("way", [by_spark, by_duckdb])
@pytest.mark.parametrize("name", [*MODERN, *(pytest.param(name, marks=pytest.mark.long) for name in MODERN_CHAOTIC)])
def test_statements_find_and_judge_the_same(name: str, way: Way, pure_tables: Any, spark: Any) -> None:
    """What they pick for each finding is enough: fewer requests, and no assignment that lies outside its time."""
    tables = dict(pure_tables(name))
    tables["group_requests"] = [{**row, "error": error_name(row["error_code"])} for row in tables["group_requests"]]

    def frames(read: Iterable[TableSpec]) -> dict[TableSpec, DataFrame]:
        return {spec: to_frame(spark, spec, tables[spec.name]) for spec in read if spec is not CLIENT_EVENTS}

    of_storms = to_rows(storms(frames(READ_FOR_STORMS), THRESHOLDS, way=way))
    of_bursts = to_rows(bursts(frames(READ_FOR_BURSTS), GAP_MS, MIN_ERRORS, way=way))
    for found, expected in (
        (of_storms, pure.storms(tables, THRESHOLDS)),
        (of_bursts, pure.bursts(tables, GAP_MS, MIN_ERRORS)),
    ):
        ours, theirs = (
            sorted(map(_rounded, rows), key=lambda row: (row["group_id"], str(row.get("error")), row["started_at"]))
            for rows in (found, expected)
        )
        assert ours == theirs


def _rounded(row: Row) -> Row:
    """Moments as Spark has them, in whole microseconds."""
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()}


@pytest.mark.parametrize("name", [*MODERN, "modern-4.1.1"])
def test_settings_of_groups_are_those_that_an_administrator_gave_them(
    name: str, pure_tables: Any, capture_dir: Any
) -> None:
    given = {line["group"]: line["config"] for line in _told(capture_dir(name)) if line["api"] == "_group_config"}
    printed = [row for row in pure_tables(name)["coordinator_events"] if row["event"] == "group_settings"]
    assert {row["attributes"]["group_id"]: {**row["attributes"]} for row in printed} == {
        group: {"group_id": group, **config} for group, config in given.items()
    }
    assert len(given) > 2 and {row["group_id"] for row in printed} == {None}


@pytest.mark.parametrize("name", [*MODERN, *MODERN_EARLIER, *MODERN_CHAOTIC])
def test_without_a_request_log_it_is_never_said_of_the_living_that_they_were_dead_nor_the_other_way(
    name: str, pure_tables: Any
) -> None:
    """What a holder was granted since tells most; else the session timeout does, which these brokers printed."""
    tables = pure_tables(name)
    lines_alone = [row for row in tables["group_requests"] if error_name(row["error_code"]) == "UNRELEASED_INSTANCE_ID"]
    known, told = (
        {
            (row["group_id"], row["started_at"]): row["suspected_cause"]
            for row in pure.bursts({**tables, "group_requests": requests}, GAP_MS, MIN_ERRORS)
            if row["error"] == "UNRELEASED_INSTANCE_ID"
        }
        for requests in (tables["group_requests"], lines_alone)
    )
    assert known.keys() == told.keys() and known
    assert all(cause in (known[burst], "unknown") for burst, cause in told.items())
    assert "unknown" not in known.values()
