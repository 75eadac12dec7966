"""Patterns of group ids, as a shell matches file names, for Python and for Java: one regular expression for both.

Python's own translation of them is in words that Java does not have, up to Python 3.10, or reads otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_OF_CLASSES = re.compile(r"([\\\[\]^&~|])")
"""Signs that would mean something within brackets, to one of the two."""

_NOTHING = "(?!)"


def fits(pattern: str, group_id: str) -> bool:
    """Whether a group id as a whole fits a pattern."""
    return re.fullmatch(_body(pattern), group_id, re.DOTALL) is not None


def for_java(pattern: str) -> str:
    """Return the regular expression that says the same to Java, and so to Spark."""
    return rf"(?s)\A(?:{_body(pattern)})\z"


@lru_cache
def _body(pattern: str) -> str:
    return "".join(_parts(pattern))


def _parts(pattern: str) -> Iterator[str]:
    place = 0
    while place < len(pattern):
        sign, place = pattern[place], place + 1
        # A bracket right behind the first one, or behind its "!", is one of those that are listed.
        end = pattern.find("]", place + 1 + pattern.startswith("!", place)) if sign == "[" else -1
        if sign in "*?":
            yield ".*" if sign == "*" else "."
        elif end < 0:
            yield re.escape(sign)
        else:
            yield _one_of(pattern[place:end])
            place = end + 1


def _one_of(listed: str) -> str:
    """Return what matches one of some signs, or with "!" any other; nothing, where their range runs backwards."""
    is_other = listed.startswith("!")
    signs = _OF_CLASSES.sub(r"\\\1", listed.removeprefix("!"))
    found = f"[^{signs}]" if is_other else f"[{signs}]"
    try:
        re.compile(found)
    except re.error:
        return "." if is_other else _NOTHING
    return found
