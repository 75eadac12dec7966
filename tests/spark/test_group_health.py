"""How groups are now: drawn tables in, one row a group out."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from schemas.spark import struct_type
from schemas.tables.gold import GROUP_HEALTH
from tests.support.answers import answered
from tests.support.frames import to_frame, to_rows
from tests.support.group_health import HOUR, NOW, Row, commit, generation, health, reading, tables_of, transition
from transforms.gold.group_health import IS_AGEING, IS_TO_BE_LOOKED_AT, aged, group_health

pytestmark = pytest.mark.spark


def test_a_group_is_in_its_last_life_in_the_state_it_entered_last(spark: SparkSession) -> None:
    found = health(
        spark,
        transitions=[
            transition("shop", 9, NOW - 9 * HOUR, "Stable", life=1, generation=40),
            transition("shop", 1, NOW - 3 * HOUR, "PreparingRebalance", life=2, generation=0),
            transition("shop", 2, NOW - 2 * HOUR, "Stable", life=2, generation=1),
        ],
        member_sessions=[
            {"group_id": "shop", "life": 1, "member_id": "old"},
            {"group_id": "shop", "life": 2, "member_id": "gone", "ended_at": NOW - HOUR, "end_cause": "left"},
            {"group_id": "shop", "life": 2, "member_id": "here"},
        ],
    )
    row = found["shop"]
    assert (row["life"], row["state"], row["generation"], row["member_count"]) == (2, "Stable", 1, 1)
    assert (row["at"], row["entered_at"], row["group_type"]) == (NOW, NOW - 2 * HOUR, "classic")


def test_a_rebalance_counts_in_each_window_it_lies_in_and_time_is_cut_at_the_window(spark: SparkSession) -> None:
    """Two rebalances: one began 90 minutes ago and took an hour; one began a minute ago and is under way. Of one before
    the data begin nothing is known.
    """
    found = health(
        spark,
        transitions=[
            transition("shop", 0, None, "PreparingRebalance"),
            transition("shop", 1, NOW - 10 * 24 * HOUR, "Stable"),
            transition("shop", 2, NOW - 1.5 * HOUR, "PreparingRebalance"),
            transition("shop", 3, NOW - 1.0 * HOUR, "CompletingRebalance"),
            transition("shop", 4, NOW - 0.5 * HOUR, "Stable"),
            transition("shop", 5, NOW - 60_000, "PreparingRebalance"),
        ],
        generations=[
            generation("shop", 1, NOW - 10 * 24 * HOUR),
            generation("shop", 2, NOW - 1.5 * HOUR),
            generation("shop", 3, NOW - 60_000),
            generation("shop", 4, None),
            generation("shop", 5, None, stable_at=NOW - HOUR / 2, trigger="coordinator_failover"),
        ],
    )
    row = found["shop"]
    assert [row[f"{name}_rebalance_count"] for name in ("hour", "day", "week")] == [1, 2, 2]
    assert [row[f"{name}_unstable_ms"] for name in ("hour", "day", "week")] == [
        HOUR // 2 + 60_000,
        HOUR + 60_000,
        HOUR + 60_000,
    ]
    assert row["last_rebalance_at"] == NOW - 60_000


def test_what_nobody_has_now_is_counted_and_what_somebody_has_again_is_not(spark: SparkSession) -> None:
    def orphan(group: str, partition: int, begin: float, end: float | None) -> Row:
        known = {"group_id": group, "topic": "t", "partition": partition, "from_at": begin, "to_at": end}
        return {**known, "group_type": "consumer", "generation": 3, "member_id": "m"}

    found = health(
        spark,
        transitions=[transition(name, 1, NOW - HOUR, "Stable") for name in ("shop", "mended", "calm")],
        orphaned_partitions=[
            orphan("shop", 0, NOW - 900, NOW - 600),
            orphan("shop", 0, NOW - 300, None),
            orphan("shop", 1, NOW - 500, None),
            orphan("mended", 0, NOW - 900, NOW - 600),
        ],
    )
    told = {name: (row["orphaned_partition_count"], row["orphaned_since"]) for name, row in found.items()}
    assert told == {"shop": (2, NOW - 500), "mended": (0, None), "calm": (0, None)}


def test_the_last_storm_and_the_last_burst_stand_beside_it(spark: SparkSession) -> None:
    storm = {"group_id": "shop", "pattern": "crash_loop", "is_open": False}
    found = health(
        spark,
        transitions=[transition("shop", 1, NOW - HOUR, "Stable"), transition("calm", 1, NOW - HOUR, "Stable")],
        rebalance_storms=[
            {**storm, "started_at": NOW - 9 * HOUR, "ended_at": NOW - 8 * HOUR},
            {**storm, "started_at": NOW - 2 * HOUR, "ended_at": NOW, "pattern": "scaling", "is_open": True},
        ],
        illegal_generation_bursts=[
            {"group_id": "shop", "error": error, "started_at": at, "ended_at": at + 5, "suspected_cause": cause}
            for error, at, cause in (("UNKNOWN_MEMBER_ID", NOW - 7, "zombie"), ("ILLEGAL_GENERATION", NOW - 9, "x"))
        ],
    )
    shop, calm = found["shop"], found["calm"]
    assert (shop["last_storm_pattern"], shop["last_storm_started_at"], shop["last_storm_ended_at"]) == (
        "scaling",
        NOW - 2 * HOUR,
        NOW,
    )
    assert shop["is_last_storm_open"] is True
    assert (shop["last_burst_error"], shop["last_burst_cause"]) == ("UNKNOWN_MEMBER_ID", "zombie")
    assert (calm["last_storm_started_at"], calm["last_burst_error"], calm["is_last_storm_open"]) == (None, None, None)


def test_of_groups_without_news_time_alone_is_looked_at(spark: SparkSession) -> None:
    """They are a day older, and as if all of them had been looked at."""
    later = NOW + 24 * HOUR
    tables = tables_of(
        spark,
        transitions=[
            transition("busy", 1, NOW - 2 * HOUR, "PreparingRebalance"),
            transition("busy", 2, NOW - HOUR, "Stable"),
            transition("stuck", 1, NOW - HOUR, "PreparingRebalance"),
            transition("resting", 1, NOW - 800 * HOUR, "Stable"),
        ],
        generations=[generation("busy", 1, NOW - 2 * HOUR), generation("resting", 1, NOW - 800 * HOUR)],
        offset_commits=[commit("resting", NOW - HOUR - n) for n in range(4)],
    )
    tables[GROUP_HEALTH] = answered(spark, group_health(NOW), reading(tables, group_health(NOW)))
    ageing = tables[GROUP_HEALTH].where(IS_AGEING)
    assert sorted(row.group_id for row in ageing.collect()) == ["busy", "stuck"]
    assert ageing.where(IS_TO_BE_LOOKED_AT).collect() == []
    found = to_rows(answered(spark, aged(later), reading(tables, aged(later))))
    whole = to_rows(answered(spark, group_health(later), reading(tables, group_health(later))))
    assert sorted(map(repr, found)) == sorted(map(repr, whole))
    assert {row["group_id"]: (row["day_rebalance_count"], row["day_unstable_ms"]) for row in found} == {
        "busy": (0, 0),
        "stuck": (0, 24 * HOUR),
        "resting": (0, 0),
    }


def test_the_rows_are_those_of_the_contract_whatever_there_is(spark: SparkSession) -> None:
    for now in (None, NOW):
        nothing = {spec: to_frame(spark, spec, []) for spec in group_health(now).read}
        frame = answered(spark, group_health(now), nothing)
        assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
            (field.name, field.dataType.simpleString()) for field in struct_type(GROUP_HEALTH)
        ]
        assert frame.collect() == []
