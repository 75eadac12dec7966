"""Lakes filled by the whole pipeline, and their rows as plain Python values."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from jobs import run_pipeline
from jobs.lake.lake import Lake
from schemas.catalog import BY_NAME, TABLES
from transforms.coordinator.state import UnknownVersionError, load

CLUSTER = "test"
OF_THE_RUN = frozenset({"loaded_at", "first_seen_at", "seen_at"})
"""Columns that tell when something was loaded."""


def arguments(root: Path, capture: Path) -> list[str]:
    """Return the command line of a job for one capture, with the demonstration's thresholds."""
    logs = capture / "broker_logs"
    return [
        f"--cluster={CLUSTER}",
        f"--lake.root={root}",
        "--offsets.kind=segments",
        f"--offsets.path={capture / 'consumer_offsets'}",
        f"--logs.path={logs}",
        "--logs.broker=1" if (logs / "server.log").exists() else "--logs.broker={dir}",
        "--storms.window_ms=60000",
        "--storms.min_rebalances=5",
        "--bursts.gap_ms=5000",
        "--bursts.min_errors=5",
    ]


def fill(root: Path, capture: Path) -> None:
    """Run the pipeline over a capture."""
    code = run_pipeline.main(arguments(root, capture))
    assert code == 0, f"the pipeline ended with exit code {code}"


def rows_of(root: Path, *names: str) -> dict[str, list[dict[str, Any]]]:
    """Read the named tables of a lake, or all of them, as `rows_by_spark` does: without a query."""
    wanted = [spec for spec in TABLES if not names or spec.name in names]
    return {spec.name: _by_delta_rs(root / spec.layer.value / spec.name) for spec in wanted}


def rows_by_spark(spark: SparkSession, root: Path) -> dict[str, list[dict[str, Any]]]:
    """Read all tables of a lake as those who run the jobs do."""
    lake = Lake(spark, str(root), "", CLUSTER)
    return {spec.name: [row.asDict(recursive=True) for row in _in_ms(lake.read(spec)).collect()] for spec in TABLES}


def _by_delta_rs(folder: Path) -> list[dict[str, Any]]:
    if not folder.exists():
        return []
    rows = DeltaTable(folder.as_uri()).to_pyarrow_table(filters=[("cluster", "=", CLUSTER)])
    for at, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type):
            in_us = rows.column(at).cast(pa.timestamp("us", field.type.tz)).cast(pa.int64())
            rows = rows.set_column(at, field.name, pc.divide(in_us, 1000))
    return rows.to_pylist(maps_as_pydicts="strict")


def rows_of_quality(spark: SparkSession, root: Path, name: str) -> list[dict[str, Any]]:
    """Read a table about the runs."""
    read = Lake(spark, str(root), "", CLUSTER).read(BY_NAME[name])
    return [row.asDict(recursive=True) for row in _in_ms(read).collect()]


def comparable(rows: Iterable[dict[str, Any]], but: Collection[str] = OF_THE_RUN) -> list[str]:
    """Return rows in an order of their own, without some columns; the order of a map's entries is none."""
    kept = ({name: value for name, value in row.items() if name not in but} for row in rows)
    return sorted(json.dumps(row, sort_keys=True, default=_as_text) for row in kept)


def _as_text(raw: bytes) -> str:
    """Return bytes as text; of a replay's state what it says, whatever order a process keeps its sets in."""
    try:
        return repr(_in_order(load(bytes(raw))))
    except UnknownVersionError:
        return bytes(raw).hex()


def _in_order(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return [_in_order(getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, dict):
        return sorted(((_in_order(key), _in_order(each)) for key, each in value.items()), key=repr)
    if isinstance(value, (set, frozenset)):
        return sorted(map(_in_order, value), key=repr)
    return [_in_order(each) for each in value] if isinstance(value, (list, tuple)) else value


def versions(spark: SparkSession, root: Path) -> dict[str, int]:
    """Return each table's latest Delta version."""
    lake = Lake(spark, str(root), "", CLUSTER)
    return {spec.full_name: lake.version(spec) for spec in TABLES}


def _in_ms(frame: DataFrame) -> DataFrame:
    """Turn times into epoch milliseconds: no time zone can come in between."""
    return frame.select(
        *(
            F.unix_millis(field.name).alias(field.name) if isinstance(field.dataType, TimestampType) else field.name
            for field in frame.schema.fields
        )
    )
