"""The golden cases: one folder each, with what goes in, what must come out, and why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.catalog import BY_NAME
from schemas.types import Array
from tests.support.drawn_table import Drawing, Row, draw, read
from transforms.findings.storms.limits import StormLimits, Thresholds

FOLDER = Path(__file__).resolve().parents[2] / "golden"

DEFAULTS: Row = {
    "group_type": "classic",
    "cluster": "demo",
    "life": 1,
    "trigger": "unknown",
    "evidence": ["broker_log"],
    "is_inferred": False,
    "missing_before": 0,
    "api": "Heartbeat",
    "broker": "1",
    "error": "NONE",
    "is_leader": False,
    "computed_partition": 0,
    "is_tombstone": False,
    "txn_state": "none",
}


@dataclass(frozen=True)
class Case:
    """One golden case of one table."""

    table: str
    name: str
    given: Drawing
    expected: Drawing

    def rows(self, table: str) -> list[Row]:
        """The rows that go in, with every column of the table; what is not drawn is a default or null."""
        return [complete(table, row) for row in self.given.tables.get(table, [])]

    def thresholds(self) -> Thresholds:
        """The limits that are drawn."""
        names = StormLimits.__dataclass_fields__
        return Thresholds(StormLimits(**{name: n for name, n in self.given.settings.items() if name in names}))

    def compare(self, found: list[Row], columns: set[str] | None = None) -> None:
        """Assert that the rows found are those drawn, in the drawn columns (or those of them that are given)."""
        names = [name for name in self.expected.columns[self.table] if columns is None or name in columns]
        order = [name for name in BY_NAME[self.table].key if name in names]
        key = [[str(row[name]) for name in order] for row in found]
        found = [row for _, row in sorted(zip(key, found, strict=True), key=lambda pair: pair[0])]
        wanted = sorted(self.expected.tables[self.table], key=lambda row: [str(row[name]) for name in order])
        assert draw(found, names) == draw(wanted, names), self.name


def complete(table: str, row: Row) -> Row:
    """Fill the columns of a table that a test does not care for."""
    spec = BY_NAME[table]
    return {name: row.get(name, _fitting(spec.column(name).data_type, DEFAULTS.get(name))) for name in spec.columns}


def _fitting(data_type: object, default: Any) -> Any:
    """Return the default of a column; of evidence some tables have several kinds, and others one."""
    return default[0] if isinstance(default, list) and not isinstance(data_type, Array) else default


def cases(table: str) -> list[Case]:
    """All cases of a table, by name."""
    folders = sorted(folder for folder in (FOLDER / table).iterdir() if folder.is_dir())
    return [Case(table, folder.name, read(folder / "input.txt"), read(folder / "expect.txt")) for folder in folders]
