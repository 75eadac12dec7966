"""Which groups come out of a run of the replay with other rows than they had: what later steps look at."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemas.spark import struct_type
from schemas.tables.gold import ASSIGNMENTS, GENERATIONS
from tests.support.answers import answered
from transforms.given_rows import given
from transforms.gold.timelines import replacing

pytestmark = pytest.mark.spark

Row = dict[str, Any]

TAKEN_UNTIL = 100_000.0
LATER, BEFORE = (datetime.fromtimestamp(seconds, timezone.utc) for seconds in (500, 50))
NEW, OPEN = {"is_settled": True, "settled_at": LATER}, {"is_settled": False}
STARTING = "cluster STRING, group_id STRING, tells BOOLEAN, taken_until DOUBLE"


def generation(group_id: str, number: int = 7, **more: Any) -> Row:
    key = {"cluster": "c", "group_id": group_id, "life": 1, "generation": number}
    return {**key, "joined_member_ids": ["a"], "stable_at": BEFORE, **more}


def assignment(group_id: str, **more: Any) -> Row:
    key = {"cluster": "c", "group_id": group_id, "life": 1, "generation": 7, "member_id": "a"}
    return {**key, "topic": "orders", "partition": 0, **more}


def found(spark: SparkSession, groups: dict[str, bool], there: list[Row], come: list[Row], where: str) -> Any:
    """Ask of some groups, with whether their news tells of more, by rows of generations; all have one assignment."""
    held = [assignment(group, **OPEN) for group in groups]
    rows = {
        name: {
            GENERATIONS: given(spark, struct_type(GENERATIONS).toNullable(), generations),
            ASSIGNMENTS: given(spark, struct_type(ASSIGNMENTS).toNullable(), held),
        }
        for name, generations in (("there", there), ("come", come))
    }
    of_run = [
        {"cluster": "c", "group_id": group, "tells": tells, "taken_until": TAKEN_UNTIL}
        for group, tells in groups.items()
    ]
    starting = given(spark, STARTING, of_run)
    question = replacing.differing(starting, rows["come"], dict.fromkeys(rows["come"], where), "tells")
    return {row["group_id"] for row in answered(spark, question, rows["there"]).toArrow().to_pylist()}


def test_a_group_whose_open_rows_are_settled_by_now_is_as_it_was(spark: SparkSession) -> None:
    there = [generation("calm", **OPEN), generation("moved", **OPEN), generation("shrunk", **OPEN)]
    come = [generation("calm", **NEW), generation("moved", member_count=2, **NEW)]
    groups = {"calm": False, "moved": False, "shrunk": False}
    assert found(spark, groups, there, come, replacing.UNSETTLED) == {"moved", "shrunk"}


def test_a_group_whose_evidence_tells_of_more_is_looked_at_whatever_came_of_it(spark: SparkSession) -> None:
    there, come = [generation("told", **OPEN)], [generation("told", **NEW)]
    assert found(spark, {"told": True, "calm": False}, there, come, replacing.UNSETTLED) == {"told"}


def test_a_null_is_not_taken_for_that_of_another_column(spark: SparkSession) -> None:
    there = [generation("g", protocol="range", assignor=None, **OPEN)]
    come = [generation("g", protocol=None, assignor="range", **OPEN)]
    assert found(spark, {"g": False}, there, come, replacing.UNSETTLED) == {"g"}


def test_what_was_settled_before_stays_and_is_not_compared(spark: SparkSession) -> None:
    settled = {"is_settled": True, "settled_at": BEFORE}
    there = [generation("g", 6, **settled), generation("g", **OPEN), generation("other", 6, **OPEN)]
    assert found(spark, {"g": False}, there, [generation("g", **NEW)], replacing.EVERYTHING) == set()


def test_settled_rows_of_a_group_that_goes_back_are_compared(spark: SparkSession) -> None:
    odd = "it's {late} $x"
    there = [generation(odd, 6, **NEW), generation("g", 6, **NEW)]
    assert found(spark, {odd: False, "g": False}, there, [], replacing.condition([odd])) == {odd}
