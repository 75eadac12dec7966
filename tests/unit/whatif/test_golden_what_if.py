"""What-if by example."""

from __future__ import annotations

import pytest

from tests.unit.whatif.golden import Case, cases
from transforms.whatif.change import Change
from transforms.whatif.outcome import answer


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases()])
def test_a_drawn_history_goes_as_drawn_under_the_change(case: Case) -> None:
    assert case.answer() == case.expected


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in cases()])
def test_every_case_draws_an_answer_and_says_why(case: Case) -> None:
    assert case.history.requests or case.history.events
    assert any(name.endswith(("_low", "_predicted")) for name in case.expected)
    assert 0 < len(case.why.splitlines()) <= 10


@pytest.mark.parametrize(("session", "low"), [(3_000, 3), (2_400_000, 1)])
def test_where_no_broker_tells_its_bounds_nobody_is_turned_away_and_the_reader_is_told(session: int, low: int) -> None:
    """Turned away, nobody would rebalance any more: the worst setting would look like the best."""
    (case,) = (each for each in cases() if each.name == "a_silence_fits_into_a_longer_session")
    told = answer(case.evidence, Change(session_timeout_ms=session))
    assert (told["rebalances_observed"], told["rebalances_predicted_low"]) == (3, low)
    assert any("the broker refuses such a session" in note for note in told["notes"])
    within = answer(case.evidence, Change(session_timeout_ms=30_000))
    assert not any("refuses" in note for note in within["notes"])
