"""What the quality gate holds each table to: most of it follows from the declaration, the rest is written down here.

A critical check says that the table is broken: keys that are not unique, nulls where the declaration has none, words
out of no vocabulary. A warning says that something is odd enough to be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from schemas.table import TableSpec


class Rule(str, Enum):
    """Kinds of checks."""

    UNIQUE = "unique"
    NOT_NULL = "not_null"
    ONE_OF = "one_of"
    AT_LEAST = "at_least"
    NOT_AFTER = "not_after"


@dataclass(frozen=True, slots=True)
class Check:
    """One check of one table.

    Attributes:
        rule: what is checked. NOT_AFTER: the first column is at most the second one, where both are known.
        columns: columns it concerns.
        is_critical: failing closes the gate; otherwise it is a warning.
        allowed: values of ONE_OF; null is allowed unless NOT_NULL says otherwise.
        minimum: least value of AT_LEAST.
    """

    rule: Rule
    columns: tuple[str, ...]
    is_critical: bool = True
    allowed: tuple[str, ...] = ()
    minimum: int = 0

    @property
    def name(self) -> str:
        """Rule and columns, as messages have it."""
        return f"{self.rule.value}({', '.join(self.columns)})"

    @property
    def meaning(self) -> str:
        """What holds where it is passed, as a sentence."""
        columns = ", ".join(self.columns)
        return {
            Rule.UNIQUE: f"no two rows have the same {columns}",
            Rule.NOT_NULL: f"{columns} is always known",
            Rule.ONE_OF: f"{columns} is one of {', '.join(self.allowed)}",
            Rule.AT_LEAST: f"{columns} is {self.minimum} or more",
            Rule.NOT_AFTER: f"{' is not after '.join(self.columns)}",
        }[self.rule]


def _in_order(*columns: str) -> tuple[Check, ...]:
    return tuple(Check(Rule.NOT_AFTER, pair, is_critical=False) for pair in zip(columns[:-1], columns[1:], strict=True))


def _at_least(minimum: int, *columns: str) -> tuple[Check, ...]:
    return tuple(Check(Rule.AT_LEAST, (name,), is_critical=False, minimum=minimum) for name in columns)


BY_HAND: dict[str, tuple[Check, ...]] = {
    "offsets_records": _at_least(0, "topic_partition", "record_offset"),
    "log_lines": _at_least(1, "line_number"),
    "group_requests": _in_order("received_at", "handled_at", "answered_at"),
    "generations": (
        *_in_order("preparing_at", "completing_at", "stable_at", "ended_at"),
        *_at_least(0, "rebalance_ms", "missing_before"),
        *_at_least(1, "life"),
    ),
    "assignments": _in_order("valid_from", "valid_to"),
    "orphaned_partitions": _in_order("from_at", "to_at"),
    "share_partitions": _in_order("from_at", "to_at"),
    "member_sessions": (*_in_order("joined_at", "ended_at"), *_in_order("first_generation", "last_generation")),
    "coordinators": _in_order("from_at", "to_at"),
    "rebalance_storms": (
        *_in_order("started_at", "ended_at"),
        *_in_order("peak_count", "rebalance_count"),
        *_in_order("partitions_moved_back", "partitions_moved"),
        *_at_least(0, "unstable_ms", "unowned_ms"),
    ),
    "slow_revokers": (*_in_order("started_at", "ended_at"), *_at_least(0, "held_up_ms")),
    "commit_gaps": (*_in_order("last_commit_at", "first_commit_at"), *_at_least(0, "owned_ms")),
    "illegal_generation_bursts": (
        *_in_order("started_at", "ended_at"),
        *_at_least(1, "error_count"),
        *_at_least(0, "zombie_ms"),
    ),
}
"""Checks that no declaration implies, by table; all of them are warnings."""


def checks_of(spec: TableSpec) -> tuple[Check, ...]:
    """Return all checks of a table: derived ones first."""
    key = (Check(Rule.UNIQUE, spec.key),) if spec.key else ()
    not_null = tuple(Check(Rule.NOT_NULL, (name,)) for name in spec.not_null)
    words = tuple(
        Check(Rule.ONE_OF, (name,), allowed=allowed)
        for name in spec.columns
        if (allowed := spec.column(name).allowed) is not None
    )
    return (*key, *not_null, *words, *BY_HAND.get(spec.name, ()))
