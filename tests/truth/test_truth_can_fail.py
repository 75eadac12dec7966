"""The checks themselves on trial: each lie about the tables must be found by the check that is there for it."""

from __future__ import annotations

import pytest

from tests.support.truth import Truth
from tests.truth.checks import CHECKS, of_classic_groups
from tests.truth.checks_audit import CHAOTIC_SHARE
from tests.truth.checks_findings import Run, bursts_of, expected_bursts, expected_storms, storms_of
from tests.truth.corruptions import CORRUPTIONS
from tests.truth.timelines import Tables

SAMPLE = 3
"""Rows that each lie is tried on, spread over the table."""


_HONEST: dict[tuple[str, str], frozenset[str]] = {}


def _honest(name: str, check: str, truth: Truth, tables: Tables) -> frozenset[str]:
    """What a check says of the tables as they are: nothing, unless the pipeline itself is wrong."""
    if (name, check) not in _HONEST:
        _HONEST[(name, check)] = frozenset(CHECKS[check](truth, tables))
    return _HONEST[(name, check)]


@pytest.mark.parametrize("lie", CORRUPTIONS, ids=lambda lie: f"{lie.check}: {lie.table} {lie.words}")
@pytest.mark.parametrize("name", ("kafka-4.2.0", "chaos-3.9.1"))
def test_a_lie_about_one_row_is_found(name, lie, truth_of, pure_tables):
    truth, tables = truth_of(name), of_classic_groups(pure_tables(name))
    honest = _honest(name, lie.check, truth, tables)
    rows = tables[lie.table]
    places = [place for place, row in enumerate(rows) if lie.where(truth, tables, row)]
    assert places, "no row to lie about"
    for place in places[:: max(len(places) // SAMPLE, 1)][:SAMPLE]:
        found = set(CHECKS[lie.check](truth, lie.applied(tables, place)))
        assert found - honest, f"not found: {lie.words} in {rows[place]}"


@pytest.mark.parametrize("name", ("kafka-4.2.0", "chaos-3.9.1"))
def test_a_replay_that_predicts_too_little_is_found(name, truth_of, pure_tables):
    tables = pure_tables(name)
    count = len(tables["replay_audit"])
    wrong = int(count * (1 - CHAOTIC_SHARE)) + 1
    audit = [
        {**row, "agrees": index >= wrong, "why": "guess" if index < wrong else row["why"]}
        for index, row in enumerate(tables["replay_audit"])
    ]
    found = CHECKS["audit_agrees"](truth_of(name), {**tables, "replay_audit": audit})
    assert any("predictions agree" in words for words in found)


@pytest.mark.parametrize("column", ("rebalance_count", "started_at", "ended_at"))
def test_a_storm_that_is_off_by_one_is_found(column, truth_of, pure_tables):
    tables = pure_tables("kafka-4.2.0")
    storms = [
        {"group_id": group, "started_at": run.started_at, "ended_at": run.ended_at, "rebalance_count": run.count}
        for group, runs in expected_storms(tables["generations"]).items()
        for run in runs
    ]
    truth = truth_of("kafka-4.2.0")
    assert not CHECKS["storms_found"](truth, {**tables, "rebalance_storms": storms})
    storms[0] = {**storms[0], column: storms[0][column] + 1}
    assert CHECKS["storms_found"](truth, {**tables, "rebalance_storms": storms})


@pytest.mark.parametrize("column", ("error_count", "started_at", "ended_at"))
def test_a_burst_that_is_off_by_one_is_found(column, truth_of, pure_tables):
    tables = pure_tables("kafka-4.2.0")
    bursts = [
        {
            "group_id": group,
            "error": error,
            "started_at": run.started_at,
            "ended_at": run.ended_at,
            "error_count": run.count,
        }
        for (group, error), runs in expected_bursts(tables["group_requests"]).items()
        for run in runs
    ]
    truth = truth_of("kafka-4.2.0")
    assert not CHECKS["bursts_found"](truth, {**tables, "illegal_generation_bursts": bursts})
    bursts[0] = {**bursts[0], column: bursts[0][column] + 1}
    assert CHECKS["bursts_found"](truth, {**tables, "illegal_generation_bursts": bursts})


def test_storms_are_the_union_of_stormy_intervals():
    assert storms_of([0, 10, 20, 30, 90], 30, 3) == [Run(0, 30, 4)]
    assert storms_of([0, 15, 30, 45, 60], 30, 3) == [Run(0, 60, 5)]
    assert storms_of([0, 15, 31], 30, 3) == []
    assert storms_of([0, 1, 2, 100, 101, 102], 30, 3) == [Run(0, 2, 3), Run(100, 102, 3)]


def test_bursts_end_where_the_gap_is_longer():
    assert bursts_of([0, 5, 10, 16, 17], 5, 3) == [Run(0, 10, 3)]
    assert bursts_of([0, 5, 10, 15], 5, 5) == []
