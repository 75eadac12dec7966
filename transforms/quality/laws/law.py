"""What a law is: something that holds across rows or tables, whatever the data, with the query for what breaks it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from string import Formatter

from schemas.catalog import BY_NAME
from schemas.table import TableSpec

CLOCK = "INTERVAL 1 MILLISECOND"
"""Two witnesses of one moment (a record, a line) may differ by this."""

FOR_EVER = "TIMESTAMP '9999-01-01'"
"""End of what is still open."""

LIFE = "cluster, group_id, life"
GENERATION = f"{LIFE}, generation"

DEFAULTS: dict[str, str] = {"group_type": "'classic'", "hold": "'owned'", "role": "CAST(NULL AS STRING)"}
"""Columns that laws ask for and not every table has, with what holds for all rows of one that lacks them (SQL)."""

_NOT_TABLES = frozenset({"sources"})


@dataclass(frozen=True)
class Law:
    """One law.

    Attributes:
        name: what results and messages call it.
        table: name of the table whose rows break it.
        meaning: what holds, as a sentence.
        query: SQL that selects what breaks it, at least with a column `cluster`. `{table}` stands for the rows of a
            table, `:name` for a threshold or `:now`. Whatever it compares lies within one cluster.
        is_critical: a batch that breaks it is not published; otherwise it is a warning.
    """

    name: str
    table: str
    meaning: str
    query: str
    is_critical: bool = True

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """Names of what the query reads, in its order."""
        return tuple(dict.fromkeys(name for _, name, _, _ in Formatter().parse(self.query) if name))

    @property
    def spec(self) -> TableSpec:
        """Declaration of the table whose rows break it."""
        return BY_NAME[self.table]

    def __post_init__(self) -> None:
        """Refuse a law that reads what there is not."""
        for name in {*self.reads, self.table} - _NOT_TABLES:
            if name not in BY_NAME:
                raise ValueError(f"{self.name}: no table {name}")
