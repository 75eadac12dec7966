"""The replay by example through Spark: the same histories, all in one job, each in a cluster of its own name."""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from schemas.catalog import BY_NAME
from schemas.tables.gold import COORDINATORS, REPLAY_SNAPSHOTS, REPLAYED
from tests.support.answers import answered
from tests.support.drawn_history import PARTITION_COUNT
from tests.support.frames import to_frame, to_rows
from tests.unit.coordinator.golden import Case, cases, judged
from transforms.gold.timelines.columns import table_of
from transforms.gold.timelines.gathering import Reach, Run
from transforms.gold.timelines.kernel import Replay, replayed
from transforms.gold.timelines.plan import INPUTS, Plan
from transforms.question import Question

pytestmark = pytest.mark.spark

Row = dict[str, Any]
Tables = dict[str, list[Row]]


@pytest.fixture(scope="module")
def gold(spark: SparkSession) -> dict[str, Tables]:
    """Gold tables of all cases, by case."""
    silver: dict[str, list[Row]] = defaultdict(list)
    for case in cases():
        for table, rows in case.history.silver.items():
            silver[table] += [{**row, "cluster": case.name} for row in rows]
    frames = {spec: to_frame(spark, spec, silver.get(spec.name, [])) for spec in INPUTS}
    frames |= {spec: to_frame(spark, spec, []) for spec in (REPLAY_SNAPSHOTS, COORDINATORS)}

    def answer(question: Question) -> DataFrame:
        return answered(spark, question, {spec: frames[spec] for spec in question.read})

    plan = Plan(answer, Reach(), PARTITION_COUNT)
    starting = plan.starting()
    evidence = answer(plan.evidence(Run(starting, plan.homes(starting))))
    found = replayed(evidence, Replay(inf, PARTITION_COUNT), partitions=2).cache()
    drawn = {table for case in cases() for table in case.expected.tables} | {"replay_audit"}
    tables: dict[str, Tables] = defaultdict(lambda: {spec.name: [] for spec in REPLAYED})
    for table in sorted(drawn):
        for row in to_rows(table_of(found, BY_NAME[table])):
            tables[row["cluster"]][table].append(row)
    found.unpersist()
    return tables


@pytest.mark.parametrize("case", judged())
def test_a_drawn_history_is_replayed_in_spark_as_drawn(gold: dict[str, Tables], case: Case) -> None:
    case.compare(gold[case.name])
