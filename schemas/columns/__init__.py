"""The column dictionary: each column's type and meaning, said once.

A name means the same thing in every table. Units are part of the name: `_ms` is a duration in milliseconds,
`_at` a moment in UTC, `_count` a number of things, `is_` a yes or no. Null means "not known", never "none".
"""

from __future__ import annotations

from schemas.columns.entry import Entry
from schemas.columns.facts import FACT_COLUMNS
from schemas.columns.findings import FINDING_COLUMNS
from schemas.columns.quality import QUALITY_COLUMNS

__all__ = ["COLUMNS", "Entry"]


def _said_once(*parts: dict[str, Entry]) -> dict[str, Entry]:
    """Join the parts of the dictionary; refuse a name that two of them have."""
    joined: dict[str, Entry] = {}
    for part in parts:
        if again := joined.keys() & part.keys():
            raise ValueError(f"{', '.join(sorted(again))} stands in the dictionary twice")
        joined |= part
    return joined


COLUMNS = _said_once(FACT_COLUMNS, FINDING_COLUMNS, QUALITY_COLUMNS)
