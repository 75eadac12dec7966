"""Patterns of group ids mean what they mean to a shell."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from transforms.findings.storms.group_patterns import fits

SIGNS = "ab-.*?[]!^\\&~|\n$ü"


@given(st.text(SIGNS, max_size=8), st.text(SIGNS, max_size=6))
def test_a_pattern_fits_as_python_s_own_do(pattern: str, group_id: str) -> None:
    assert fits(pattern, group_id) == fnmatchcase(group_id, pattern)
