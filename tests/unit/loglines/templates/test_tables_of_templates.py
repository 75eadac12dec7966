"""Tables of templates: how they are read, and what is refused when one is loaded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from transforms.loglines.templates.blocks import Block, blocks
from transforms.loglines.templates.fields import GREEDY, INTEGER, LAZY, Kind, drop, put_integer, put_text
from transforms.loglines.templates.matching import Index, Vocabulary

KINDS: dict[str, Kind[Any]] = {
    "who": (LAZY, put_text("who")),
    "number": (INTEGER, put_integer("number")),
    "rest": (GREEDY, drop),
}
WORDS = Vocabulary(
    {"came", "went"},
    KINDS.__getitem__,
    lambda meaning, state: SimpleNamespace(meaning=meaning, state=state),
    states={"HERE"},
)

WHOLE = r"""
came · 2.1-3.9 · HERE
{who} came\nas number {number}
    x came\nas number 5

    y y came\nas number -1
{who} came {rest}
    x came again
went · 3.7-
Gone: {who}
    Gone: x
"""


def test_a_template_has_its_heading_and_its_samples() -> None:
    assert list(blocks(WHOLE)) == [
        Block(
            ("came", "2.1-3.9", "HERE"),
            "{who} came\nas number {number}",
            ("x came\nas number 5", "y y came\nas number -1"),
        ),
        Block(("came", "2.1-3.9", "HERE"), "{who} came {rest}", ("x came again",)),
        Block(("went", "3.7-"), "Gone: {who}", ("Gone: x",)),
    ]


def test_a_message_is_read_by_the_first_template_that_fits() -> None:
    lines = Index(WORDS.table(WHOLE))
    assert lines.read("x came\nas number 5") == SimpleNamespace(meaning="came", state="HERE", who="x", number=5)
    assert lines.read("x came\nas number of 5") is None
    assert lines.read("x came as one") == SimpleNamespace(meaning="came", state="HERE", who="x")
    assert lines.read("Gone: Gone: ") == SimpleNamespace(meaning="went", state=None, who="Gone: ")
    assert lines.read("Gone") is None
    assert lines.read("") is None


def test_a_number_that_no_broker_can_print_fits_no_template() -> None:
    lines = Index(WORDS.table("came · 2.1\n{who} is {number}\n    x is 5"))
    assert lines.read("x is 2147483647") is not None
    assert lines.read("x is 2147483648") is None


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("came · 2.1\n{who} came", "without a sample"),
        ("came · 2.1\n{who} came\n{who} came again\n    x came again", "without a sample"),
        ("came · 2.1\n    x came", "no template"),
        ("came · 2.1\nwent · 2.1\n{who} went\n    x went", "no template"),
        ("{who} came\n    x came", "no heading"),
        ("left · 2.1\n{who} left\n    x left", "left is not in the vocabulary"),
        ("came · \n{who} came\n    x came", "no versions"),
        ("came · all\n{who} came\n    x came", "no versions"),
        ("came · 2.1-2.\n{who} came\n    x came", "no versions"),
        ("came · 3.10-3.9\n{who} came\n    x came", "must come after"),
        ("came · 2.1 · THERE\n{who} came\n    x came", "not a state"),
        ("came · 2.1 · HERE · HERE\n{who} came\n    x came", "not a state"),
        ("came · 2.1\n{who} came\n    x went", "does not fit its sample"),
        ("came · 2.1\nis {number}\n    is 9999999999", "does not fit its sample"),
    ],
)
def test_a_table_that_would_not_work_is_refused_when_it_is_loaded(table: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        WORDS.table(table)


def test_a_heading_needs_versions() -> None:
    with pytest.raises(ValueError, match=r"."):
        WORDS.table("came\n{who} came\n    x came")


def test_a_field_that_nothing_is_known_of_is_refused() -> None:
    with pytest.raises(KeyError, match="whom"):
        WORDS.table("came · 2.1\n{whom} came\n    x came")
