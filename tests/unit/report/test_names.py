"""Whatever a group is called, its page has a name of its own that stays in its folder."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from hypothesis import given
from hypothesis import strategies as st

from transforms.report.names import page_name

ANY_NAME = st.text(max_size=300)


@given(ANY_NAME)
def test_a_page_name_is_one_plain_file_name(group_id: str) -> None:
    name = page_name("c", group_id)
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,60}\.html", name)
    assert PurePosixPath(name).name == name


@given(ANY_NAME, ANY_NAME)
def test_two_groups_never_share_a_page_even_where_case_does_not_count(one: str, other: str) -> None:
    assert (page_name("c", one).lower() == page_name("c", other).lower()) == (one == other)


def test_groups_that_differ_in_case_or_in_what_is_not_a_letter_have_pages_of_their_own() -> None:
    names = ["Orders", "orders", "orders ", "../../orders", "", " ", "órders"]
    assert len({page_name("c", name) for name in names}) == len(names)
    assert page_name("c", "orders") != page_name("d", "orders")
