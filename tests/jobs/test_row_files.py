"""Rows in files of this machine, of which a frame may be made of several: who asks the files finds the frame's rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F

from jobs.frame.row_files import files_of, note_parts, parts_of, row_count, written
from transforms.given_rows import given

pytestmark = pytest.mark.spark

NEW, KNOWN = {"is_known": False}, {"is_known": True}


def rows(spark: Any, *numbers: int) -> Any:
    return given(spark, "number INT, word STRING", [{"number": number, "word": f"it's {number}"} for number in numbers])


def beside(new: Any, known: Any) -> Any:
    return new.withColumn("is_known", F.lit(False)).unionByName(known.withColumn("is_known", F.lit(True)))


def test_whoever_asks_the_files_finds_the_rows_of_the_frame(spark: Any, tmp_path: Path) -> None:
    from jobs.lake.duckdb_files import connected
    from jobs.quality.by_duckdb import rows_of

    in_files, held = written(rows(spark, 1, 2), tmp_path), rows(spark, 3, 4, 5)
    both = beside(in_files, held)
    note_parts(both, [(in_files, NEW), (held, KNOWN)], tmp_path)
    parts = parts_of(both)
    assert parts is not None
    assert row_count(parts) == 5
    with connected() as connection:
        found = connection.sql(rows_of(parts, both.columns).query).fetchall()
    assert sorted(found) == sorted(map(tuple, both.collect()))


@pytest.mark.parametrize("name", ["a folder", "50%20", "läke #1"])
def test_files_lie_in_any_folder(spark: Any, tmp_path: Path, name: str) -> None:
    found = written(rows(spark, 1, 2), tmp_path / name)
    assert sorted(found.collect()) == sorted(rows(spark, 1, 2).collect())
    assert all(Path(file).is_relative_to(tmp_path / name) for file in files_of(found) or [""])


def test_of_no_row_there_is_no_file_and_what_is_computed_is_not_known(spark: Any, tmp_path: Path) -> None:
    in_files, none = written(rows(spark, 1), tmp_path), rows(spark)
    assert parts_of(in_files) is not None
    for known, folder, files in (
        (none, tmp_path, 1),
        (in_files.limit(1), tmp_path, None),
        (rows(spark, 2), None, None),
    ):
        both = beside(in_files, known)
        note_parts(both, [(in_files, NEW), (known, KNOWN)], folder)
        parts = parts_of(both)
        assert (parts if parts is None else len(parts)) == files
