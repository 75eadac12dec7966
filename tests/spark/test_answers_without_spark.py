"""What DuckDB answers in Spark's place, or leaves to it."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from jobs.lake.found_rows import MOST_ROWS, answer
from transforms.given_rows import given
from transforms.question import Question

pytestmark = pytest.mark.spark

NUMBER = T.StructType([T.StructField("number", T.LongType())])


@pytest.mark.parametrize("more", [0, 1, 2 * MOST_ROWS])
def test_an_answer_of_too_many_rows_is_left_to_spark(spark: SparkSession, more: int) -> None:
    """Also where a statement names what it reads several times: DuckDB waited for ever for a LIMIT above such a one."""
    numbers = given(spark, NUMBER, ({"number": number} for number in range(MOST_ROWS + more)))
    statement = "WITH told AS (SELECT number FROM {numbers}) SELECT * FROM told JOIN told AS twin USING (number)"
    found = answer(Question(statement, (), NUMBER, {"numbers": numbers}), {}, "c", None)
    assert (found is None) == (more > 0)
    assert found is None or sorted(found["number"].to_pylist()) == list(range(MOST_ROWS))
