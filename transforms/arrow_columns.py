"""Typed rows as Arrow's columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import astuple

_ROWS_TURNED_AT_ONCE = 200
"""As many as lie in the processor's cache."""


def by_columns(rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Return rows of one kind, of which there is at least one, by their columns."""
    names = rows[0].__struct_fields__
    columns: list[list[Any]] = [[] for _ in names]
    for start in range(0, len(rows), _ROWS_TURNED_AT_ONCE):
        turned = zip(*map(astuple, rows[start : start + _ROWS_TURNED_AT_ONCE]), strict=True)
        for column, values in zip(columns, turned, strict=True):
            column += values
    return dict(zip(names, columns, strict=True))


def arrow_column(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Build a column; times come in milliseconds, and Arrow counts microseconds and takes a map as a list of pairs."""
    if len(values) > 1 and values[0] == values[-1] and values.count(values[0]) == len(values):
        return pa.repeat(arrow_column(values[:1], kind)[0], len(values))  # as many are, of one group or file
    if pa.types.is_timestamp(kind):
        return pc.round(pc.multiply(pa.array(values, pa.float64()), 1000.0)).cast(pa.int64()).cast(kind)
    if pa.types.is_map(kind):
        values = [None if value is None else list(value.items()) for value in values]
    return pa.array(values, kind)
