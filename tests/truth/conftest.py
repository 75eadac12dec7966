"""Captures, unpacked and run through the pure pipeline once for all truth tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.captures import capture
from tests.support.pure_pipeline import run_pipeline
from tests.support.truth import Truth, read_truth
from tests.truth.timelines import Tables


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("captures")


@pytest.fixture(scope="session")
def truth_of(unpacked: Path) -> Callable[[str], Truth]:
    return lambda name: read_truth(capture(name, unpacked))


@pytest.fixture(scope="session")
def pure_tables(unpacked: Path) -> Callable[[str], Tables]:
    return lambda name: run_pipeline(capture(name, unpacked))
