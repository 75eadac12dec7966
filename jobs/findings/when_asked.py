"""Tables that are opened no sooner than they are asked for: a large one takes Spark a query, be it read or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pyspark.sql import DataFrame

from schemas.table import TableSpec


class WhenAsked(Mapping[TableSpec, DataFrame]):
    """Rows of tables.

    Args:
        read: what gives the rows of each.
    """

    def __init__(self, read: Mapping[TableSpec, Callable[[], DataFrame]]) -> None:
        self._read = read
        self._rows: dict[TableSpec, DataFrame] = {}

    def __getitem__(self, spec: TableSpec) -> DataFrame:
        if spec not in self._rows:
            self._rows[spec] = self._read[spec]()
        return self._rows[spec]

    def __iter__(self) -> Iterator[TableSpec]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)
