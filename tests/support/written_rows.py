"""Rows of two tables, to be put into lakes of several clusters, and what lies there afterwards."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from schemas.catalog import BY_NAME
from schemas.spark import struct_type

TRANSITIONS = BY_NAME["transitions"]
RECORDS = BY_NAME["offsets_records"]
CLUSTERS = ("c's", "plain")
AT = datetime(2026, 1, 1, tzinfo=timezone.utc)


def transition(group: str, number: int, is_settled: bool) -> dict[str, Any]:
    at = AT + timedelta(seconds=number)
    stamps = {"at": at, "settled_at": at if is_settled else None, "is_settled": is_settled, "is_inferred": False}
    words = {"to_state": "Stable", "event": "record", "source": "record", "group_type": "classic"}
    return {"group_id": group, "life": 1, "seq": number, "generation": number, **stamps, **words}


def record(partition: int, offset: int) -> dict[str, Any]:
    return {"topic_partition": partition, "record_offset": offset, "recorded_at": AT, "value": b"x"}


def frame(spark: Any, spec: Any, rows: list[dict[str, Any]]) -> Any:
    kind = struct_type(spec).toNullable()
    return spark.createDataFrame([tuple(row.get(name) for name in kind.names) for row in rows], kind).drop("cluster")


def lake_of(spark: Any, root: Path, cluster: str) -> Any:
    from jobs.lake.lake import Lake

    return Lake(spark, str(root), "", cluster)


def told(lake: Any, spec: Any = TRANSITIONS, by_spark: bool = False) -> list[str]:
    """What is read by those who know nothing but the table's log: delta-rs, or a session of Spark."""
    if by_spark:
        rows = lake.spark.read.format("delta").load(lake.path(spec)).where(f'cluster = "{lake.cluster}"')
        return sorted(str(row) for row in rows.select(*spec.columns).collect())
    of_cluster = [("cluster", "=", lake.cluster)]
    rows = DeltaTable(lake.path(spec)).to_pyarrow_table(filters=of_cluster, columns=list(spec.columns))
    return sorted(map(str, rows.to_pylist()))


def operation(lake: Any, spec: Any = TRANSITIONS) -> str:
    """Who wrote last: delta-rs names its writes otherwise than Delta does."""
    (last,) = DeltaTable(lake.path(spec)).history(1)
    return str(last.get("clientVersion") or last.get("engineInfo"))
