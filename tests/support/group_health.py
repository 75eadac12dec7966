"""Tables drawn by a few rows, and how their groups are."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from schemas.table import TableSpec
from schemas.tables.gold import STANDING_COMMITS
from schemas.tables.silver import OFFSET_COMMITS
from tests.support.answers import answered
from tests.support.frames import to_frame, to_rows
from tests.support.searches import stand
from tests.unit.findings.golden import complete
from transforms.gold.group_health import group_health
from transforms.question import Question

Row = dict[str, Any]

HOUR = 3_600_000
NOW = 40.0 * 24 * HOUR
LINE = NOW - 1.0
"""What lies before it, commits stand for."""


def tables_of(spark: SparkSession, **rows: list[Row]) -> dict[TableSpec, DataFrame]:
    """Tables out of rows; each table's name is an argument. Commits are recorded in the order of their times."""
    commits = sorted(rows.get("offset_commits", []), key=lambda row: float(row["recorded_at"]))
    rows["offset_commits"] = [
        {**row, "topic_partition_of_record": 0, "record_offset": number} for number, row in enumerate(commits)
    ]

    def table(spec: TableSpec) -> DataFrame:
        return to_frame(spark, spec, [complete(spec.name, row) for row in rows.get(spec.name, [])])

    tables = {spec: table(spec) for spec in (*group_health(NOW).read, OFFSET_COMMITS)}
    return {**tables, STANDING_COMMITS: stand(tables, LINE)}


def health(spark: SparkSession, now: float | None = NOW, **rows: list[Row]) -> dict[str, Row]:
    """The rows of health by group: the same out of all commits as out of those that stand."""
    tables = tables_of(spark, **rows)
    by_all, by_standing = (
        to_rows(answered(spark, asked, reading(tables, asked)))
        for asked in (group_health(now, OFFSET_COMMITS), group_health(now))
    )
    assert sorted(map(repr, by_all)) == sorted(map(repr, by_standing))
    return {row["group_id"]: row for row in by_standing}


def transition(group: str, seq: int, at: float | None, state: str, life: int = 1, generation: int = 1) -> Row:
    return {"group_id": group, "life": life, "seq": seq, "at": at, "to_state": state, "generation": generation}


def generation(group: str, number: int, at: float | None, **more: Any) -> Row:
    return {"group_id": group, "generation": number, "preparing_at": at, **more}


def commit(group: str, at: float, partition: int = 0, **more: Any) -> Row:
    return {"group_id": group, "topic": "t", "partition": partition, "recorded_at": at, **more}


def reading(tables: dict[TableSpec, DataFrame], asked: Question) -> dict[TableSpec, DataFrame]:
    return {spec: tables[spec] for spec in asked.read}
