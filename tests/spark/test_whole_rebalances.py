"""Rebalances of several bumps: Spark joins and times them as the pure rule does, and sums them up for all groups."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemas.tables.gold import GENERATIONS, TRANSITIONS
from tests.support.frames import to_frame
from tests.unit.findings import pure
from tests.unit.findings.golden import complete
from transforms.findings.rebalances import lasted_ms
from transforms.findings.rebalances import whole_rebalances as whole_rebalances_of
from transforms.gold.rebalances import whole_rebalances
from transforms.gold.report import lines

pytestmark = pytest.mark.spark

Row = dict[str, Any]


def epoch(number: int, at: float | None, bump_count: int, **more: Any) -> Row:
    known = {"group_id": "orders", "group_type": "consumer", "generation": number, "preparing_at": at}
    return {**known, "trigger": "member_joined", "bump_count": bump_count, **more}


def classic(number: int, at: float | None, **more: Any) -> Row:
    return {"group_id": "shop", "generation": number, "preparing_at": at, "bump_count": 1, **more}


ROWS = [
    epoch(3, 500, 0, stable_at=700, rebalance_ms=200),  # part of a rebalance that began before the data
    epoch(4, 1000, 3, outcome="abandoned", partitions_moved=1),
    epoch(5, 2000, 0, completing_at=2100, outcome="abandoned", partitions_moved=2),
    epoch(6, 3000, 0, stable_at=9000, outcome="stable", rebalance_ms=6000),
    epoch(7, 20_000, 1, stable_at=20_500, outcome="stable", rebalance_ms=500),
    epoch(8, 30_000, 0, trigger="converted", stable_at=30_000, rebalance_ms=0),
    epoch(9, 40_000, 2),
    epoch(10, 41_000, 0),
    epoch(1, 50_000, 2, life=2),
    epoch(2, 51_000, 0, life=2, emptied_at=52_000, outcome="empty", rebalance_ms=1000),
    epoch(3, None, 2, life=2, trigger="coordinator_failover", stable_at=60_000),
    epoch(4, 61_000, 0, life=2, stable_at=62_000, outcome="stable", rebalance_ms=1000),
    classic(1, 0, stable_at=3000, rebalance_ms=3000, outcome="stable", partitions_moved=4),
    classic(2, None, completing_at=5000, stable_at=5100, outcome="stable"),
    classic(3, 9000, rebalance_ms=40, emptied_at=9040, outcome="empty"),
]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return [complete("generations", row) for row in ROWS]


def test_spark_joins_and_times_the_bumps_of_a_rebalance_as_the_pure_rule_does(
    spark: SparkSession, rows: list[Row]
) -> None:
    names = ("group_id", "life", "generation", "outcome", "lasted_ms", "partitions_moved")
    found = {
        tuple(row[name] for name in names) for row in whole_rebalances(to_frame(spark, GENERATIONS, rows)).collect()
    }
    by_group = [[row for row in rows if row["group_id"] == group_id] for group_id in ("orders", "shop")]
    whole = [
        each for of_group in by_group for each in whole_rebalances_of([pure.typed(r, "generations") for r in of_group])
    ]
    assert found == {
        (each.group_id, each.life, each.generation, each.outcome, lasted_ms(each), each.partitions_moved)
        for each in whole
    }
    assert ("orders", 1, 4, "stable", 8000, 3) in found


def test_the_list_of_all_groups_adds_up_whole_rebalances(spark: SparkSession, rows: list[Row]) -> None:
    asked = lines(to_frame(spark, GENERATIONS, rows), to_frame(spark, TRANSITIONS, []), 60_000)
    told = [json.loads(row["body"]) for row in asked.where("kind = 'line'").collect()]
    assert {row["group_id"]: row["unstable_ms"] for row in told} == {
        "orders": 8000 + 500 + 2000,
        "shop": 3000 + 40,
    }
