"""Tables of the report: columns, rows of cells, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TableRow:
    """One row; `anchor` is what links point to, `link` where its first cell leads."""

    cells: tuple[str, ...]
    anchor: str = ""
    link: str = ""


@dataclass(frozen=True)
class Table:
    """A table with a caption.

    Attributes:
        caption: what a row is.
        columns: names of the columns; those of numbers are in `numeric`.
        rows: the rows.
        numeric: places of the columns that hold numbers, set to the right.
        left_out: rows that there are beside these.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    numeric: frozenset[int] = frozenset()
    left_out: int = 0


def table(caption: str, columns: Sequence[str], rows: Sequence[TableRow], in_all: int = 0) -> Table:
    """Return a table; a column whose name ends in a `#` holds numbers."""
    numeric = frozenset(place for place, name in enumerate(columns) if name.endswith("#"))
    names = tuple(name.removesuffix("#").strip() for name in columns)
    return Table(caption, names, tuple(rows), numeric, max(in_all - len(rows), 0))
