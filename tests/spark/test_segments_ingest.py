"""A folder of segment files is read again only where it has changed, and nothing of it is missed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import ingest_offsets
from tests.support.lakes import rows_of, versions

pytestmark = pytest.mark.spark

TABLES = ("offsets_records", "group_metadata", "offset_commits", "rejected")


@pytest.fixture
def folder(capture_dir: Callable[[str], Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(capture_dir("chaos-3.9.1") / "consumer_offsets", tmp_path / "segments"))


def ingest(folder: Path) -> None:
    lake = folder.with_name("lake")
    given = ["--cluster=test", f"--lake.root={lake}", "--offsets.kind=segments", f"--offsets.path={folder}"]
    assert ingest_offsets.main(given) == 0


def places(folder: Path, table: str = "offsets_records") -> list[tuple[Any, ...]]:
    keys = {"rejected": ("position", "reason_code"), "offsets_records": ("topic_partition", "record_offset")}
    rows = rows_of(folder.with_name("lake"), table)[table]
    return sorted(tuple(row[name] for name in keys[table]) for row in rows)


def largest(folder: Path) -> Path:
    return max(folder.rglob("*.log"), key=lambda file: file.stat().st_size)


def test_a_file_that_grew_is_read_and_the_others_are_not(spark: Any, folder: Path) -> None:
    grows, whole = largest(folder), largest(folder).read_bytes()
    ingest(folder)
    everything = places(folder)
    shutil.rmtree(folder.with_name("lake"))

    grows.write_bytes(whole[: len(whole) // 2])
    ingest(folder)
    some = places(folder)
    assert set(some) < set(everything)
    torn = places(folder, "rejected")
    assert [reason for _, reason in torn] == ["truncated_batch"]
    before = versions(spark, folder.with_name("lake"))
    ingest(folder)
    assert versions(spark, folder.with_name("lake")) == before

    for other in set(folder.rglob("*.log")) - {grows}:  # as they were, for all that can be seen from outside
        status = other.stat()
        other.write_bytes(b"\xff" * status.st_size)
        os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    grows.write_bytes(whole)
    ingest(folder)
    assert places(folder) == everything
    assert places(folder, "rejected") == torn


@pytest.mark.parametrize("table", ["bronze/offsets_records", "silver/rejected", "silver/group_metadata"])
def test_a_table_that_is_gone_is_filled_again(spark: Any, folder: Path, table: str) -> None:
    with largest(folder).open("ab") as file:
        file.write(b"\x01" * 100)
    ingest(folder)
    before = rows_of(folder.with_name("lake"), *TABLES)
    assert before["rejected"]
    shutil.rmtree(folder.with_name("lake") / table)
    ingest(folder)
    after = rows_of(folder.with_name("lake"), *TABLES)
    for name in TABLES:
        assert len(after[name]) == len(before[name]), name
