"""Lakes to be changed, and tables that are taken for large, for the tests of what jobs do to them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def copy(lake: Callable[[str], Path], tmp_path: Path) -> Path:
    """A lake of one's own that the whole pipeline has filled from kafka-4.2.0."""
    return Path(shutil.copytree(lake("kafka-4.2.0"), tmp_path / "lake"))


@pytest.fixture
def no_table_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.lake.small_tables.FEW_ROWS", -1)
