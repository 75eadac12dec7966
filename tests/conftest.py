"""Fixtures that all tests share: the captures, one Spark session, and lakes that the whole pipeline has filled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from tests.support.captures import capture
from tests.support.workers import common_folder, made_once

# A change is judged by the same examples each time; who works on the code finds new ones. No example has to be quick:
# how long it takes says more of what else the machine does.
hypothesis.settings.register_profile("own", deadline=None)
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "own")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have files of tests that take long come first: the short ones fill up what time is left at the end."""
    take_long = {item.path for item in items if any(map(item.get_closest_marker, ("spark", "slow")))}
    items.sort(key=lambda item: item.path not in take_long)


@pytest.fixture(scope="session")
def capture_dir(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Unpack a capture by name, once for all tests; return its folder, which nobody may write to."""
    into = common_folder(tmp_path_factory) / "captures"
    return lambda name: made_once(into / name, lambda folder: capture(name, folder.parent))


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
    """Run the whole pipeline on a capture, once for all tests; return its root, which nobody may write to."""
    from tests.support.lakes import fill

    roots = common_folder(tmp_path_factory) / "lakes"
    return lambda name: made_once(roots / name, lambda root: fill(root, capture_dir(name)))


@pytest.fixture(scope="session")
def lake_rows(spark: Any, lake: Callable[[str], Path]) -> Callable[[str], dict[str, list[dict[str, Any]]]]:
    """Return all tables of a capture's lake as lists of dictionaries by table name; times are epoch ms."""
    from tests.support.lakes import rows_by_spark

    read: dict[str, dict[str, list[dict[str, Any]]]] = {}

    def rows(name: str) -> dict[str, list[dict[str, Any]]]:
        if name not in read:
            read[name] = rows_by_spark(spark, lake(name))
        return read[name]

    return rows


@pytest.fixture
def long_histories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the gate look back no further than it does in large lakes: what it misses there would close it."""
    monkeypatch.setattr("jobs.timelines.writing._SHORT_HISTORY", 0)


@pytest.fixture
def many_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let groups be too many to list where there are more than two, and what belongs to them more than a few rows."""
    for module in (
        "rebuild_timelines",
        "timelines.writing",
        "timelines.clients",
        "findings.looking",
        "findings.health",
    ):
        monkeypatch.setattr(f"jobs.{module}.MOST_LISTED", 2)
    monkeypatch.setattr("jobs.lake.found_rows.MOST_ROWS", 2)
    monkeypatch.setattr("jobs.quality.gate.MOST_AT_HAND", -1)


@pytest.fixture
def are_listed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool | None:
    """Whether groups are few enough to list: a test's parameter, which it gives indirectly.

    With None they are too many to fetch as well, and all that is looked for is too much for others than Spark.
    """
    if not request.param:
        request.getfixturevalue("many_groups")
    if request.param is None:
        for module in ("rebuild_timelines", "timelines.writing", "findings.looking"):
            monkeypatch.setattr(f"jobs.{module}.MOST_ROWS", 2)
        monkeypatch.setattr("jobs.lake.found_rows.MOST_BYTES", -1)
        monkeypatch.setattr("jobs.lake.found_rows.MOST_BYTES_PICKED", -1)
        monkeypatch.setattr("jobs.lake.answers.are_nameable", lambda files: False)
    found: bool | None = request.param
    return found
