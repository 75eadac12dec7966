"""Findings that end as time goes by: nothing happens to their group, and nothing else of them is another for it.

A storm may go on for as long as one more rebalance would still be part of it, and a burst for as long as one more error
would. Both say until when that is, unless something else is waited for; all else in their rows is of what has happened.
"""

from __future__ import annotations

from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.question import Question, of_table
from transforms.sql import quoted, truth

OPEN_UNTIL = "open_until"
"""Column that says until when a finding stays open, as long as there is no news; null = that is not known."""


def ended(spec: TableSpec, seen_until: float) -> Question:
    """Ask for the findings of a table that are open, and over by now: as they are from now on.

    Args:
        spec: the table, which has `OPEN_UNTIL`.
        seen_until: end of the data (epoch ms).
    """
    columns = ", ".join(f"{truth(False)} AS is_open" if name == "is_open" else quoted(name) for name in spec.columns)
    return Question(
        f"""
        SELECT {columns} FROM {of_table(spec)}
        WHERE is_open AND unix_micros({OPEN_UNTIL}) / 1000.0D < {seen_until!r}D""",
        (spec,),
        struct_type(spec).toNullable(),
    )
