"""The oracle itself against the golden cases, and the tables of advice against the vocabularies."""

from __future__ import annotations

import pytest

from tests.unit.findings import oracle, pure
from tests.unit.findings.golden import Case, cases
from transforms.findings.storms.limits import StormLimits


def _named(table: str) -> list:
    return [pytest.param(case, id=case.name) for case in cases(table)]


@pytest.mark.parametrize("case", _named("rebalance_storms"))
def test_oracle_finds_the_golden_storms(case: Case) -> None:
    settings = case.given.settings
    found = oracle.storms(case.rows("generations"), settings["window_ms"], settings["min_rebalances"])
    case.compare(found, oracle.STORM_COLUMNS)


@pytest.mark.parametrize("case", _named("rebalance_storms"))
def test_golden_storms_are_judged_as_drawn(case: Case) -> None:
    tables = {table: case.rows(table) for table in pure.TABLES.values()}
    case.compare(pure.storms(tables, case.thresholds(), case.given.settings.get("seen_until")))


@pytest.mark.parametrize("case", _named("illegal_generation_bursts"))
def test_oracle_finds_the_golden_bursts(case: Case) -> None:
    settings = case.given.settings
    found = oracle.bursts(
        case.rows("group_requests"), case.rows("generations"), settings["gap_ms"], settings["min_errors"]
    )
    case.compare(found, oracle.BURST_COLUMNS)


@pytest.mark.parametrize("case", _named("illegal_generation_bursts"))
def test_golden_bursts_are_judged_as_drawn(case: Case) -> None:
    tables = {table: case.rows(table) for table in (*pure.TABLES_OF_BURSTS.values(), "coordinator_events")}
    given = case.given.settings
    case.compare(pure.bursts(tables, given["gap_ms"], given["min_errors"], given.get("seen_until")))


def test_storms_refuse_senseless_limits() -> None:
    for wrong in ({"window_ms": -1}, {"min_rebalances": 0}):
        with pytest.raises(ValueError, match="min_rebalances"):
            StormLimits(**wrong)
