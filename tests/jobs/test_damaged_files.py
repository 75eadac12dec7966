"""A file of a table that is gone or damaged: a sentence says which one, and what it says to do brings all back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from jobs.frame.exit_codes import ExitCode
from schemas.catalog import BY_NAME, TABLES
from schemas.table import TableSpec
from transforms.errors import LakeError

pytestmark = pytest.mark.spark

CAPTURE = "kafka-4.2.0"


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:200])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def blur(file: Path) -> None:
    """Damage it in the middle, where only who reads the pages sees it."""
    raw = file.read_bytes()
    file.write_bytes(raw[:4] + bytes(len(raw) // 2) + raw[4 + len(raw) // 2 :])


DAMAGE: dict[str, Callable[[Path], None]] = {"gone": Path.unlink, "cut": cut, "empty": empty, "blurred": blur}


def files_of(root: Path, spec: TableSpec) -> list[Path]:
    return sorted((root / spec.layer.value / spec.name).rglob("*.parquet"))


def test_what_is_said_to_do_brings_a_table_back(
    spark: Any,
    copy: Path,
    capture_dir: Callable[[str], Path],
    lake_rows: Callable[[str], dict[str, list[dict[str, Any]]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """So it does for tables that are lost without a word, as a run leaves them that was cut off between two of them."""
    from jobs import run_pipeline
    from tests.support.lakes import arguments, comparable, rows_of

    damaged = [BY_NAME[name] for name in ("offset_commits", "transitions")]
    for spec in damaged:
        cut(files_of(copy, spec)[0])
    given = arguments(copy, capture_dir(CAPTURE))
    for spec in damaged:
        assert run_pipeline.main([*given, "--storms.min_rebalances=6"]) == ExitCode.UNREACHABLE
        said = capsys.readouterr().err.strip().splitlines()[-1]
        table = copy / spec.layer.value / spec.name
        assert said.startswith(f"error: {spec.full_name} has a damaged file, {table}/cluster="), said
        assert f"move {table} elsewhere" in said
        shutil.move(table, copy.parent / spec.name)
    for name in ("group_requests", "rejected", "assignments", "rebalance_storms"):
        spec = BY_NAME[name]
        shutil.rmtree(copy / spec.layer.value / name)
    assert run_pipeline.main(given) == ExitCode.DONE
    again = rows_of(copy)
    for spec in TABLES:
        assert comparable(again[spec.name]) == comparable(lake_rows(CAPTURE)[spec.name]), spec.full_name


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("here", [True, False], ids=["a folder", "elsewhere"])
def test_whoever_reads_the_file_it_is_told_of(spark: Any, copy: Path, damage: str, here: bool) -> None:
    from deltalake import DeltaTable

    from jobs.lake.damaged_files import file_errors
    from jobs.lake.duckdb_files import connected, rows_in
    from jobs.lake.local_tables import LocalTables

    spec = BY_NAME["group_requests"]
    folder = copy / spec.layer.value / spec.name
    (file,) = files_of(copy, spec)
    DAMAGE[damage](file)

    def by_duckdb() -> None:
        with connected() as connection:
            connection.sql(rows_in(spec, LocalTables(spark, copy, "test").files(spec) or (), "test")).to_arrow_table()

    readers: dict[str, Callable[[], object]] = {"Spark": spark.read.format("delta").load(str(folder)).toArrow}
    if here:  # others read no other storage
        readers |= {"delta-rs": DeltaTable(folder).to_pyarrow_table, "DuckDB": by_duckdb}
    for name, read in readers.items():
        with pytest.raises(LakeError) as raised, file_errors(str(copy), copy if here else None, TABLES):
            read()
        said = str(raised.value)
        assert file.name in said and "bring it back from a copy" in said, (name, said)
        assert not here or spec.full_name in said, (name, said)


@pytest.mark.parametrize("damage", ["cut", "blurred"])
def test_a_damaged_file_of_a_source_is_told_of(
    spark: Any, tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from jobs import ingest_offsets

    row = {"topic": "__consumer_offsets", "partition": 1, "timestamp": 0, "key": b"k" * 99, "value": b"v" * 999}
    for name in ("a.parquet", "b c.parquet"):
        parquet.write_table(pa.Table.from_pylist([{**row, "offset": n} for n in range(99)]), tmp_path / name)
    DAMAGE[damage](tmp_path / "b c.parquet")
    given = ["--cluster=c", f"--lake.root={tmp_path / 'lake'}", "--offsets.kind=records"]
    assert ingest_offsets.main([*given, f"--offsets.path={tmp_path}/*.parquet"]) == ExitCode.UNREACHABLE
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("error: file:") and "b c.parquet is gone or damaged" in said, said
    assert "take it away" in said
    (tmp_path / "b c.parquet").unlink()
    assert ingest_offsets.main([*given, f"--offsets.path={tmp_path}/*.parquet"]) == ExitCode.DONE


@pytest.mark.parametrize(("name", "damage"), [("silver.group_requests", "cut"), ("quality.runs", "empty")])
def test_a_log_that_is_cut_off_is_told_of(
    spark: Any,
    copy: Path,
    capture_dir: Callable[[str], Path],
    name: str,
    damage: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of an empty commit nobody else says anything: what it had put into the table would be lost without a word."""
    from jobs import run_pipeline
    from tests.support.lakes import arguments

    table = copy.joinpath(*name.split("."))
    DAMAGE[damage](max((table / "_delta_log").glob("*.json")))
    assert run_pipeline.main(arguments(copy, capture_dir(CAPTURE))) == ExitCode.UNREACHABLE
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith(f"error: {name} has a damaged log, {table}/_delta_log: bring it back"), said


def test_what_has_nothing_to_do_with_a_file_stays_what_it_is(copy: Path) -> None:
    from jobs.lake.damaged_files import file_errors

    for folder in (copy, None, copy / "no lake"):
        with pytest.raises(ZeroDivisionError), file_errors(str(copy), folder, TABLES):
            raise ZeroDivisionError("a bug")
    cut(files_of(copy, BY_NAME["transitions"])[0])
    with pytest.raises(LakeError, match="gold.transitions has a damaged file"), file_errors(str(copy), copy, TABLES):
        raise ZeroDivisionError("what comes of it")
