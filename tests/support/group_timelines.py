"""One group's rows of the pure pipeline as the notebooks take them."""

from __future__ import annotations

import pandas as pd

from notebooks.timeline import GroupTimeline
from schemas.catalog import BY_NAME
from schemas.types import TIMESTAMP
from tests.support.pure_pipeline import CLUSTER, Tables

FRAMES = (
    "generations",
    "transitions",
    "assignments",
    "rebalance_storms",
    "member_sessions",
    "reconciliations",
    "orphaned_partitions",
)


def timeline_of(tables: Tables, group_id: str) -> GroupTimeline:
    """Return a group's timeline; it ends where the cluster's data do."""
    until = max(row["at"] for row in tables["transitions"] if row["at"] is not None)
    frames = (_frame(tables, name, group_id) for name in FRAMES)
    return GroupTimeline(CLUSTER, group_id, *frames, until=pd.Timestamp(until, unit="ms"))


def _frame(tables: Tables, name: str, group_id: str) -> pd.DataFrame:
    """Rows as Spark hands them over: every column is there, moments are times even where all are null."""
    spec = BY_NAME[name]
    rows = [row for row in tables.get(name, []) if row["group_id"] == group_id]
    table = pd.DataFrame(rows, columns=list(spec.columns))
    for column in spec.columns:
        if spec.column(column).data_type is TIMESTAMP:
            table[column] = pd.to_datetime(table[column].astype(float), unit="ms").dt.round("ms")
    return table
