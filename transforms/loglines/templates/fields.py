"""Fields of templates: what they match, and what is done with what they caught."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Fact = TypeVar("Fact")

Put = Callable[[Fact, str], None]
"""Stores a text in a fact; a ValueError means that the line is not what its template says."""

Kind = tuple[str, Put[Fact]]
"""Regular expression of a field, with one group, and what is done with what it caught."""

LAZY, GREEDY, INTEGER = "(.*?)", "(.*)", r"(-?\d{1,10})"

_INT_MAX = (1 << 31) - 1


def put_text(name: str) -> Put[Any]:
    """Return what stores a text in an attribute."""

    def put(fact: Any, raw: str) -> None:
        setattr(fact, name, raw)

    return put


def put_integer(name: str) -> Put[Any]:
    """Return what stores a 32 bit number in an attribute."""

    def put(fact: Any, raw: str) -> None:
        value = int(raw)
        if abs(value) > _INT_MAX:
            raise ValueError(f"{name} {raw} is out of range")
        setattr(fact, name, value)

    return put


def drop(fact: Any, raw: str) -> None:
    """Match, keep nothing: the whole line is kept, or none of it."""
