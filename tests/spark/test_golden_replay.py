"""The replay by example through Spark: the same histories, all in one job, each in a cluster of its own name."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from pyspark.sql import SparkSession

from schemas.catalog import BY_NAME
from schemas.tables.gold import REPLAYED
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_METADATA, GROUP_REQUESTS, OFFSET_COMMITS
from tests.support.drawn_history import PARTITION_COUNT
from tests.support.frames import to_frame, to_rows
from tests.unit.coordinator.golden import Case, cases, judged
from transforms.gold.timelines import rebuild, table_of

pytestmark = pytest.mark.spark

Row = dict[str, Any]
Tables = dict[str, list[Row]]


@pytest.fixture(scope="module")
def replayed(spark: SparkSession) -> dict[str, Tables]:
    """Gold tables of all cases, by case."""
    silver: dict[str, list[Row]] = defaultdict(list)
    for case in cases():
        for table, rows in case.history.silver.items():
            silver[table] += [{**row, "cluster": case.name} for row in rows]
    order = (GROUP_METADATA, OFFSET_COMMITS, COORDINATOR_EVENTS, GROUP_REQUESTS, CLIENT_EVENTS)
    frames = [to_frame(spark, spec, silver[spec.name]) for spec in order]
    found = rebuild(*frames, buckets=None, partition_count=PARTITION_COUNT).cache()
    drawn = {table for case in cases() for table in case.expected.tables} | {"replay_audit"}
    tables: dict[str, Tables] = defaultdict(lambda: {spec.name: [] for spec in REPLAYED})
    for table in sorted(drawn):
        for row in to_rows(table_of(found, BY_NAME[table])):
            tables[row["cluster"]][table].append(row)
    found.unpersist()
    return tables


@pytest.mark.parametrize("case", judged())
def test_a_drawn_history_is_replayed_in_spark_as_drawn(replayed: dict[str, Tables], case: Case) -> None:
    case.compare(replayed[case.name])
