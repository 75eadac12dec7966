"""States of groups are wide rows: who takes thousands of them at once needs more memory than there may be."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql.pandas.types import to_arrow_schema

from jobs.lake.new_files import FileWriter
from schemas.spark import struct_type
from schemas.tables.gold import REPLAY_SNAPSHOTS

AT = datetime(2026, 11, 28, 12, tzinfo=timezone.utc)
MEBIBYTE = 1 << 20


def written(folder: Path, state_bytes: int, count: int) -> parquet.FileMetaData:
    fields = to_arrow_schema(struct_type(REPLAY_SNAPSHOTS).toNullable())
    schema = pa.schema([each for each in fields if each.name not in ("cluster", "loaded_at")])
    rows: list[dict[str, Any]] = [
        {
            "group_id": f"g-{number}",
            "at": AT + timedelta(milliseconds=number),
            "version": 1,
            "state": number.to_bytes(4, "big") * (state_bytes // 4),
            "size_bytes": state_bytes,
        }
        for number in range(count)
    ]
    writer = FileWriter(REPLAY_SNAPSHOTS, folder, "c")
    writer.write(pa.RecordBatch.from_pylist(rows, schema))
    (file,) = writer.end()
    assert file.row_count == count
    path = folder / file.path
    assert parquet.read_table(path).column("group_id").to_pylist() == [row["group_id"] for row in rows]
    return parquet.read_metadata(path)


@pytest.mark.parametrize(("state_bytes", "count"), [(40_000, 1_500), (3 * MEBIBYTE, 5), (9 * MEBIBYTE, 2)])
def test_few_states_lie_together(tmp_path: Path, state_bytes: int, count: int) -> None:
    file = written(tmp_path, state_bytes, count)
    sizes = [file.row_group(at).num_rows * state_bytes for at in range(file.num_row_groups)]
    assert max(sizes) <= max(4 * MEBIBYTE, state_bytes)
    assert len(sizes) <= 2 + sum(sizes) // (2 * MEBIBYTE)


def test_narrow_rows_lie_together_as_ever(tmp_path: Path) -> None:
    assert written(tmp_path, 100, 20_000).num_row_groups == 1
