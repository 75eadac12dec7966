"""Regular expressions that consumers subscribe with, as Kafka reads them: by RE2/J, which has RE2's grammar.

Any client can send any text, so nothing here raises, and nothing takes long: RE2 goes through a text once.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import re2

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 64 << 20  # RE2/J has no such limit; with its own one RE2 refuses what repeats much


@lru_cache(maxsize=256)
def _compiled(regex: str) -> Any:
    """Return a regular expression compiled; None if it is none."""
    try:
        return re2.compile(regex, _OPTIONS)
    except (re2.error, UnicodeError):
        return None


def is_valid_regex(regex: str) -> bool:
    """Whether a coordinator takes a regular expression."""
    return _compiled(regex) is not None


def matching(regex: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return, in their order, the names that a regular expression matches as a whole; none if it is none."""
    pattern = _compiled(regex)
    return tuple(sorted(name for name in names if pattern is not None and pattern.fullmatch(name)))
