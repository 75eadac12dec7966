"""The few requests that findings are made of lie apart in their files, so that the many are not read for them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.lake.new_files import FileWriter
from schemas.spark import struct_type
from schemas.tables.silver import GROUP_REQUESTS

AT = datetime(2026, 11, 26, 12, tzinfo=timezone.utc)

MANY = [("Heartbeat", "NONE", 7), ("OffsetCommit", "NONE", 7), ("SyncGroup", "NONE", 7)]
MANY_OF_EPOCHS = [("ConsumerGroupHeartbeat", "NONE", 3)]
FEW = [
    ("JoinGroup", "NONE", None),
    ("LeaveGroup", "NONE", None),
    ("Heartbeat", "ILLEGAL_GENERATION", 6),
    ("OffsetCommit", "UNKNOWN_MEMBER_ID", 7),
    ("ConsumerGroupHeartbeat", "NONE", 0),
    ("ConsumerGroupHeartbeat", "NONE", -1),
    ("OffsetCommit", "NONE", -1),  # of nobody's generation
]


def written(folder: Path, requests: list[tuple[str, str, int | None]]) -> Path:
    """Write requests as those who read logs do, in two batches, and return the file."""
    fields = to_arrow_schema(struct_type(GROUP_REQUESTS).toNullable())
    schema = pa.schema([each for each in fields if each.name not in ("cluster", "loaded_at")])
    rows: list[dict[str, Any]] = [
        {
            "broker": "1",
            "source_file": "kafka-request.log",
            "line_number": number,
            "seq": 0,
            "group_id": "g",
            "api": api,
            "error": error,
            "error_code": 0 if error == "NONE" else 22,
            "generation": generation,
            "answered_at": AT + timedelta(milliseconds=number),
            "handled_at": AT + timedelta(milliseconds=number),
            "sent_offsets": [{"topic": "t", "partition": 0, "offset": number}] if api == "OffsetCommit" else None,
        }
        for number, (api, error, generation) in enumerate(requests)
    ]
    writer = FileWriter(GROUP_REQUESTS, folder, "c", loaded_at=AT)
    half = len(rows) // 2
    for part in (rows[:half], rows[half:]):
        writer.write(pa.RecordBatch.from_pylist(part, schema))
    (file,) = writer.end()
    assert file.row_count == len(requests)
    return folder / file.path


@pytest.mark.parametrize("few", FEW)
def test_whoever_is_refused_comes_or_goes_lies_apart(tmp_path: Path, few: tuple[str, str, int | None]) -> None:
    file = parquet.ParquetFile(written(tmp_path, [*MANY, few, *MANY_OF_EPOCHS, few]))
    groups = [file.read_row_group(at).to_pylist() for at in range(file.num_row_groups)]
    told = [[(row["api"], row["error"], row["generation"]) for row in group] for group in groups]
    assert told == [[few, few], [*MANY, *MANY_OF_EPOCHS]]
    numbers = [[row["line_number"] for row in group] for group in groups]
    assert numbers == [[3, 5], [0, 1, 2, 4]], "each in the order in which they were read"


@pytest.mark.parametrize(("requests", "groups"), [(MANY, 1), (FEW, 1), ([*FEW, *MANY], 2)])
def test_a_file_without_the_one_or_the_other_is_whole(
    tmp_path: Path, requests: list[tuple[str, str, int | None]], groups: int
) -> None:
    assert parquet.ParquetFile(written(tmp_path, requests)).num_row_groups == groups


@pytest.mark.spark
def test_spark_reads_the_few_alone(spark: Any, tmp_path: Path) -> None:
    """What the queries for storms and bursts ask for, by the number of rows that come out of the file's reader."""
    many = [*MANY, *MANY_OF_EPOCHS] * 5_000
    rows = spark.read.parquet(str(written(tmp_path, [*many, *FEW])))
    comes_or_goes = F.col("api").isin("JoinGroup", "LeaveGroup")
    comes_or_goes |= F.col("api").isin("ConsumerGroupHeartbeat", "ShareGroupHeartbeat") & (F.col("generation") <= 0)
    for wanted, count in (
        (F.col("error").isin("ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID"), 2),
        (comes_or_goes | (F.col("error") != "NONE"), 6),
    ):
        found = rows.where(wanted)
        assert len(found.collect()) == count
        read = found._jdf.queryExecution().executedPlan().collectLeaves().head()
        assert read.metrics().apply("numOutputRows").value() == len(FEW)
    assert rows.where("api = 'Heartbeat'").count() == 5_001
