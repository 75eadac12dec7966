"""Gold against its own declarations: keys, required columns, allowed values."""

from __future__ import annotations

from collections import Counter

from schemas.catalog import BY_NAME
from schemas.table import Layer, TableSpec
from schemas.types import BIGINT, BINARY, BOOLEAN, DOUBLE, INT, STRING, TIMESTAMP, Array, Map
from tests.support.truth import Truth
from tests.truth.timelines import Differences, Row, Tables

PYTHON_TYPES = {
    STRING.name: str,
    BINARY.name: (bytes, bytearray),
    INT.name: int,
    BIGINT.name: int,
    DOUBLE.name: float,
    BOOLEAN.name: bool,
    TIMESTAMP.name: (int, float),
}


def _gold(tables: Tables) -> list[TableSpec]:
    return [spec for name, spec in BY_NAME.items() if spec.layer is Layer.GOLD and name in tables]


def _name(spec: TableSpec, row: Row) -> str:
    return f"{spec.name} {tuple(row.get(column) for column in (spec.key or spec.not_null))}"


def keys_are_unique(truth: Truth, tables: Tables) -> Differences:
    """No two rows of a gold table have one key."""
    found = Differences()
    for spec in _gold(tables):
        counts = Counter(tuple(row[column] for column in spec.key) for row in tables[spec.name])
        for key, count in counts.items():
            found.expect(not spec.key or count == 1, f"{spec.name}: {count} rows with the key {key}")
    return found


def columns_are_filled(truth: Truth, tables: Tables) -> Differences:
    """Columns are the declared ones; keys and required columns hold no null."""
    found = Differences()
    for spec in _gold(tables):
        for row in tables[spec.name]:
            found.expect(
                set(row) == set(spec.columns), f"{_name(spec, row)}: columns {set(row) ^ set(spec.columns)} differ"
            )
            nulls = [column for column in spec.not_null if row.get(column) is None]
            found.expect(not nulls, f"{_name(spec, row)}: null in {nulls}")
    return found


def values_are_allowed(truth: Truth, tables: Tables) -> Differences:
    """Coded columns hold declared words, and every value has its column's type."""
    found = Differences()
    for spec in _gold(tables):
        columns = [spec.column(name) for name in spec.columns]
        for row in tables[spec.name]:
            for column in columns:
                value = row.get(column.name)
                if value is None:
                    continue
                words = f"{_name(spec, row)}: {column.name} is {value!r}"
                found.expect(column.allowed is None or value in column.allowed, words)
                found.expect(_fits(value, column.data_type), f"{words}, not {column.data_type.ddl()}")
    return found


def _fits(value: object, data_type: object) -> bool:
    if isinstance(data_type, Array):
        return isinstance(value, list) and all(item is not None and _fits(item, data_type.element) for item in value)
    if isinstance(data_type, Map):
        return isinstance(value, dict) and all(
            _fits(key, data_type.key) and _fits(item, data_type.value) for key, item in value.items()
        )
    kind = PYTHON_TYPES[data_type.name]  # type: ignore[attr-defined]
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
