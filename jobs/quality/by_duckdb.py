"""Asks DuckDB which checks and laws rows break, where they are in this process or in files of this machine.

Spark plans the hundred small questions for longer than a small run may take altogether, and is slower with many rows,
too. The statement is one and the same: sqlglot puts Spark's SQL into DuckDB's, and tests hold the answers
of both together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from jobs.frame.row_files import Part
from jobs.lake.duckdb_files import connected, in_parts, place_of, spilling, translated
from transforms.quality.laws.law import lacking
from transforms.quality.statements import WHOLE_ROW
from transforms.quality.thresholds import Thresholds

_MOST_MEMORY = "4GB"
"""Beyond it, what is sorted or grouped goes to the disk."""


@dataclass(frozen=True)
class RowFiles:
    """Rows in Parquet files.

    Attributes:
        query: DuckDB's query for the rows.
        columns: columns that they have.
    """

    query: str
    columns: tuple[str, ...]


def rows_of(parts: Sequence[Part], columns: Sequence[str]) -> RowFiles:
    """Return all rows of some files, of which there is at least one; with what is beside them they have these columns.

    Args:
        parts: the files.
        columns: the columns.
    """
    return RowFiles(in_parts(parts), tuple(columns))


def ask(
    statements: list[str],
    tables: Mapping[str, pa.Table | RowFiles],
    thresholds: Thresholds,
    scratch: Path | None = None,
) -> list[dict[str, Any]]:
    """Return the rows that statements select, one statement after the other.

    Args:
        statements: in Spark's SQL; `{name}` stands for the rows of a table.
        tables: these rows, by name.
        thresholds: values that it names.
        scratch: folder for what is more than memory may hold.
    """
    spill = None if scratch is None else spilling(scratch, _MOST_MEMORY)
    with connected(is_ordered=False, spill=spill) as connection:
        for name, rows in tables.items():
            told, columns = (rows.query, rows.columns) if isinstance(rows, RowFiles) else (rows, rows.column_names)
            place = place_of(connection, name, told)
            selected = ", ".join(["*", *lacking(columns)])
            connection.execute(f'CREATE TEMP VIEW "{name}" AS SELECT {selected} FROM {place}')
        found = []
        for statement in statements:
            named = statement.replace(WHOLE_ROW, "to_json(offending)").format_map({name: name for name in tables})
            answer = connection.execute(translated(named), thresholds.named_in(statement))
            names = [column[0] for column in answer.description]
            found += [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
        return found
