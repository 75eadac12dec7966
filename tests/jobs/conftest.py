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


@pytest.fixture(scope="session")
def lakes_of_two(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lakes, one for each name of a cluster, with three settled rows and two others of it, and of another cluster."""
    rows, folder = [transition("a", number, number < 3) for number in range(5)], tmp_path_factory.mktemp("of two")
    for place, named in enumerate(CLUSTERS):
        for cluster in (named, "other"):
            lake_of(spark, folder / str(place), cluster).replace(TRANSITIONS, frame(spark, TRANSITIONS, rows))
    return folder


@pytest.fixture
def settled_and_others(request: pytest.FixtureRequest, spark: Any, lakes_of_two: Path, tmp_path: Path) -> Any:
    """One of these, to be changed: of the cluster whose name is a test's parameter, or of the odd one."""
    cluster = getattr(request, "param", CLUSTERS[0])
    there = lakes_of_two / str(CLUSTERS.index(cluster))
    return lake_of(spark, Path(shutil.copytree(there, tmp_path / "a lake's")), cluster)
