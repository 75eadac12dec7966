"""Lost commits beyond the line: who had a partition when one was refused counts, also if that is over by then."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.findings.looking import Looked
from jobs.findings.offsets import Offsets
from jobs.frame.keeping import keeping
from schemas.tables.gold import ASSIGNMENTS, COMMIT_GAPS
from tests.spark.test_offset_findings import assignment, commits, refusal
from tests.support.frames import to_frame, to_rows
from tests.support.pure_pipeline import CLUSTER
from tests.support.silver_batches import BatchedLake
from transforms.gold.findings.scope import scope_of

pytestmark = pytest.mark.spark

LINE, SINCE, GROUP = 20_000.0, 25_000.0, "shop"


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> BatchedLake:
    """A member has two partitions from 1 s on, another one from 9.5 s, a third from 16 s on: still, as time goes on."""
    owners = [(1, "a", 1_000.0, 9_000.0), (2, "b", 9_500.0, 15_000.0), (3, "c", 16_000.0, None)]
    rest = {"hold": "owned", "group_type": "classic", "is_settled": True, "settled_at": 0.0}
    held = [assignment(GROUP, partition, *owner) | rest for partition in (0, 1) for owner in owners]
    lake = BatchedLake(spark, tmp_path / "lake", lateness_ms=0)
    lake.job.lake.create([ASSIGNMENTS, COMMIT_GAPS])
    lake.job.lake.replace(ASSIGNMENTS, to_frame(spark, ASSIGNMENTS, held))
    made = [row for partition in (0, 1) for row in commits(GROUP, *range(27), partition=partition)]
    lake.load([("offset_commits", row) for row in made])
    return lake


def test_what_was_refused_while_somebody_had_it_is_lost_to_nobody_else(spark: SparkSession, lake: BatchedLake) -> None:
    """Of partition 0 the second owner took what was refused at 14 s, of partition 1 the third what was at 15.5 s."""
    refused = [refusal(14_000.0, "a", 0), refusal(15_500.0, "a", 1)]
    blank = {"source_file": "r", "seq": 0, "broker": "1", "error_code": 25}
    lake.load([("group_requests", {**row, **blank, "line_number": place}) for place, row in enumerate(refused)])
    rows = [{"cluster": CLUSTER, "group_id": GROUP, "since": SINCE, "cut": int(SINCE * 1000)}]
    groups = spark.createDataFrame(rows, "cluster STRING, group_id STRING, since DOUBLE, cut BIGINT")
    before, now = (Looked(how={}, marks={}, loaded={}, line=line) for line in (LINE, LINE + 10_000))
    scope = scope_of(groups, rows, 1_000, LINE, most_listed=1)
    with keeping() as keep:
        found = dict(Offsets(lake.job, scope, before, now, keep).found())
        gaps = [
            (row["partition"], row["generation"], row["kind"], row["refused_at"]) for row in to_rows(found[COMMIT_GAPS])
        ]
    assert gaps == [(1, 3, "lost", 15_500.0)]
