"""A cluster's name may have any letters: what Spark wrote of it is replaced and kept by those who do without it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.written_rows import TRANSITIONS, frame, lake_of, told, transition

pytestmark = pytest.mark.spark

NAMES = ("prod-größe", "中", "é b")
MONTH_S = 31 * 86_400


@pytest.mark.parametrize("cluster", NAMES)
@pytest.mark.parametrize("is_small", [True, False])
def test_rows_that_spark_wrote_are_replaced_and_not_doubled(
    spark: Any, tmp_path: Path, cluster: str, is_small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_small:
        monkeypatch.setattr("jobs.lake.small_tables.FEW_ROWS", -1)
    lake, other = (lake_of(spark, tmp_path, name) for name in (cluster, "other"))
    young = [transition("a", number, number == 1) for number in range(3)]
    for each in (lake, other):
        each.replace(TRANSITIONS, frame(spark, TRANSITIONS, young))
    with lake.brief(True), other.brief(True):
        for each in (lake, other):
            each.replace(TRANSITIONS, frame(spark, TRANSITIONS, [transition("b", 3, False)]), "NOT is_settled")
            assert len(told(each, by_spark=True)) == 2
            each.compact(TRANSITIONS)
            assert len(told(each, by_spark=True)) == 2
            assert sorted(row.group_id for row in each.read(TRANSITIONS).collect()) == ["a", "b"]


@pytest.mark.parametrize("cluster", NAMES)
def test_another_cluster_s_upkeep_removes_none_of_its_files(spark: Any, tmp_path: Path, cluster: str) -> None:
    lake, other = (lake_of(spark, tmp_path, name) for name in (cluster, "other"))
    for each in (lake, other):
        each.replace(TRANSITIONS, frame(spark, TRANSITIONS, [transition("a", 1, True)]))
    for file in tmp_path.rglob("*.parquet"):
        os.utime(file, (time.time() - MONTH_S,) * 2)
    with other.brief(True):
        other.vacuum(TRANSITIONS, 168)
    assert len(told(lake, by_spark=True)) == 1
