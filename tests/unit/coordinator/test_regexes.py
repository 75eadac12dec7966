"""Regular expressions of consumers mean what they mean to Kafka, which reads them by RE2/J, and never end a replay."""

from __future__ import annotations

import warnings

import pytest

from transforms.coordinator.consumer.regexes import is_valid_regex, matching

NAMES = ("orders", "payments", "a.b", "axb", "__consumer_offsets", "Ümlaut")


@pytest.mark.parametrize(
    ("regex", "matched"),
    [
        ("pay.*", ("payments",)),
        ("pay", ()),
        (r"\Qa.b\E", ("a.b",)),
        (r"\p{Lu}.*", ("Ümlaut",)),
        (r"\pL+", ("axb", "orders", "payments", "Ümlaut")),
        (r"(?i)ORDERS\z", ("orders",)),
        ("[[:alpha:]]+", ("axb", "orders", "payments")),
    ],
)
def test_what_re2_can_read_matches_whole_names(regex: str, matched: tuple[str, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert is_valid_regex(regex)
        assert matching(regex, NAMES) == matched


@pytest.mark.parametrize(
    "regex",
    [r"(?!__).*", r"(?<=a)b", r"(a)\1", "a{1001}", "a++", "(", "[", "*", "\ud83d", r"\8"],
)
def test_what_it_cannot_read_is_refused_and_matches_nothing(regex: str) -> None:
    assert not is_valid_regex(regex)
    assert matching(regex, NAMES) == ()


@pytest.mark.parametrize("regex", ["a{4294967296}", "(" * 3_000 + "x" + ")" * 3_000, "(x{1000}){1000}", "\0", ""])
def test_odd_ones_end_in_no_error(regex: str) -> None:
    assert is_valid_regex(regex) in (True, False)
    assert set(matching(regex, NAMES)) <= {*NAMES}
