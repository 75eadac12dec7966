"""Which values rows have in a column: the files, and groups of rows, that may have them too are told by its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.lake.cluster_files import ClusterFile
from transforms.sql import standard_text

_MOST_VALUES = 100
"""Logs, or partitions, that are asked for one by one."""


@dataclass(frozen=True)
class Reach:
    """The values of a column.

    Attributes:
        name: of the column.
        values: each of them if they are few; of many, the least and the greatest.
        are_all: they are few.
    """

    name: str
    values: tuple[Any, ...]
    are_all: bool

    def may_be_in(self, file: ClusterFile) -> bool:
        """Tell whether a file may have a row with such a value."""
        if not self.are_all:
            return file.may_have(self.name, *self.values)
        return any(file.may_have(self.name, value, value) for value in self.values)

    @property
    def in_sql(self) -> str:
        """The condition of rows with such a value, for DuckDB, which skips groups of rows that have none."""
        values = [standard_text(value) if isinstance(value, str) else str(value) for value in self.values]
        if self.are_all:
            return f'"{self.name}" IN ({", ".join(values)})'
        least, greatest = values
        return f'"{self.name}" BETWEEN {least} AND {greatest}'


def reach_of(rows: pa.Table, name: str) -> Reach | None:
    """Return what values rows have in a column, in which there is no null; None if files do not tell its bounds."""
    column = rows.column(name)
    if not pa.types.is_integer(column.type) and not pa.types.is_string(column.type):
        return None
    values = pc.unique(column).to_pylist()
    are_few = len(values) <= _MOST_VALUES
    return Reach(name, tuple(values) if are_few else tuple(pc.min_max(column).as_py().values()), are_few)
