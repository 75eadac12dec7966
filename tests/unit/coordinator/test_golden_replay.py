"""The replay by example: histories in, gold tables out, without Spark."""

from __future__ import annotations

import pytest

from tests.unit.coordinator.golden import Case, cases, judged


@pytest.mark.parametrize("case", judged())
def test_a_drawn_history_is_replayed_as_drawn(case: Case) -> None:
    case.compare(case.replayed())


@pytest.mark.parametrize("case", judged())
def test_a_drawn_history_is_replayed_the_same_from_its_end(case: Case) -> None:
    case.compare(case.replayed(is_reversed=True))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases()])
def test_every_case_says_what_comes_and_why(case: Case) -> None:
    """A table is drawn with its rows, or with "no rows"; an empty drawing would prove nothing."""
    assert case.history.records or case.history.events or case.history.requests
    assert case.expected.tables
    assert case.expected.settings == {}
    assert 0 < len(case.why.splitlines()) <= 10
    for table, rows in case.expected.tables.items():
        assert bool(rows) == bool(case.expected.columns[table]), f"{table}: neither rows nor 'no rows'"
