"""Captures as the clients saw them, and run through the pure pipeline, once for all truth tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.captures import MODERN, MODERN_CHAOTIC, MODERN_EARLIER, MODERN_FAILOVER, MODERN_POLICIES
from tests.support.pure_pipeline import run_pipeline
from tests.support.truth import Truth, read_truth
from tests.truth.timelines import Tables


@pytest.fixture(scope="session")
def truth_of(capture_dir: Callable[[str], Path]) -> Callable[[str], Truth]:
    return lambda name: read_truth(capture_dir(name))


@pytest.fixture(scope="module", params=(*MODERN, *MODERN_EARLIER, *MODERN_CHAOTIC, *MODERN_POLICIES, *MODERN_FAILOVER))
def folder(request: pytest.FixtureRequest, capture_dir: Callable[[str], Path]) -> Path:
    """Return the folder of each capture with groups of the newer protocols."""
    return capture_dir(request.param)


@pytest.fixture(scope="module")
def tables(folder: Path) -> Tables:
    return run_pipeline(folder)


@pytest.fixture(scope="session")
def pure_tables(capture_dir: Callable[[str], Path]) -> Callable[[str], Tables]:
    return lambda name: run_pipeline(capture_dir(name))
