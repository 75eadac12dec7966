"""A condition means its values as they are written, whatever groups are called."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from transforms.findings.storms.group_patterns import fits, for_java
from transforms.sql import among, literal

pytestmark = pytest.mark.spark

NAMES = [
    "orders",
    "it's",
    'a"b',
    "back\\slash",
    "\\u0024",
    "${env:HOME}",
    "${spark.app.name}",
    "$",
    "%_",
    "zwei\nZeilen",
    "",
]


def test_a_name_is_found_by_itself_and_by_nothing_else(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(name,) for name in NAMES], "group_id STRING")
    for name in NAMES:
        assert [row.group_id for row in rows.where(among("group_id", [name])).collect()] == [name]
    assert rows.where(among("group_id", NAMES)).count() == len(NAMES)
    assert not rows.where(among("group_id", [])).count()


def test_a_text_is_what_it_was(spark: SparkSession) -> None:
    written = [F.expr(literal(name)).alias(f"_{place}") for place, name in enumerate(NAMES)]
    assert list(spark.range(1).select(*written).collect()[0]) == NAMES


def test_numbers_are_not_quoted(spark: SparkSession) -> None:
    assert [row.id for row in spark.range(5).where(among("id", [1, 3, 9])).collect()] == [1, 3]


def test_a_pattern_of_groups_means_the_same_to_spark(spark: SparkSession) -> None:
    patterns = [
        "*",
        "*-etl-*-x",
        "a.b",
        "[a-c]*",
        "[!a]?",
        "[]x]",
        "[&&a]",
        "[[a]",
        "zwei*",
        "ü*",
        "\\*",
        "$*",
        "[z-a]",
        "[",
    ]
    names = [*NAMES, "a-etl-b-x", "axb", "a.b", "ü", "]", "&", "[", "orders\n", "a\\"]
    rows = spark.createDataFrame([(name,) for name in names], "group_id STRING")
    for pattern in patterns:
        found = {row.group_id for row in rows.where(F.col("group_id").rlike(for_java(pattern))).collect()}
        assert found == {name for name in names if fits(pattern, name)}, pattern
