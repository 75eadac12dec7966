"""What is done with rows that the driver has comes to the same as what Spark does with rows of its own."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from transforms.given_rows import given, marked, rows_held, selected, together

pytestmark = pytest.mark.spark

KIND = "name STRING NOT NULL, at TIMESTAMP, told STRUCT<many: ARRAY<INT>, of: MAP<STRING, STRING>>"
ROWS: list[dict[str, Any]] = [
    {"name": "a", "told": {"many": [1, None], "of": {"k": "v"}}},
    {"name": "b", "told": None},
    {"name": "c", "told": {"many": None, "of": {}}},
]


@pytest.fixture(params=[True, False], ids=["held", "Spark's"])
def are_held(request: pytest.FixtureRequest) -> bool:
    """Whether the driver has the rows; else a query has to be asked for them."""
    return bool(request.param)


def _frame(spark: SparkSession, rows: list[dict[str, Any]], are_held: bool) -> DataFrame:
    frame = given(spark, KIND, rows)
    return frame if are_held else frame.where("name IS NOT NULL")


def _told(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(map(str, row)) for row in frame.collect())


def test_a_column_is_laid_beside_rows(spark: Any, are_held: bool) -> None:
    rows = marked(_frame(spark, ROWS, are_held), "is_known", True)
    assert (rows_held(rows) is not None) == are_held
    assert rows.columns == ["name", "at", "told", "is_known"]
    assert rows.where("is_known").select("name", "told.many").collect() == [("a", [1, None]), ("b", None), ("c", None)]


def test_columns_are_chosen_in_their_order(spark: Any, are_held: bool) -> None:
    rows = selected(_frame(spark, ROWS, are_held), ["told", "name"])
    assert (rows_held(rows) is not None) == are_held
    assert [row.name for row in rows.where("told IS NOT NULL").collect()] == ["a", "c"]
    assert rows.columns == ["told", "name"]


@pytest.mark.parametrize("others", [ROWS[:1], []], ids=["some", "none"])
def test_rows_are_put_together_by_the_names_of_their_columns(
    spark: Any, are_held: bool, others: list[dict[str, Any]]
) -> None:
    first, second = _frame(spark, ROWS, are_held), _frame(spark, others, True)
    expected = _told(first.unionByName(second))
    turned = selected(second, ["told", "at", "name"])
    assert _told(together(first, turned)) == expected
    assert _told(together(turned, first).select(*first.columns)) == expected
    assert (rows_held(together(first, turned)) is not None) == are_held


def test_spark_is_told_of_rows_when_something_is_built_on_them(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    create = SparkSession.createDataFrame

    def counted(session: SparkSession, *given: Any) -> DataFrame:
        made.append(given)
        return create(session, *given)

    monkeypatch.setattr(SparkSession, "createDataFrame", counted)
    rows = given(spark, KIND, ROWS)
    assert rows.schema.names == ["name", "at", "told"]
    both = together(marked(rows, "is_known", False), marked(selected(rows, ["told", "at", "name"]), "is_known", True))
    assert rows_held(both) is not None
    assert not made
    assert rows.count() == len(ROWS)
    assert rows.where("name = 'a'").count() == 1
    assert len(made) == 1
