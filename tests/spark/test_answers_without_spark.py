"""What DuckDB answers in Spark's place, or leaves to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from jobs.lake import answers
from jobs.lake.answers import answer, answer_apart
from jobs.lake.duckdb_files import part_in
from jobs.lake.found_rows import MOST_ROWS
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


@pytest.mark.parametrize("count", [0, 3, MOST_ROWS, 2 * MOST_ROWS])
def test_an_answer_of_many_rows_is_put_into_a_file_if_there_is_a_folder(
    spark: SparkSession, tmp_path: Path, count: int
) -> None:
    numbers = given(spark, NUMBER, ({"number": number} for number in range(count)))
    found = answer(Question("SELECT * FROM {numbers}", (), NUMBER, {"numbers": numbers}), {}, "c", None, tmp_path)
    assert isinstance(found, str) == (count > MOST_ROWS)
    rows = parquet.read_table(found) if isinstance(found, str) else found
    assert sorted(rows["number"].to_pylist()) == list(range(count))


def test_an_answer_is_put_apart_group_by_group(spark: SparkSession, tmp_path: Path) -> None:
    """What is of no group is of all parts; there are more rows than wait to be written, and a part may have none."""
    kind = T.StructType().add("group_id", "string").add("number", "long")
    groups = ["a", "b%", "it's", None]
    rows = [{"group_id": groups[number % 4], "number": number} for number in range(40_000)]
    question = Question("SELECT * FROM {numbers}", (), kind, {"numbers": given(spark, kind, rows)})
    place = answer_apart(question, {}, "c", "group_id", 5, tmp_path)
    assert place is not None
    parts = [
        [row for file in part_in(place, number) for row in parquet.ParquetFile(file).read().to_pylist()]
        for number in range(5)
    ]
    homes = [
        {number for number, part in enumerate(parts) if any(row["group_id"] == name for row in part)} for name in groups
    ]
    assert [len(home) for home in homes] == [1, 1, 1, 5]
    found = [row["number"] for part in parts for row in part if row["group_id"] is not None]
    assert sorted(found) == [row["number"] for row in rows if row["group_id"] is not None]
    assert all(sum(row["group_id"] is None for row in part) == 10_000 for part in parts)


def test_what_cannot_be_put_apart_is_left_to_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "_FITS_INTO_MEMORY", -1)
    monkeypatch.setattr(answers, "_MOST_MEMORY", "1MB")
    numbers = given(spark, NUMBER, ({"number": number} for number in range(MOST_ROWS)))
    question = Question("SELECT * FROM {numbers}", (), NUMBER, {"numbers": numbers})
    assert answer_apart(question, {}, "c", "number", 5, tmp_path) is None


def test_an_answer_that_takes_too_much_memory_is_left_to_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "_FITS_INTO_MEMORY", -1)
    numbers = given(spark, NUMBER, ({"number": number} for number in range(MOST_ROWS)))
    question = Question(
        "SELECT sum(size(listed)) AS number FROM ("
        "SELECT collect_list(number) AS listed FROM {numbers} GROUP BY number % 2)",
        (),
        NUMBER,
        {"numbers": numbers},
    )
    held = answer(question, {}, "c", None, tmp_path)
    assert held is not None and held["number"].to_pylist() == [MOST_ROWS]
    monkeypatch.setattr(answers, "_MOST_MEMORY", "1MB")
    assert answer(question, {}, "c", None, tmp_path) is None
