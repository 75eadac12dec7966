"""The oracle itself against the golden cases, and the tables of advice against the vocabularies."""

from __future__ import annotations

import pytest

from schemas.words import SEVERITIES, SUSPECTED_CAUSES, TRIGGERS
from tests.unit.findings import oracle
from tests.unit.findings.golden import Case, cases
from transforms.gold import advice


def _named(table: str) -> list:
    return [pytest.param(case, id=case.name) for case in cases(table)]


@pytest.mark.parametrize("case", _named("rebalance_storms"))
def test_oracle_finds_the_golden_storms(case: Case) -> None:
    settings = case.given.settings
    found = oracle.storms(case.rows("generations"), settings["window_ms"], settings["min_rebalances"])
    case.compare(found, oracle.STORM_COLUMNS)


@pytest.mark.parametrize("case", _named("illegal_generation_bursts"))
def test_oracle_finds_the_golden_bursts(case: Case) -> None:
    settings = case.given.settings
    found = oracle.bursts(
        case.rows("group_requests"), case.rows("generations"), settings["gap_ms"], settings["min_errors"]
    )
    case.compare(found, oracle.BURST_COLUMNS)


def test_every_trigger_has_its_own_advice() -> None:
    assert tuple(advice.STORM_ADVICE) == TRIGGERS
    assert len(set(advice.STORM_ADVICE.values())) == len(TRIGGERS)


def test_severities_fall_and_their_limits_with_them() -> None:
    names = [rule.severity for rule in advice.SEVERITY_RULES] + [advice.MILDEST_SEVERITY]
    assert names == list(reversed(SEVERITIES))
    ratios = [rule.unstable_ratio for rule in advice.SEVERITY_RULES]
    gaps = [rule.mean_gap_ms for rule in advice.SEVERITY_RULES]
    assert ratios == sorted(ratios, reverse=True) and gaps == sorted(gaps)


def test_every_cause_can_be_suspected_and_one_rule_always_holds() -> None:
    assert {rule.cause for rule in advice.BURST_RULES} == set(SUSPECTED_CAUSES)
    assert advice.BURST_RULES[-1].condition == "true"
    assert set(advice.REMOVAL_CAUSES.values()) <= set(SUSPECTED_CAUSES)
