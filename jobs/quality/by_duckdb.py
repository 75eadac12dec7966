"""Asks DuckDB which checks and laws rows break, where they are in this process or in files of this machine.

Spark plans the hundred small questions for longer than a small run may take altogether, and is slower with many rows,
too. The statement is one and the same: sqlglot puts Spark's SQL into DuckDB's, and tests hold the answers
of both together.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from transforms.quality.laws.law import DEFAULTS
from transforms.quality.statements import WHOLE_ROW

_SETTINGS: dict[str, Any] = {
    "TimeZone": "UTC",
    "autoinstall_known_extensions": False,
    "preserve_insertion_order": False,
}

_MOST_MEMORY = "4GB"
"""Beyond it, what is sorted or grouped goes to the disk."""


@dataclass(frozen=True)
class RowFiles:
    """Rows in Parquet files.

    Attributes:
        files: the files; at least one.
        columns: columns that they have.
    """

    files: tuple[str, ...]
    columns: tuple[str, ...]


def ask(statement: str, tables: Mapping[str, pa.Table | RowFiles], scratch: Path | None = None) -> list[dict[str, Any]]:
    """Return the rows that a statement selects.

    Args:
        statement: in Spark's SQL; `{name}` stands for the rows of a table.
        tables: these rows, by name.
        scratch: folder for what is more than memory may hold.
    """
    duckdb: Any = importlib.import_module("duckdb")  # imported by those who ask, as sqlglot is: both take their time
    spill = {} if scratch is None else {"memory_limit": _MOST_MEMORY, "temp_directory": str(scratch)}
    with duckdb.connect(config={**_SETTINGS, **spill}) as connection:
        for name, rows in tables.items():
            if isinstance(rows, RowFiles):
                connection.execute(f'CREATE VIEW "{name}" AS {_selected(rows)}')
            else:
                connection.register(name, rows)
        answer = connection.execute(_translated(statement, tables))
        names = [column[0] for column in answer.description]
        return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def _selected(rows: RowFiles) -> str:
    missing = "".join(f", {default} AS {name}" for name, default in DEFAULTS.items() if name not in rows.columns)
    return f"SELECT *{missing} FROM read_parquet([{', '.join(map(_text, rows.files))}])"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _translated(statement: str, tables: Mapping[str, Any]) -> str:
    sqlglot: Any = importlib.import_module("sqlglot")
    named = statement.replace(WHOLE_ROW, "to_json(offending)").format_map({name: name for name in tables})
    ignore = sqlglot.ErrorLevel.IGNORE  # hints are Spark's own
    return "".join(sqlglot.transpile(named, read="spark", write="duckdb", identify=True, unsupported_level=ignore))
