"""What a law is: something that holds across rows or tables, whatever the data, with the query for what breaks it."""

from __future__ import annotations

from collections.abc import Iterable
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

_DEFAULTS: dict[str, str] = {
    "group_type": "'classic'",
    "hold": "'owned'",
    "role": "CAST(NULL AS STRING)",
    "is_known": "false",
}
"""Columns that laws ask for and not every table has, with what holds for all rows of one that lacks them (SQL)."""

KNOWN_FROM = """
    SELECT cluster, group_id, known.life AS known_life, known.generation AS known_generation FROM (
        SELECT cluster, group_id, min(struct(life, generation)) AS known FROM {generations} WHERE is_known
        GROUP BY cluster, group_id
    )
"""
"""By group, the first generation that is looked at for the sake of those after it: `is_known` says of rows that they,
and all before them, passed in an earlier batch. What is older is not there to be looked at, so that a law that compares
a row with those before it is put to those alone that are not known."""


def is_past(generation: str) -> str:
    """Return the SQL condition that a generation of a row's life lies before what is known: see `KNOWN_FROM`."""
    is_older = f"life < known_life OR (life = known_life AND {generation} < known_generation)"
    return f"coalesce({is_older}, false)"


IN_DOUBT = "_in_doubt"
"""Ends the name under which it is told that groups break a law whose evidence is incomplete, or may be."""

DOUBTED = """
    SELECT cluster, group_id FROM {audit_counts} WHERE differ_count > 0 OR unpredicted_count > 0
    UNION SELECT cluster, group_id FROM {generations} WHERE group_type <> 'classic'
"""
"""Groups of which something is missing, or may be: of one that has had epochs no two records tell the same, so that one
which is lost leaves a hole that nobody else fills."""

_NOT_TABLES = frozenset({"sources"})


def lacking(columns: Iterable[str]) -> list[str]:
    """Return what laws ask for and rows with these columns lack, to be selected beside them (SQL)."""
    there = set(columns)
    return [f"{default} AS {name}" for name, default in _DEFAULTS.items() if name not in there]


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
        needs_whole_evidence: it holds where nothing of a group's evidence is missing. The audit shows whether that is
            so: of a group some of whose requests were not answered as predicted, or could not be predicted, what breaks
            the law is a warning, told under a name of its own; so it is of a group that has had epochs.
    """

    name: str
    table: str
    meaning: str
    query: str
    is_critical: bool = True
    needs_whole_evidence: bool = False

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """Names of what the query reads, in its order, and of what tells whose evidence is whole."""
        return _read_by(self.query + DOUBTED if self.needs_whole_evidence else self.query)

    @property
    def spec(self) -> TableSpec:
        """Declaration of the table whose rows break it."""
        return BY_NAME[self.table]

    def __post_init__(self) -> None:
        """Refuse a law that reads what there is not."""
        for name in {*self.reads, self.table} - _NOT_TABLES:
            if name not in BY_NAME:
                raise ValueError(f"{self.name}: no table {name}")

    @property
    def certain(self) -> str:
        """SQL that selects what breaks it for certain: of groups in doubt nothing, if it needs whole evidence."""
        if not self.needs_whole_evidence:
            return self.query
        return f"SELECT * FROM ({self.query}) LEFT ANTI JOIN ({DOUBTED}) USING (cluster, group_id)"

    @property
    def verdicts(self) -> tuple[tuple[str, str, bool], ...]:
        """What is told of it: name, meaning, whether it is critical; once more if groups can be in doubt."""
        told = (self.name, self.meaning, self.is_critical)
        if not self.needs_whole_evidence:
            return (told,)
        of_doubted = "of groups with epochs, and of those whose evidence is incomplete, as the audit shows"
        return told, (f"{self.name}{IN_DOUBT}", f"{self.meaning}; {of_doubted}", False)


def _read_by(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for _, name, _, _ in Formatter().parse(query) if name))
