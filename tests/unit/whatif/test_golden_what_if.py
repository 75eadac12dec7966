"""What-if by example."""

from __future__ import annotations

import pytest

from tests.unit.whatif.golden import Case, cases


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases()])
def test_a_drawn_history_goes_as_drawn_under_the_change(case: Case) -> None:
    assert case.answer() == case.expected


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases()])
def test_every_case_draws_an_answer_and_says_why(case: Case) -> None:
    assert case.history.requests or case.history.events
    assert any(name.endswith(("_low", "_predicted")) for name in case.expected)
    assert 0 < len(case.why.splitlines()) <= 10
