"""Rows of tables packed as JSON for kernels: the columns are many, and of most rows most are null.

Moments become epoch ms, bytes base64, as msgspec reads them. In SQL as Spark and DuckDB both have it; Spark leaves out
nulls.
"""

from __future__ import annotations

from collections.abc import Iterable

from schemas.table import TableSpec
from schemas.types import BINARY, TIMESTAMP, Array, DataType, Struct
from transforms.sql import literal, quoted


def as_json(spec: TableSpec, names: Iterable[str]) -> str:
    """Return columns of a row of a table as JSON, a STRING.

    Args:
        spec: the table.
        names: the columns.
    """
    return f"to_json({_struct((name, _packed(spec.column(name).data_type, quoted(name))) for name in names)})"


def _packed(kind: DataType, value: str, depth: int = 0) -> str:
    """Return a value as it is packed."""
    if kind is TIMESTAMP:
        return f"unix_micros({value}) / 1000.0D"
    if kind is BINARY:
        return f"replace(base64({value}), '\\r\\n', '')"  # Spark breaks long lines
    match kind:
        case Array(element):
            each = f"each_{depth}"
            packed = _packed(element, each, depth + 1)
            return value if packed == each else f"transform({value}, {each} -> {packed})"
        case Struct(fields=fields):
            packed_fields = [(name, _packed(inner, f"{value}.{quoted(name)}", depth)) for name, inner in fields]
            is_as_it_is = all(packed == f"{value}.{quoted(name)}" for name, packed in packed_fields)
            return value if is_as_it_is else _struct(packed_fields)
    return value


def _struct(fields: Iterable[tuple[str, str]]) -> str:
    return f"named_struct({', '.join(f'{literal(name)}, {value}' for name, value in fields)})"
