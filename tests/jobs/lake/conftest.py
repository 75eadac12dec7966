"""A lake as runs open it one after the other, for the tests of what it promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(params=["many rows", "few rows"])
def open_lake(request: pytest.FixtureRequest, spark: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open the lake as another run would, which knows nothing but what is written down."""
    from jobs.lake.lake import Lake

    with ExitStack() as stack:

        def opened(cluster: str = "test") -> Any:
            lake = Lake(spark, str(tmp_path / "lake"), "", cluster)
            stack.enter_context(lake.brief(request.param == "few rows"))
            return lake

        yield opened


@pytest.fixture
def lake(open_lake: Callable[..., Any]) -> Any:
    return open_lake()
