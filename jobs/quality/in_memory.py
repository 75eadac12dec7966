"""Asks DuckDB which checks and laws rows break, where they are few.

Spark plans the hundred small questions for longer than a small run may take altogether; DuckDB has answered before. The
statement is one and the same: sqlglot puts Spark's SQL into DuckDB's, and tests hold the answers of both together.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from transforms.quality.statements import WHOLE_ROW

_SETTINGS: dict[str, Any] = {"TimeZone": "UTC", "autoinstall_known_extensions": False}


def ask(statement: str, tables: Mapping[str, pa.Table]) -> list[dict[str, Any]]:
    """Return the rows that a statement selects.

    Args:
        statement: in Spark's SQL; `{name}` stands for the rows of a table.
        tables: these rows, by name.
    """
    duckdb: Any = importlib.import_module("duckdb")  # imported by those who ask, as sqlglot is: both take their time
    with duckdb.connect(config=_SETTINGS) as connection:
        for name, rows in tables.items():
            connection.register(name, rows)
        answer = connection.execute(_translated(statement, tables))
        names = [column[0] for column in answer.description]
        return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def _translated(statement: str, tables: Mapping[str, pa.Table]) -> str:
    sqlglot: Any = importlib.import_module("sqlglot")
    named = statement.replace(WHOLE_ROW, "to_json(offending)").format_map({name: name for name in tables})
    ignore = sqlglot.ErrorLevel.IGNORE  # hints are Spark's own
    return "".join(sqlglot.transpile(named, read="spark", write="duckdb", identify=True, unsupported_level=ignore))
