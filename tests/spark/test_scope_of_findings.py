"""Where in a group's history findings are looked for anew, and since when what else belongs to them is read."""

from __future__ import annotations

from datetime import timedelta
from math import inf

import pytest
from pyspark.sql import SparkSession

from tests.support.frames import EPOCH
from transforms.gold.findings.scope import Scope, cuts, scope_of
from transforms.gold.findings.search import reaching

pytestmark = pytest.mark.spark

REACH_MS = 1_000
_NEWS = "cluster STRING, group_id STRING, since DOUBLE, is_commit BOOLEAN"
_FOUND = "cluster STRING, group_id STRING, started_at TIMESTAMP, ended_at TIMESTAMP, is_open BOOLEAN"


def test_a_finding_that_is_open_moves_the_cut_and_makes_nothing_new(spark: SparkSession) -> None:
    def at(ms: int) -> object:
        return EPOCH + timedelta(milliseconds=ms)

    news = spark.createDataFrame(
        [
            ("c", "calm", 50_000.0, False),
            ("c", "stormy", 50_000.0, False),
            ("c", "whole", None, False),
            ("c", "touched", 50_000.0, False),
        ],
        _NEWS,
    )
    found = spark.createDataFrame(
        [
            ("c", "stormy", at(20_000), at(30_000), True),
            ("c", "quiet", at(10_000), at(11_000), True),
            ("c", "touched", at(45_000), at(49_500), False),
            ("c", "calm", at(1_000), at(2_000), False),
        ],
        _FOUND,
    )
    rows = {row.group_id: (row.since, row.cut and row.cut // 1000) for row in cuts(news, [found], REACH_MS).collect()}
    assert rows == {
        "calm": (50_000.0, 49_000),
        "stormy": (50_000.0, 19_000),  # the storm may go on, but no older commit has changed
        "quiet": (inf, 9_000),
        "touched": (50_000.0, 45_000),
        "whole": (None, None),
    }


def test_a_storm_that_cannot_have_ended_yet_is_no_reason_to_look_again(spark: SparkSession) -> None:
    def at(ms: int) -> object:
        return EPOCH + timedelta(milliseconds=ms)

    def sought(seen_until: float | None) -> dict[str, int]:
        rows = cuts(news, [storms, bursts], REACH_MS, seen_until).collect()
        return {row.group_id: row.cut // 1000 for row in rows}

    news = spark.createDataFrame([("c", "news", 60_000.0, False)], _NEWS)
    storms = spark.createDataFrame(
        [
            ("c", "news", at(20_000), at(30_000), True, at(90_000)),
            ("c", "goes on", at(20_000), at(30_000), True, at(90_000)),
            ("c", "of an earlier release", at(20_000), at(30_000), True, None),
            ("c", "both", at(20_000), at(30_000), True, at(90_000)),
            ("c", "over", at(20_000), at(30_000), False, at(50_000)),
        ],
        f"{_FOUND}, open_until TIMESTAMP",
    )
    bursts = spark.createDataFrame([("c", "both", at(25_000), at(29_000), True)], _FOUND)
    looked = {"news": 19_000, "of an earlier release": 19_000, "both": 19_000}
    assert sought(89_999.0) == looked
    assert sought(90_000.0) == sought(None) == {**looked, "goes on": 19_000}


def test_only_what_begins_behind_the_cuts_is_replaced(spark: SparkSession) -> None:
    rows = [{"group_id": "new", "since": None, "cut": None}, {"group_id": "old", "since": 9.0, "cut": 5_000}]
    groups = spark.createDataFrame(rows, "group_id STRING, since DOUBLE, cut BIGINT")
    late = "(started_at >= timestamp_micros(5000) OR group_id IN ('new'))"
    few = scope_of(groups, rows, REACH_MS, line=9.5, most_listed=2)
    assert few.condition("started_at") == f"group_id IN ('new', 'old') AND {late}"
    assert few.condition() == "group_id IN ('new', 'old')"
    assert few.old == ["new", "old"]
    many = Scope(groups, REACH_MS, cut_us=5_000, whole=["new"])
    assert (many.condition("started_at"), many.condition()) == (late, "")
    assert Scope(groups, REACH_MS, cut_us=5_000, whole=None).condition("started_at") == ""


def test_findings_that_lie_before_the_cut_are_not_judged_again(spark: SparkSession) -> None:
    groups = spark.createDataFrame(
        [("c", "cut", 9.0, 5_000), ("c", "whole", None, None)],
        "cluster STRING, group_id STRING, since DOUBLE, cut BIGINT",
    )
    rows = spark.createDataFrame(
        [
            ("c", group, finding, at)
            for group in ("cut", "whole")
            for finding, at in ((1, 3_000), (1, 4_999), (2, 5_000))
        ],
        "cluster STRING, group_id STRING, finding INT, at_us BIGINT",
    )
    reached = spark.sql(reaching("SELECT * FROM {rows}"), rows=rows, cuts=groups)
    found = sorted((row.group_id, row.finding, row.at_us) for row in reached.collect())
    assert found == [("cut", 2, 5_000), ("whole", 1, 3_000), ("whole", 1, 4_999), ("whole", 2, 5_000)]


def test_groups_that_only_commit_are_looked_at_for_their_offsets_alone_unless_a_finding_is_near(
    spark: SparkSession,
) -> None:
    def at(ms: int) -> object:
        return EPOCH + timedelta(milliseconds=ms)

    news = [
        ("c", "commits", 50_000.0, True),
        ("c", "commits and rebalances", 50_000.0, True),
        ("c", "commits and rebalances", 60_000.0, False),
        ("c", "commits of unknown time", None, True),
        ("c", "was fenced", 50_000.0, True),
        ("c", "was fenced long ago", 50_000.0, True),
        ("c", "commits amid a storm", 50_000.0, True),
        ("c", "rebalances", 50_000.0, False),
    ]
    found = [
        ("c", "was fenced", at(48_000), at(49_000), False),
        ("c", "was fenced long ago", at(48_000), at(48_999), False),
        ("c", "commits amid a storm", at(1_000), at(2_000), True),
        ("c", "goes on", at(1_000), at(2_000), True),
    ]
    rows = cuts(spark.createDataFrame(news, _NEWS), [spark.createDataFrame(found, _FOUND)], REACH_MS).collect()
    assert {row.group_id for row in rows if not row.has_more} == {"commits", "was fenced long ago"}
    assert len(rows) == 8
