"""Storms and bursts in Spark, and without it: the golden cases, and the oracle on many random groups."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from jobs.findings import by_duckdb as by_duckdb_module
from jobs.findings.by_duckdb import MOST_OF_ALL_FILES
from schemas.catalog import BY_NAME
from schemas.spark import struct_type
from schemas.tables.gold import GENERATIONS, ILLEGAL_GENERATION_BURSTS, REBALANCE_STORMS
from schemas.tables.silver import GROUP_REQUESTS
from schemas.words import FENCING_ERRORS
from tests.support.drawn_table import Row, draw
from tests.support.frames import to_frame, to_rows
from tests.support.searches import Way, bursts, by_duckdb, by_spark, storms
from tests.unit.findings import oracle
from tests.unit.findings.golden import Case, cases, complete
from transforms.findings.storms.limits import StormLimits, Thresholds
from transforms.gold.illegal_generation_bursts import READ as READ_FOR_BURSTS
from transforms.gold.rebalance_storms import READ as READ_FOR_STORMS

pytestmark = pytest.mark.spark

THRESHOLDS = Thresholds(StormLimits(100, 3))

BURSTS = "illegal_generation_bursts"
TABLES = ("rebalance_storms", BURSTS)
FEW = 3
"""A query of its own is worth it for so many cases of the same settings; the pure tests have the others too."""


def batches_of(table: str) -> list[list[Case]]:
    """Golden cases that are sought together, as they have the same settings; all where the data reach just so far."""
    batches: dict[tuple[tuple[str, int], ...], list[Case]] = defaultdict(list)
    for case in cases(table):
        batches[tuple(case.given.settings.items())].append(case)
    return [each for settings, each in batches.items() if len(each) >= FEW or "seen_until" in dict(settings)]


@pytest.fixture(scope="module", params=[by_spark, by_duckdb])
def golden_findings(spark: SparkSession, request: pytest.FixtureRequest) -> dict[str, list[Row]]:
    """Findings of all golden cases by "table/case"; those with the same settings are sought together, as by the job."""
    found: dict[str, list[Row]] = defaultdict(list)
    for table in TABLES:
        for batch in batches_of(table):
            for row in to_rows(_find(spark, table, batch, request.param)):
                found[f"{table}/{row['cluster']}"].append({**row, "cluster": "demo"})
    return found


def _find(spark: SparkSession, table: str, batch: list[Case], way: Way) -> DataFrame:
    """The findings of several cases that have the same settings, each in a cluster of its own name."""
    settings = batch[0].given.settings

    def frame(name: str) -> DataFrame:
        rows = [{**row, "cluster": case.name} for case in batch for row in case.rows(name)]
        return to_frame(spark, BY_NAME[name], rows)

    if table == "rebalance_storms":
        tables = {spec: frame(spec.name) for spec in READ_FOR_STORMS}
        return storms(tables, batch[0].thresholds(), settings.get("seen_until"), way)
    tables = {spec: frame(spec.name) for spec in READ_FOR_BURSTS}
    limits = (settings["gap_ms"], settings["min_errors"], settings.get("seen_until"))
    return bursts(tables, *limits, way)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{table}-{case.name}")
        for table in TABLES
        for batch in batches_of(table)
        for case in batch
    ],
)
def test_golden_findings(golden_findings: dict[str, list[Row]], case: Case) -> None:
    case.compare(golden_findings[f"{case.table}/{case.name}"])


@pytest.mark.parametrize("way", [by_spark, by_duckdb])
def test_findings_have_the_columns_and_types_of_the_contract(spark: SparkSession, way: Way) -> None:
    of_storms = storms({GENERATIONS: to_frame(spark, GENERATIONS, [])}, THRESHOLDS, way=way)
    of_bursts = bursts({GROUP_REQUESTS: to_frame(spark, GROUP_REQUESTS, [])}, 100, 3, way=way)
    for frame, spec in ((of_storms, REBALANCE_STORMS), (of_bursts, ILLEGAL_GENERATION_BURSTS)):
        assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
            (field.name, field.dataType.simpleString()) for field in struct_type(spec)
        ]
        assert frame.collect() == []


def test_a_group_of_its_own_has_limits_of_its_own(spark: SparkSession) -> None:
    """Three rebalances within 100 ms: for the others a storm, for etl groups only five are, and for one of them two."""
    rows = [
        complete("generations", {"group_id": group, "generation": at, "preparing_at": 40.0 * at})
        for group in ("shop", "etl-slow", "etl-fast", "xetl-")
        for at in range(3)
    ]
    own = {"etl-f*": StormLimits(50, 2), "etl-*": StormLimits(100, 5)}
    found = storms({GENERATIONS: to_frame(spark, GENERATIONS, rows)}, Thresholds(StormLimits(100, 3), own))
    assert {row["group_id"]: row["peak_count"] for row in to_rows(found)} == {"shop": 3, "etl-fast": 2, "xetl-": 3}


TIME = st.integers(0, 60)
CLIENTS = st.sampled_from([(None, None), ("a", "/1"), ("a", "/2"), ("b", "/1")])


@st.composite
def random_generations(draw_from: st.DrawFn) -> list[Row]:
    """Generations of one group, dense enough for storms, with gaps in what is known."""
    rows = []
    for generation in range(1, draw_from(st.integers(1, 12)) + 1):
        base = draw_from(TIME)
        moment = st.one_of(st.none(), st.integers(base, base + 20))
        client = draw_from(CLIENTS)
        rows.append(
            {
                "generation": generation,
                "life": draw_from(st.integers(1, 2)),
                "preparing_at": draw_from(st.sampled_from([float(base), float(base), float(base), None])),
                **{name: draw_from(moment) for name in ("completing_at", "stable_at", "emptied_at", "ended_at")},
                "trigger": draw_from(st.sampled_from(["member_left", "member_joined", "unknown"])),
                "trigger_client_id": client[0],
                "trigger_client_host": client[1],
            }
        )
    return rows


@st.composite
def random_requests(draw_from: st.DrawFn) -> list[Row]:
    """Requests of one group, most of them refused."""
    request = st.fixed_dictionaries(
        {
            "answered_at": st.integers(0, 120).map(float),
            "error": st.sampled_from([*FENCING_ERRORS[:2], *FENCING_ERRORS[:2], "FENCED_INSTANCE_ID", "NONE"]),
            "api": st.sampled_from(["Heartbeat", "OffsetCommit", "LeaveGroup"]),
            "member_id": st.sampled_from(["a", "b", "", None]),
            "client_id": st.sampled_from(["A", "B", None]),
            "generation": st.sampled_from([None, -1, 0, 1, 2, 3]),
        }
    )
    return draw_from(st.lists(request, max_size=15))


def sampled(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    """Many values of a strategy at once, because a Spark job for each would take minutes."""
    values: list[Any] = []

    @settings(max_examples=count, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(value: Any) -> None:
        values.append(value)

    collect()
    return values


def named_groups(table: str, groups: list[list[Row]]) -> list[Row]:
    """One table of many groups; generation numbers stay unique within a life."""
    return [complete(table, {**row, "group_id": f"g{at}"}) for at, rows in enumerate(groups) for row in rows]


def assert_same(found: list[Row], expected: list[Row], columns: set[str], given_rows: list[Row]) -> None:
    """Compare group by group, and draw the smallest group that differs."""
    names = sorted(columns - {"cluster"})
    by_group: dict[str, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((found, expected)):
        for row in sorted(rows, key=lambda row: (row["started_at"], str(row.get("error")))):
            by_group[row["group_id"]][side].append(row)
    wrong = [group for group, (left, right) in by_group.items() if draw(left, names) != draw(right, names)]
    if wrong:
        of_group = {group: [row for row in given_rows if row["group_id"] == group] for group in wrong}
        group = min(wrong, key=lambda name: len(of_group[name]))
        shown = [name for name in of_group[group][0] if any(row[name] is not None for row in of_group[group])]
        left, right = by_group[group]
        pytest.fail(
            f"{len(wrong)} groups differ, e.g.\n{draw(of_group[group], shown)}\nSpark:\n{draw(left, names)}\n"
            f"oracle:\n{draw(right, names)}"
        )


@pytest.mark.parametrize("way", [by_spark, by_duckdb])
@pytest.mark.parametrize(("window_ms", "min_rebalances"), [(10, 1), (12, 2), (15, 3), (30, 5)])
def test_storms_are_those_of_the_definition(spark: SparkSession, window_ms: int, min_rebalances: int, way: Way) -> None:
    generations = named_groups("generations", sampled(random_generations(), 250))
    expected = oracle.storms(generations, window_ms, min_rebalances)
    assert len(expected) > 50
    thresholds = Thresholds(StormLimits(window_ms, min_rebalances))
    found = to_rows(storms({GENERATIONS: to_frame(spark, GENERATIONS, generations)}, thresholds, way=way))
    assert_same(found, expected, oracle.STORM_COLUMNS, generations)


@pytest.mark.parametrize("way", [by_spark, by_duckdb])
@pytest.mark.parametrize(("gap_ms", "min_errors"), [(0, 1), (10, 2), (40, 3)])
def test_bursts_are_those_of_the_definition(spark: SparkSession, gap_ms: int, min_errors: int, way: Way) -> None:
    generations = named_groups("generations", sampled(random_generations(), 250))
    requests = named_groups("group_requests", sampled(random_requests(), 250))
    expected = oracle.bursts(requests, generations, gap_ms, min_errors)
    assert len(expected) > 50
    given_rows = {GROUP_REQUESTS: requests, GENERATIONS: generations}
    frames = {spec: to_frame(spark, spec, rows) for spec, rows in given_rows.items()}
    found = to_rows(bursts(frames, gap_ms, min_errors, way=way))
    assert_same(found, expected, oracle.BURST_COLUMNS, requests)


@pytest.mark.parametrize("shares", [3, MOST_OF_ALL_FILES + 1])
def test_processes_that_share_the_groups_find_what_one_finds(spark: SparkSession, tmp_path: Path, shares: int) -> None:
    """Few read all files, each for its groups; for many the rows of each are put apart first."""
    generations = named_groups("generations", sampled(random_generations(), 100))
    requests = named_groups("group_requests", sampled(random_requests(), 100))
    given_rows = {GROUP_REQUESTS: requests, GENERATIONS: generations}
    frames = {spec: to_frame(spark, spec, rows) for spec, rows in given_rows.items()}
    ways = (by_duckdb, partial(by_duckdb, folder=tmp_path, shares=shares))
    for found in (partial(storms, frames, THRESHOLDS), partial(bursts, frames, 10, 2)):
        alone, shared = (to_rows(found(way=way).orderBy("group_id", "started_at", "ended_at")) for way in ways)
        assert len(alone) > 20
        assert shared == alone
    apart = [folder for folder in tmp_path.iterdir() if folder.is_dir()]
    assert bool(apart) == (shares > MOST_OF_ALL_FILES)


@pytest.mark.parametrize("shares", [3, MOST_OF_ALL_FILES + 1])
def test_lines_of_no_group_are_known_in_every_share(spark: SparkSession, tmp_path: Path, shares: int) -> None:
    """Brokers print settings that hold for all groups, and how long a member may be silent decides who was fenced."""
    case = next(each for each in cases(BURSTS) if each.name == "holder_lived_beyond_printed_session")
    groups = [f"group {number}" for number in range(6)]  # some in other shares than such lines would be by chance
    frames = {
        spec: to_frame(spark, spec, [row for each in groups for row in of_group(each, case.rows(spec.name))])
        for spec in READ_FOR_BURSTS
    }
    settings = case.given.settings
    found = partial(bursts, frames, settings["gap_ms"], settings["min_errors"], settings["seen_until"])
    alone, shared = (
        to_rows(found(way=way).orderBy("group_id"))
        for way in (by_duckdb, partial(by_duckdb, folder=tmp_path, shares=shares))
    )
    assert [row["group_id"] for row in alone] == groups
    assert shared == alone


def of_group(name: str, rows: list[Row]) -> list[Row]:
    """Rows of a case as those of a group; what is of none comes with the first."""
    return [{**row, "group_id": name} if row["group_id"] else row for row in rows if row["group_id"] or name[-1] == "0"]


def test_what_does_not_fit_into_memory_is_searched_in_parts(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole is too much for what DuckDB may hold here, and so may be its halves."""
    generations = named_groups("generations", sampled(random_generations(), 1000))
    frames = {GENERATIONS: to_frame(spark, GENERATIONS, generations)}
    alone = to_rows(storms(frames, THRESHOLDS, way=by_duckdb).orderBy("group_id", "started_at"))
    tried: list[int] = []
    found = by_duckdb_module._found
    monkeypatch.setattr(by_duckdb_module, "_MEMORY", "18MB")
    monkeypatch.setattr(by_duckdb_module, "_found", lambda share: tried.append(share.parts) or found(share))
    monkeypatch.setattr(by_duckdb_module, "side_by_side", lambda work, shares, processes: map(work, shares))
    parted = storms(frames, THRESHOLDS, way=partial(by_duckdb, folder=tmp_path, shares=2))
    assert to_rows(parted.orderBy("group_id", "started_at")) == alone
    assert max(tried) > 1
