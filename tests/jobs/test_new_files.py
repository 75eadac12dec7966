"""Files that processes write beside a table: what is in them, what the table's log says of them, and when it does."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyarrow import parquet
from pyspark.sql import SparkSession

from jobs.lake.conflicts import Overtaken
from jobs.lake.landing import Landing
from jobs.lake.small_tables import SmallTables
from jobs.sources.decoded_tables import RecordsRead
from jobs.sources.segments import bulk
from jobs.sources.segments.files import find_segments
from schemas.catalog import BY_NAME
from schemas.table import TableSpec
from schemas.tables.bronze import OFFSETS_RECORDS
from schemas.tables.silver import OFFSET_COMMITS, REJECTED
from tests.support.odd_records import odd_pairs
from tests.support.record_writer import batch, marker
from transforms.wire import records

AT = datetime(2026, 11, 24, 12, 0, 0, 250_000, tzinfo=timezone.utc)
CLUSTER = "größe 1/2"
"""No name of a folder."""


@pytest.fixture
def tables(tmp_path: Path) -> SmallTables:
    found = SmallTables(cast(SparkSession, None), tmp_path / "lake", CLUSTER)  # what is tested here asks no query
    for spec in bulk.WRITTEN:
        sought = "record_offset,loaded_at,recorded_at" + (",group_id" if "group_id" in spec.columns else "")
        found.create(spec, {"delta.dataSkippingStatsColumns": sought})
    return found


def landings(tables: SmallTables, turn: int = 0, retired: dict[str, str] | None = None) -> list[Landing]:
    found = []
    for spec in bulk.WRITTEN:
        there = tables.files(spec)
        assert there is not None
        found.append(Landing(spec, tables.log(spec).folder, CLUSTER, AT, turn, there, retired or {}))
    return found


def read(folder: Path, found: list[Landing]) -> RecordsRead:
    aside = folder / "aside"
    aside.mkdir(exist_ok=True)
    return bulk.read(find_segments(str(folder)), found, aside, 1)


def commit(tables: SmallTables, read: RecordsRead, turn: int = 0) -> None:
    for spec in bulk.WRITTEN:
        tables.add(spec, read.files.get(spec.name, ()), "note", ("me", turn))


def rows(tables: SmallTables, spec: TableSpec) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", DeltaTable(tables.log(spec).uri).to_pyarrow_table().to_pylist())


def write(folder: Path, pairs: Sequence[tuple[bytes | None, bytes | None]], *more: bytes) -> Path:
    file = folder / "__consumer_offsets-7" / f"{0:020}.log"
    file.parent.mkdir(parents=True, exist_ok=True)
    written = [batch(at, pairs[at : at + 100]) for at in range(0, len(pairs), 100)]
    file.write_bytes(b"".join([*written, *more]))
    return folder


def shuffled() -> list[tuple[bytes | None, bytes | None]]:
    pairs = odd_pairs()
    random.Random(3).shuffle(pairs)
    return pairs


def test_each_record_is_in_bronze_and_in_one_table_of_silver(tables: SmallTables, tmp_path: Path) -> None:
    pairs = shuffled()
    found = read(write(tmp_path / "in", pairs, b"\x01" * 50), landings(tables))
    assert not rows(tables, OFFSETS_RECORDS), "nothing is there before the commit"
    commit(tables, found)
    bronze = sorted(rows(tables, OFFSETS_RECORDS), key=lambda row: row["record_offset"])
    assert [(row["key"], row["value"]) for row in bronze] == pairs
    assert {(row["cluster"], row["topic_partition"], row["loaded_at"]) for row in bronze} == {(CLUSTER, 7, AT)}
    decoded = [records.decode(*pair) for pair in pairs]
    for name in ("offset_commits", "group_metadata", "modern_group_records"):
        of_table = {at: each.row for at, each in enumerate(decoded) if each.table == name}
        there = {row["record_offset"]: row for row in rows(tables, BY_NAME[name])}
        assert there.keys() == of_table.keys()
        for at, row in of_table.items():
            assert {column: there[at][column] for column in row} == {k: _as_read(k, v) for k, v in row.items()}
    (aside,) = found.aside[REJECTED.name]
    positions = [row["position"] for row in parquet.read_table(aside).to_pylist()]
    refused = [f"7/{at}" for at, each in enumerate(decoded) if each.table == "rejected"]
    assert sorted(each for each in positions if "@" not in each) == sorted(refused)
    assert len(positions) == len(refused) + 1, "the bytes at the end"


def _as_read(name: str, value: Any) -> Any:
    if name.endswith("_at") and value is not None:
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=value)
    return value


def test_what_is_there_is_not_written_again(tables: SmallTables, tmp_path: Path) -> None:
    pairs = shuffled()
    commit(tables, read(write(tmp_path / "in", pairs[:300]), landings(tables)))
    before = rows(tables, OFFSETS_RECORDS)
    again = read(tmp_path / "in", landings(tables))
    assert not again.count_of(OFFSETS_RECORDS)
    more = read(write(tmp_path / "in", pairs[:450]), landings(tables))
    assert more.count_of(OFFSETS_RECORDS) == 150
    commit(tables, more, turn=1)
    assert len(rows(tables, OFFSETS_RECORDS)) == len(before) + 150


def test_whoever_was_overtaken_is_told(tables: SmallTables, tmp_path: Path) -> None:
    found = read(write(tmp_path / "in", shuffled()[:100]), landings(tables))
    commit(tables, found)
    with pytest.raises(Overtaken):
        commit(tables, read(write(tmp_path / "in", shuffled()[:200]), landings(tables)))


def test_records_of_age_are_left_out(tables: SmallTables, tmp_path: Path) -> None:
    """Their time is 1,700,000,000,000 and some ms more for each in its batch."""
    early = datetime.fromtimestamp(1_700_000_000.050, timezone.utc).isoformat()
    folder = write(tmp_path / "in", shuffled()[:100])
    assert read(folder, landings(tables, retired={"7": early})).count_of(OFFSETS_RECORDS) == 50
    assert read(folder, landings(tables, retired={"8": early})).count_of(OFFSETS_RECORDS) == 100


def test_the_log_says_what_a_file_can_have(tables: SmallTables, tmp_path: Path) -> None:
    pairs = [pair for pair in shuffled() if records.decode(*pair).table == "offset_commits"]
    commit(tables, read(write(tmp_path / "in", pairs, marker(len(pairs), 1, (5, 0))), landings(tables)))
    (file,) = pa.table(DeltaTable(tables.log(OFFSET_COMMITS).uri).get_add_actions(flatten=True)).to_pylist()
    there = rows(tables, OFFSET_COMMITS)
    assert file["num_records"] == len(there) == len(pairs)
    assert (file["min.record_offset"], file["max.record_offset"]) == (0, len(pairs) - 1)
    assert file["null_count.group_id"] == 0
    assert file["min.group_id"] <= min(row["group_id"] for row in there)
    assert file["max.group_id"] >= max(row["group_id"] for row in there)
    assert file["min.loaded_at"] == file["max.loaded_at"] == AT
    (file,) = pa.table(DeltaTable(tables.log(OFFSETS_RECORDS).uri).get_add_actions(flatten=True)).to_pylist()
    assert file["num_records"] == len(pairs) + 1


def test_open_commits_are_left_to_spark(tables: SmallTables, tmp_path: Path) -> None:
    pairs = [pair for pair in shuffled() if records.decode(*pair).table == "offset_commits"][:10]
    folder = write(tmp_path / "in", pairs, batch(10, pairs, producer=(5, 0), transactional=True), marker(20, 1, (5, 0)))
    found = read(folder, landings(tables))
    assert found.has_markers
    assert found.count_of(OFFSET_COMMITS) == found.count_aside(OFFSET_COMMITS) == 10
    assert found.count_of(OFFSETS_RECORDS) == 21
