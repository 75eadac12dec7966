"""Numbers and moments as they are written."""

from __future__ import annotations

import pytest

from transforms.report.words import duration, moment, share, span, tally


@pytest.mark.parametrize(
    ("ms", "text"),
    [(None, "not known"), (0, "0 ms"), (262, "262 ms"), (1000, "1 s"), (7211, "7.2 s"), (59_999, "60.0 s")]
    + [(69_318, "1 min 9 s"), (3_600_000, "1 h"), (11_100_000, "3 h 5 min"), (187_200_000, "2 d 4 h")],
)
def test_a_duration_has_its_two_largest_units(ms: float | None, text: str) -> None:
    assert duration(ms) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 5, "0.0 %"), (1, 0, "not known"), (5, 5, "100 %"), (99_999, 100_000, "99.999 %"), (1, 100_000, "< 0.1 %")],
)
def test_a_share_is_never_rounded_to_all_or_nothing(part: float, whole: float, text: str) -> None:
    assert share(part, whole) == text


def test_moments_are_utc_with_milliseconds_and_a_span_names_its_day_once() -> None:
    assert moment(1795172307942) == "2026-11-20 10:58:27.942"
    assert span(1795172307942, 1795172360889) == "2026-11-20 10:58:27 to 10:59:20"
    assert span(1795172307942, 1795262307942) == "2026-11-20 10:58:27 to 2026-11-21 11:58:27"
    assert moment(None) == "not known"


def test_counted_words_come_with_the_most_frequent_first() -> None:
    assert tally({"member_left": 12, "member_joined": 14}) == "member joined 14, member left 12"
    assert tally(None) == ""
