"""A table of an earlier release is given the columns that it lacks: nothing is in them in the rows that it has."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema, write_deltalake
from pyarrow import parquet
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from schemas.catalog import BY_NAME
from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.loads import loaded_after
from transforms.wanted_rows import Wanted

pytestmark = pytest.mark.spark

RECORDS = BY_NAME["offsets_records"]
ADDED = {"recorded_at", "value"}
"""Columns that the earlier release had not."""

AT = datetime(2026, 1, 1, tzinfo=timezone.utc)


def rows(kind: T.StructType, offsets: range, at: datetime) -> pa.Table:
    """Records of one partition with something in each column."""
    stamps = {"loaded_at": at, "recorded_at": at, "topic_partition": 3, "value": b"x", "cluster": "c"}
    known = {name: stamps.get(name) for name in kind.names}
    return pa.Table.from_pylist([{**known, "record_offset": offset} for offset in offsets], to_arrow_schema(kind))


@pytest.mark.usefixtures("no_table_is_small")
def test_rows_from_before_a_column_was_added_are_read_without_spark_as_with_it(spark: Any, tmp_path: Path) -> None:
    from jobs.lake.lake import Lake
    from transforms.given_rows import held, rows_held

    lake = Lake(spark, str(tmp_path), "", "c")
    now = struct_type(RECORDS)
    before = T.StructType([field for field in now if field.name not in ADDED])
    DeltaTable.create(lake.path(RECORDS), Schema.from_json(before.json()), partition_by=list(RECORDS.partitions))
    write_deltalake(lake.path(RECORDS), rows(before, range(2), AT), mode="append")
    later = AT + timedelta(hours=1)

    given = held(spark, rows(now, range(1, 4), later).drop_columns("cluster"), T.StructType(now[1:]))
    with lake.brief(True):
        assert lake.append(RECORDS, given, later) == 2, "one of them is there already"
        found = lake.some(RECORDS, Wanted(where="topic_partition = 3"))
    assert rows_held(found) is not None, "Spark has not been asked"
    told = {row.record_offset: (row.value, row.recorded_at is not None) for row in found.collect()}
    assert told == {0: (None, False), 1: (None, False), 2: (b"x", True), 3: (b"x", True)}
    columns = list(RECORDS.columns)
    assert sorted(map(str, found.select(columns).collect())) == sorted(
        map(str, lake.read(RECORDS).select(columns).collect())
    )
    assert counted(lake, None) == 4
    assert counted(lake, AT.isoformat()) == 2


@pytest.mark.parametrize("name", ["group_metadata", "coordinator_events", "group_requests", "generations"])
def test_a_column_of_any_type_can_be_added(tmp_path: Path, name: str) -> None:
    from jobs.lake.cluster_files import ClusterFile
    from jobs.lake.duckdb_files import connected, rows_in

    spec: TableSpec = BY_NAME[name]
    whole = to_arrow_schema(struct_type(spec).toNullable())
    key = pa.schema([field for field in whole if field.name in spec.key and field.name not in spec.partitions])
    parquet.write_table(pa.Table.from_pylist([{}], key), tmp_path / "of before")
    parquet.write_table(pa.Table.from_pylist([{}, {}], whole), tmp_path / "of now")
    files = [
        ClusterFile(path.name, str(path), 1, None, True if "is_settled" in spec.partitions else None, {}, {}, {})
        for path in sorted(tmp_path.iterdir())
    ]
    for some in (files, files[:1], files[1:]):
        with connected() as connection:
            found = connection.sql(rows_in(spec, some, "c")).to_arrow_table()
        assert found.select(spec.columns).cast(whole).num_rows == sum(2 if "now" in file.name else 1 for file in some)


def counted(lake: Any, load: str | None) -> int:
    from jobs.frame.keeping import keeping
    from jobs.lake.duckdb_files import connected, without_spark

    with keeping() as keep, connected() as connection:
        query = without_spark(lake.in_place(RECORDS, loaded_after(load), keep))
        assert isinstance(query, str), "DuckDB can read it"
        return len(connection.sql(query).to_arrow_table())
