"""One group's rows of the pure pipeline as the notebooks take them."""

from __future__ import annotations

import pandas as pd

from notebooks.timeline import FRAMES, GroupTimeline
from schemas.table import TableSpec
from schemas.types import TIMESTAMP
from tests.support.pure_pipeline import CLUSTER, Tables


def timeline_of(tables: Tables, group_id: str) -> GroupTimeline:
    """Return a group's timeline; it ends where the cluster's data do."""
    until = max(row["at"] for row in tables["transitions"] if row["at"] is not None)
    frames = {name: _frame(tables, spec, group_id) for name, spec in FRAMES.items()}
    return GroupTimeline(CLUSTER, group_id, **frames, until=pd.Timestamp(until, unit="ms"))


def _frame(tables: Tables, spec: TableSpec, group_id: str) -> pd.DataFrame:
    """Rows as Spark hands them over: every column is there, moments are times even where all are null."""
    rows = [row for row in tables.get(spec.name, []) if row["group_id"] == group_id]
    table = pd.DataFrame(rows, columns=list(spec.columns))
    for column in spec.columns:
        if spec.column(column).data_type is TIMESTAMP:
            table[column] = pd.to_datetime(table[column].astype(float), unit="ms").dt.round("ms")
    return table
