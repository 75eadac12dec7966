"""What the tables have let go of because of its age, so that nobody takes it in again.

Sources keep longer than tables do: a file of a log that has grown is read from its beginning again, and so is a segment
of a compacted topic. So it is noted for each table from which sources old rows went, and what is as old is not taken
from these a second time. A source that is new to the table gives all it has, however old.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime
from itertools import chain
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.lake.load_clock import iso
from jobs.lake.notes import Notes
from jobs.lake.rows import WRITTEN_AT
from schemas.table import TableSpec

NAME = "retired"

_SOURCE = ("topic_partition", "topic_partition_of_record", "broker")


def written_at(spec: TableSpec) -> str:
    """Return the column that says how old a row is: when what it tells of was written."""
    return next(name for name in WRITTEN_AT if name in spec.columns)


def source_of(spec: TableSpec) -> str | None:
    """Return the column that says what a row was read from: a partition, or a broker; None = the table has none."""
    return next((name for name in _SOURCE if name in spec.columns), None)


class Retired:
    """What has gone of age, for one cluster.

    Args:
        notes: where it is noted.
        table_id: returns the id of a table, None if it does not exist; one that was made anew takes in everything.
    """

    def __init__(self, notes: Notes, table_id: Callable[[TableSpec], str | None]) -> None:
        self._notes = notes
        self._table_id = table_id

    def of(self, spec: TableSpec) -> dict[str, str]:
        """Return the moments before which rows have gone, ISO 8601 in UTC, by source."""
        kept = self._all().get(spec.full_name)
        if kept is None or kept["table"] != self._table_id(spec):
            return {}
        before: dict[str, str] = kept["before"]
        return before

    def note(self, spec: TableSpec, sources: Collection[object], before: datetime) -> None:
        """Note from which sources rows are about to go, and how old they are at least."""
        known = self.of(spec)
        later = {str(source): max(iso(before), known.get(str(source), "")) for source in sources}
        kept = {"table": self._table_id(spec), "before": {**known, **later}}
        self._notes.put(NAME, {**self._all(), spec.full_name: kept})

    def left_out(self, spec: TableSpec, rows: DataFrame) -> DataFrame:
        """Return rows without those that have gone before, or would have."""
        source, known = source_of(spec), self.of(spec)
        if source is None or not known:
            return rows
        moments = F.create_map(*map(F.lit, chain.from_iterable(known.items())))
        before = F.element_at(moments, F.col(source).cast("string")).cast("timestamp")
        return rows.where(~F.coalesce(F.col(written_at(spec)) < before, F.lit(False)))

    def _all(self) -> dict[str, Any]:
        return self._notes.get(NAME) or {}
