"""Lakes to be changed, and tables that are taken for large, for the tests of what jobs do to them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.written_rows import CLUSTERS, TRANSITIONS, frame, lake_of, transition


@pytest.fixture
def copy(lake: Callable[[str], Path], tmp_path: Path) -> Path:
    """A lake of one's own that the whole pipeline has filled from kafka-4.2.0."""
    return Path(shutil.copytree(lake("kafka-4.2.0"), tmp_path / "lake"))


@pytest.fixture
def no_table_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.lake.small_tables.FEW_ROWS", -1)


@pytest.fixture(params=CLUSTERS)
def settled_and_others(request: pytest.FixtureRequest, spark: Any, tmp_path: Path) -> Any:
    """A lake with three settled rows and two others, of a cluster beside which there is another one."""
    rows = [transition("a", number, number < 3) for number in range(5)]
    for cluster in (request.param, "other"):
        lake_of(spark, tmp_path / "a lake's", cluster).replace(TRANSITIONS, frame(spark, TRANSITIONS, rows))
    return lake_of(spark, tmp_path / "a lake's", request.param)
