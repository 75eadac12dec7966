"""A condition means its values as they are written, whatever groups are called."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

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
