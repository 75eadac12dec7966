"""The tables of the shipped captures as an earlier version of the product gave them, kept row by row.

    python -m tests.support.kept_tables [CAPTURE …]

writes them anew: only after a change that is meant to change them, and with the difference looked at.
"""

from __future__ import annotations

import base64
import json
import lzma
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support.captures import ALL, capture
from tests.support.pure_pipeline import SILVER, Row, Tables, run_pipeline

FOLDER = Path(__file__).resolve().parents[1] / "data" / "tables"
LAYERS = ("silver", "gold")
PASSING = frozenset({"is_settled", "settled_at"})
"""Columns that hang on which evidence came when, and say nothing of a group."""


def kept(name: str, layer: str) -> Tables:
    """Return a capture's tables as they were kept, values as `as_kept` writes them."""
    tables: Tables = {}
    for line in lzma.decompress((FOLDER / f"{name}.{layer}.jsonl.xz").read_bytes()).splitlines():
        row = json.loads(line)
        tables.setdefault(row.pop("table"), []).append(row)
    return tables


def as_kept(rows: Iterable[Row]) -> list[Row]:
    """Return rows as they read after having been kept: bytes in base64, tuples as lists, keys as text."""
    return [json.loads(_text(row)) for row in rows]


def _text(row: Row) -> str:
    return json.dumps(row, default=_encoded)


def _encoded(value: object) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(f"no JSON for {type(value).__name__}")


def keep(name: str, tables: Tables) -> None:
    """Write a capture's tables."""
    for layer in LAYERS:
        lines = [
            _text({"table": table, **{column: value for column, value in row.items() if column not in PASSING}})
            for table, rows in tables.items()
            if (table in SILVER) == (layer == "silver")
            for row in rows
        ]
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{name}.{layer}.jsonl.xz").write_bytes(lzma.compress("\n".join(lines).encode(), preset=9))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for each in sys.argv[1:] or ALL:
            keep(each, run_pipeline(capture(each, Path(scratch))))
