"""Sources that processes of this machine turn into files give the tables that Spark makes of them."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import ingest_logs, ingest_offsets
from jobs.frame.exit_codes import ExitCode
from jobs.frame.job import Job
from jobs.sources.segments import bulk
from tests.support.lakes import comparable, rows_of
from tests.support.odd_records import odd_pairs
from tests.support.record_writer import batch, marker
from transforms.errors import LakeError
from transforms.silver import logs, offsets

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TABLES = (
    "offsets_records",
    "offset_commits",
    "group_metadata",
    "modern_group_records",
    "rejected",
    "topic_names",
)
ODD_PARTITIONS = (90, 91)
"""Captures have none of these."""

OF_THE_WAY = frozenset({"loaded_at", "seen_at"})


@pytest.fixture
def by_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be too little, and let each file be cut."""
    monkeypatch.setattr(ingest_offsets, "FEW_ROWS", 0)
    monkeypatch.setattr(bulk, "_LEAST_SHARE_BYTES", 1)


def by_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Job, "landings", lambda *_: [])


def ingest(lake: Path, folder: Path) -> None:
    given = ["--cluster=test", f"--lake.root={lake}", "--offsets.kind=segments", f"--offsets.path={folder}"]
    assert ingest_offsets.main(given) == 0


def tables(lake: Path) -> dict[str, list[str]]:
    return {name: comparable(rows, OF_THE_WAY) for name, rows in rows_of(lake, *TABLES).items()}


def odd_segments(folder: Path) -> Path:
    """Two partitions: transactions that end, later, never and twice; damage; and records that nobody writes."""
    draw = random.Random(7)
    pairs = odd_pairs()
    draw.shuffle(pairs)
    for number in ODD_PARTITIONS:
        out, offset = [], 0
        for at in range(0, len(pairs), 40):
            some = pairs[at : at + 40]
            producer = (draw.randrange(3), 0)
            is_transactional = draw.random() < 0.5
            out.append(
                batch(offset, some, producer=producer if is_transactional else (-1, -1), transactional=is_transactional)
            )
            offset += len(some)
            if draw.random() < 0.3:
                out.append(marker(offset, draw.randrange(2), producer))
                offset += 1
            if draw.random() < 0.05:
                out.append(bytes(draw.randrange(256) for _ in range(draw.randrange(200))))
        file = folder / f"__consumer_offsets-{number}" / f"{0:020}.log"
        file.parent.mkdir(parents=True)
        file.write_bytes(b"".join(out))
    return folder


@pytest.fixture
def segments(request: Any, capture_dir: Callable[[str], Path], tmp_path: Path) -> Path:
    """Segments of a capture, of odd records, or of both."""
    folder = tmp_path / "segments"
    for name in request.param.split(" and "):
        if name == "odd":
            odd_segments(folder)
        else:
            shutil.copytree(capture_dir(name) / "consumer_offsets", folder, dirs_exist_ok=True)
    return folder


def ingest_in_two(lake: Path, folder: Path) -> None:
    """Read files that grow, and then all of them once more."""
    whole = {file: file.read_bytes() for file in folder.rglob("*.log")}
    for part in (2, 1):
        for file, content in whole.items():
            file.write_bytes(content[: len(content) // part])
        ingest(lake, folder)
    for file, content in whole.items():
        file.write_bytes(content)
        file.touch()
    ingest(lake, folder)


@pytest.mark.parametrize(
    "segments", ["odd and modern-4.2.0", pytest.param("chaos-3.9.1", marks=pytest.mark.long)], indirect=True
)
def test_processes_fill_the_tables_as_spark_does(
    spark: Any, segments: Path, tmp_path: Path, by_processes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(tmp_path / "at-once", segments)
    ingest_in_two(tmp_path / "in-two", segments)
    at_once, in_two = (tables(tmp_path / name) for name in ("at-once", "in-two"))
    by_spark(monkeypatch)
    ingest_in_two(tmp_path / "by-spark", segments)
    expected = tables(tmp_path / "by-spark")
    assert expected["offset_commits"]
    for name in TABLES:
        assert in_two[name] == expected[name], name
        if name != "rejected":  # where a file ended when it was read first, a batch was torn
            assert at_once[name] == expected[name], name


@pytest.mark.parametrize("segments", ["chaos-3.9.1"], indirect=True)
@pytest.mark.parametrize("call", [0, 1])
def test_a_run_that_dies_between_files_and_commit_is_made_good(
    spark: Any, segments: Path, tmp_path: Path, by_processes: None, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    """With the first call come the rows of bronze, with the second those of silver."""
    calls = iter(range(2))
    add_files = Job.add_files

    def dies(job: Job, *given: Any) -> int:
        if next(calls) == call:
            raise LakeError("the power failed")
        return add_files(job, *given)

    with monkeypatch.context() as failing:
        failing.setattr(Job, "add_files", dies)
        given = ["--cluster=test", f"--lake.root={tmp_path / 'lake'}", "--offsets.kind=segments"]
        assert ingest_offsets.main([*given, f"--offsets.path={segments}"]) == ExitCode.UNREACHABLE
    there = tables(tmp_path / "lake")
    assert [bool(there[name]) for name in ("offsets_records", "offset_commits")] == [call == 1, False]
    ingest(tmp_path / "lake", segments)
    ingest(tmp_path / "undisturbed", segments)
    assert tables(tmp_path / "lake") == tables(tmp_path / "undisturbed")


@pytest.mark.parametrize(
    ("segments", "writer"), [("odd", "processes"), ("modern-4.2.0", "Spark")], indirect=["segments"]
)
def test_silver_that_was_deleted_is_decoded_anew_from_bronze_by_processes(
    spark: Any, segments: Path, tmp_path: Path, by_processes: None, monkeypatch: pytest.MonkeyPatch, writer: str
) -> None:
    with monkeypatch.context() as first:
        if writer == "Spark":
            by_spark(first)
        ingest(tmp_path, segments)
    expected = tables(tmp_path)
    shutil.rmtree(tmp_path / "silver")
    monkeypatch.setattr(offsets, "decode", _never)
    if not expected["rejected"]:  # else the segments are read anew, for what was
        monkeypatch.setattr(ingest_offsets, "_load_in_bulk", _never)
        monkeypatch.setattr(ingest_offsets, "_load_by_spark", _never)
    ingest(tmp_path, segments)
    found = tables(tmp_path)
    assert expected["offset_commits"]
    for name in TABLES:
        assert found[name] == expected[name], name


def _never(*given: Any) -> Any:
    raise AssertionError("Spark decodes")


BROKEN = (
    '[2026-09-21 14:00:00,000] DEBUG Completed request:{"isForwarded":false,'
    '"requestHeader":{"requestApiKey":11,"requestApiVersion":9,"x" (kafka.request.logger)'
)
LOG_TABLES = ("log_lines", "coordinator_events", "group_requests", "client_events", "rejected")


def ingest_of_logs(lake: Path, folder: Path, keep: str) -> None:
    given = ["--cluster=test", f"--lake.root={lake}", f"--logs.path={folder}", "--logs.broker={dir}"]
    assert ingest_logs.main([*given, f"--logs.keep={keep}"]) == 0


def tables_of_logs(lake: Path) -> dict[str, list[str]]:
    return {name: comparable(rows, OF_THE_WAY) for name, rows in rows_of(lake, *LOG_TABLES).items()}


@pytest.mark.parametrize("keep", ["all", "relevant"])
def test_processes_read_logs_as_spark_does(
    spark: Any, capture_dir: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: str
) -> None:
    monkeypatch.setattr(ingest_logs, "FEW_ROWS", 0)
    folder = Path(shutil.copytree(capture_dir("failover-4.2.0") / "broker_logs", tmp_path / "logs"))
    (folder / "no.log").write_bytes(b"\x00\x01" * 100)
    whole = {file: file.read_bytes() for file in folder.rglob("*.log")}
    found = []
    for lake in (tmp_path / "by-processes", tmp_path / "by-spark"):
        for part in (2, 1):  # its logs grow
            for file, text in whole.items():
                file.write_bytes(text[: len(text) // part])
            ingest_of_logs(lake, folder, keep)
        shutil.rmtree(lake / "_notes")  # so that all is read again
        ingest_of_logs(lake, folder, keep)
        found.append(tables_of_logs(lake))
        by_spark(monkeypatch)
    by_processes, expected = found
    assert expected["group_requests"]
    assert expected["rejected"]
    for name in LOG_TABLES:
        assert by_processes[name] == expected[name], name


@pytest.mark.parametrize("writer", ["processes", "Spark"])
def test_silver_that_was_deleted_is_parsed_anew_from_bronze_by_processes(
    spark: Any, capture_dir: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str
) -> None:
    monkeypatch.setattr(ingest_logs, "FEW_ROWS", 0)
    folder = Path(shutil.copytree(capture_dir("failover-4.2.0") / "broker_logs", tmp_path / "logs"))
    (folder / "broken.log").write_text(f"{BROKEN}\n")
    with monkeypatch.context() as first:
        if writer == "Spark":
            by_spark(first)
        ingest_of_logs(tmp_path / "lake", folder, "relevant")
    expected = tables_of_logs(tmp_path / "lake")
    shutil.rmtree(tmp_path / "lake" / "silver")
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "server.log").write_text("[2026-09-21 14:00:00,000] INFO that is all there is now (x)\n")
    monkeypatch.setattr(logs, "parse", _never)
    ingest_of_logs(tmp_path / "lake", folder, "relevant")
    found = tables_of_logs(tmp_path / "lake")
    assert expected["group_requests"]
    assert expected["rejected"]
    for name in LOG_TABLES[1:]:
        assert found[name] == expected[name], name
