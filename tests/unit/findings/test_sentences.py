"""How findings word durations and settings."""

from __future__ import annotations

import pytest

from transforms.findings.sentences import duration, setting


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (999, "999 ms"),
        (119_900, "119.9 s"),
        (120_000, "2 min"),
        (7_200_000, "120 min"),
        (7_260_000, "2 h 1 min"),
        (36_300_000, "10 h 5 min"),
        (36_000_000, "10 h"),
        (3_600_000_000, "1,000 h"),
    ],
)
def test_durations_are_told_in_the_unit_that_one_reads(ms: float, said: str) -> None:
    assert duration(ms) == said


def test_a_setting_whose_name_has_no_unit_is_told_with_one() -> None:
    assert setting("session.timeout.ms", 9_000, 6_000) == "session.timeout.ms=9000 (now 6000)"
    assert setting("SessionTimeout", 9_000, 6_000) == "SessionTimeout=9000 ms (now 6000 ms)"
    assert setting("SessionTimeout", 9_000, 9_000) == "SessionTimeout=9000 ms (as now)"
    assert setting("RebalanceTimeout", 9_000, None) == "RebalanceTimeout=9000 ms"
