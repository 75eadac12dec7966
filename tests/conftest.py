"""Fixtures that all tests share: the captures, one Spark session, and lakes that the whole pipeline has filled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.support.captures import capture

# A change is judged by the same examples each time; whoever works on the code finds new ones.
hypothesis.settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("ci")


@pytest.fixture(scope="session")
def capture_dir(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Unpack a capture by name, once for all tests; return its folder."""
    into = tmp_path_factory.mktemp("captures")

    def unpack(name: str) -> Path:
        folder = into / name
        return folder if folder.exists() else capture(name, into)

    return unpack


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The one Spark session, started when the first test asks for it."""
    from tests.support.spark_session import start

    session = start(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def lake(
    spark: Any, capture_dir: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Run the whole pipeline on a capture, once for all tests; return the root of its lake."""
    from tests.support.lakes import fill

    roots: dict[str, Path] = {}

    def filled(name: str) -> Path:
        if name not in roots:
            root = tmp_path_factory.mktemp("lakes") / name
            fill(root, capture_dir(name))
            roots[name] = root
        return roots[name]

    return filled


@pytest.fixture(scope="session")
def lake_rows(spark: Any, lake: Callable[[str], Path]) -> Callable[[str], dict[str, list[dict[str, Any]]]]:
    """Return all tables of a capture's lake as lists of dictionaries by table name; times are epoch ms."""
    from tests.support.lakes import rows_of

    read: dict[str, dict[str, list[dict[str, Any]]]] = {}

    def rows(name: str) -> dict[str, list[dict[str, Any]]]:
        if name not in read:
            read[name] = rows_of(spark, lake(name))
        return read[name]

    return rows
