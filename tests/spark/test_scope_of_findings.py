"""Where in a group's history findings are looked for anew, and since when what else belongs to them is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import inf
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import ILLEGAL_GENERATION_BURSTS, REBALANCE_STORMS
from tests.support.answers import answered
from tests.support.frames import EPOCH
from transforms.given_rows import given
from transforms.gold.findings.cuts import NEWS, cuts
from transforms.gold.findings.ending import ended
from transforms.gold.findings.scope import Scope, scope_of
from transforms.gold.findings.search import reaching
from transforms.question import Question

pytestmark = pytest.mark.spark

REACH_MS = 1_000
_FOUND = ("cluster", "group_id", "started_at", "ended_at", "is_open", "open_until")

Found = Mapping[TableSpec, Sequence[tuple[Any, ...]]]


def sought(
    spark: SparkSession, news: Sequence[tuple[Any, ...]], found: Found, seen_until: float | None = None
) -> list[Row]:
    """The groups of a run with such news, given what was found before."""
    rows = given(spark, NEWS, (dict(zip(NEWS.names, row, strict=True)) for row in news))
    question = cuts([Question("SELECT * FROM {news}", (), NEWS, {"news": rows})], [*found], REACH_MS, seen_until)
    frames = {spec: given(spark, struct_type(spec).toNullable(), map(_row, rows)) for spec, rows in found.items()}
    return answered(spark, question, frames).collect()


def _row(values: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(_FOUND, values, strict=False))


def at(ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)


def test_a_finding_that_is_open_moves_the_cut_and_makes_nothing_new(spark: SparkSession) -> None:
    news = [
        ("c", "calm", 50_000.0, False),
        ("c", "stormy", 50_000.0, False),
        ("c", "whole", None, False),
        ("c", "touched", 50_000.0, False),
    ]
    found = [
        ("c", "stormy", at(20_000), at(30_000), True),
        ("c", "quiet", at(10_000), at(11_000), True),
        ("c", "touched", at(45_000), at(49_500), False),
        ("c", "calm", at(1_000), at(2_000), False),
    ]
    rows = sought(spark, news, {ILLEGAL_GENERATION_BURSTS: found})
    assert {row.group_id: (row.since, row.cut and row.cut // 1000) for row in rows} == {
        "calm": (50_000.0, 49_000),
        "stormy": (50_000.0, 19_000),  # the storm may go on, but no older commit has changed
        "quiet": (inf, 9_000),
        "touched": (50_000.0, 45_000),
        "whole": (None, None),
    }


def test_a_storm_that_cannot_have_ended_yet_is_no_reason_to_look_again(spark: SparkSession) -> None:
    def looked_at(seen_until: float | None) -> dict[str, int]:
        rows = sought(spark, [("c", "news", 60_000.0, False)], found, seen_until)
        return {row.group_id: row.cut // 1000 for row in rows}

    storms = [
        ("c", "news", at(20_000), at(30_000), True, at(90_000)),
        ("c", "goes on", at(20_000), at(30_000), True, at(90_000)),
        ("c", "of an earlier release", at(20_000), at(30_000), True, None),
        ("c", "both", at(20_000), at(30_000), True, at(90_000)),
        ("c", "over", at(20_000), at(30_000), False, at(50_000)),
    ]
    bursts = [("c", "both", at(25_000), at(29_000), True)]
    found = {REBALANCE_STORMS: storms, ILLEGAL_GENERATION_BURSTS: bursts}
    early = {"news": 19_000, "of an earlier release": 19_000, "both": 19_000}
    assert looked_at(89_999.0) == early
    assert looked_at(90_000.0) == looked_at(None) == {**early, "goes on": 19_000}


def test_what_is_over_as_time_goes_by_is_not_found_anew_unless_it_is_not_known_since_when(spark: SparkSession) -> None:
    storms = [
        ("c", "over", at(20_000), at(30_000), True, at(80_000)),
        ("c", "commits", at(20_000), at(30_000), True, at(80_000)),
        ("c", "of an earlier release", at(20_000), at(30_000), True, None),
        ("c", "news", at(20_000), at(30_000), True, at(80_000)),
        ("c", "waits", at(20_000), at(30_000), True, at(80_000)),
        ("c", "fenced amid it", at(20_000), at(30_000), True, at(80_000)),
        ("c", "fenced long ago", at(20_000), at(30_000), True, at(80_000)),
    ]
    bursts = [
        ("c", "fenced long ago", at(25_000), at(29_000), False, at(32_000)),
        ("c", "waits", at(25_000), at(29_000), True, None),
        ("c", "fenced amid it", at(25_000), at(89_000), True, at(95_000)),
    ]
    news = [
        ("c", "fenced long ago", 90_000.0, True),
        ("c", "commits", 90_000.0, True),
        ("c", "fenced amid it", 90_000.0, True),
        ("c", "news", 90_000.0, False),
    ]
    rows = sought(spark, news, {REBALANCE_STORMS: storms, ILLEGAL_GENERATION_BURSTS: bursts}, 90_000.0)
    assert {row.group_id: row.has_more for row in rows} == {
        "over": False,
        "commits": False,
        "of an earlier release": True,
        "news": True,
        "waits": True,
        "fenced amid it": True,
        "fenced long ago": False,
    }


def test_what_is_over_as_time_goes_by_is_ended_and_nothing_else_of_it_changed(spark: SparkSession) -> None:
    storms = [
        ("c", "goes on", at(20_000), at(30_000), True, at(90_000)),
        ("c", "over", at(20_000), at(30_000), True, at(89_000)),
        ("c", "of an earlier release", at(20_000), at(30_000), True, None),
        ("c", "long over", at(20_000), at(30_000), False, at(50_000)),
    ]
    frames = {REBALANCE_STORMS: given(spark, struct_type(REBALANCE_STORMS).toNullable(), map(_row, storms))}
    (row,) = answered(spark, ended(REBALANCE_STORMS, 89_000.5), frames).toArrow().to_pylist()
    kept = ("cluster", "group_id", "started_at", "ended_at", "open_until")
    assert [row[name] for name in kept] == ["c", "over", at(20_000), at(30_000), at(89_000)]
    assert not row["is_open"]
    assert not answered(spark, ended(REBALANCE_STORMS, 89_000.0), frames).collect()


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
    rows = sought(spark, news, {ILLEGAL_GENERATION_BURSTS: found})
    assert {row.group_id for row in rows if not row.has_more} == {"commits", "was fenced long ago"}
    assert len(rows) == 8
