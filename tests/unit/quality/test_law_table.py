"""The table of laws and the statement that is made of it, as far as they can be looked at without Spark."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from schemas.catalog import TABLES
from schemas.expectations import Rule, checks_of
from transforms.quality import statements
from transforms.quality.laws.all_laws import LAWS
from transforms.quality.laws.law import Law
from transforms.quality.laws.paths import STEPS
from transforms.quality.thresholds import Thresholds

NOW = Thresholds(now=datetime(2026, 11, 20, 12, tzinfo=timezone.utc))


def test_laws_have_names_of_their_own_and_read_the_table_they_are_about() -> None:
    names = [law.name for law in LAWS]
    assert len(set(names)) == len(names)
    assert not set(names) & {check.name for spec in TABLES for check in checks_of(spec)}
    for law in LAWS:
        assert law.table in law.reads or "sources" in law.reads or law.name == "rebalances_are_entries", law.name


def test_a_law_about_a_table_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no table generation$"):
        Law("wrong", "generations", "", "SELECT * FROM {generation}")


def test_every_rule_is_put_in_sql() -> None:
    assert statements.BROKEN.keys() | {Rule.UNIQUE} == set(Rule)


def test_a_word_with_a_quote_does_not_end_the_statement() -> None:
    from schemas.expectations import Check

    assert (
        statements.BROKEN[Rule.ONE_OF](Check(Rule.ONE_OF, ("state",), allowed=("it's",))) == r"`state` NOT IN ('it\'s')"
    )


def test_each_named_threshold_gets_its_value() -> None:
    statement = NOW.put_into(statements.found(TABLES, LAWS))
    assert "TIMESTAMP '2026-11-20 12:00:00.000000+00:00' + INTERVAL '300.000000' SECOND" in statement
    assert "0.95 * (agreed + differed)" in statement
    with pytest.raises(KeyError):
        NOW.put_into("SELECT :nothing")


def test_legal_steps_are_those_that_kafka_takes() -> None:
    """ClassicGroupState.validPreviousStates."""
    assert {
        ("Empty", "PreparingRebalance"),
        ("Stable", "PreparingRebalance"),
        ("CompletingRebalance", "PreparingRebalance"),
        ("PreparingRebalance", "CompletingRebalance"),
        ("CompletingRebalance", "Stable"),
        ("PreparingRebalance", "Empty"),
        ("Empty", "Dead"),
        ("PreparingRebalance", "Dead"),
        ("CompletingRebalance", "Dead"),
        ("Stable", "Dead"),
    } == STEPS
