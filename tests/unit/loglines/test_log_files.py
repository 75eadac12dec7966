"""Finding log files, naming them for good, and reading them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jobs.sources.logs.files import LogFile, Problem, find_log_files, read_log_file
from transforms.errors import SourceError
from transforms.loglines.entries.entry import Entry

LINE = "[2024-06-15 12:00:0{},000] INFO line {} (x)\n"
TEXT = "".join(LINE.format(i, i) for i in range(3))
NAME = "server.log@2024-06-15T12:00:00.000"


def write(path: Path, text: str = TEXT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def names(path: Path | str, broker: str = "{dir}") -> list[tuple[str, str]]:
    return [(file.name, file.broker) for file in find_log_files(str(path), broker)]


def found(path: Path) -> LogFile:
    (file,) = find_log_files(str(path), "1")
    return file


def read(path: Path) -> list[tuple[str, Entry | Problem]]:
    """Entries of a file, with its lasting name."""
    file = found(path)
    return [(file.lasting_name, item) for item in read_log_file(file, "UTC")]


def test_a_folder_is_read_at_any_depth_and_names_the_broker(tmp_path: Path) -> None:
    write(tmp_path / "b1" / "server.log")
    write(tmp_path / "b2" / "old" / "server.log.1.gz")
    write(tmp_path / "b1" / ".server.log.swp")
    assert names(tmp_path) == [("b1/server.log", "b1"), ("b2/old/server.log.1.gz", "old")]
    assert names(tmp_path, "broker-{dir}")[0][1] == "broker-b1"
    assert names(tmp_path, "7")[0][1] == "7"


def test_a_glob_keeps_names_below_its_fixed_part(tmp_path: Path) -> None:
    write(tmp_path / "b1" / "logs" / "server.log")
    write(tmp_path / "b2" / "logs" / "server.log")
    write(tmp_path / "b2" / "logs" / "gc.txt")
    expected = [("b1/logs/server.log", "logs"), ("b2/logs/server.log", "logs")]
    assert names(f"{tmp_path}/b*/logs/*.log") == expected
    assert names(f"{tmp_path}/**/server.log") == expected
    assert len(names(f"{tmp_path}/b*")) == 3


def test_one_file_is_enough(tmp_path: Path) -> None:
    assert names(write(tmp_path / "b1" / "server.log")) == [("server.log", "b1")]


def test_a_file_with_glob_characters_in_its_name_is_that_file(tmp_path: Path) -> None:
    assert names(write(tmp_path / "b[1]" / "server.log").parent) == [("server.log", "b[1]")]


@pytest.mark.parametrize("path", ["nowhere", "empty", "none*"])
def test_no_files_are_an_error(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="logs.path"):
        find_log_files(str(tmp_path / path), "1")


def test_another_file_system_is_an_error() -> None:
    with pytest.raises(SourceError, match="executors"):
        find_log_files("s3a://bucket/logs", "1")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_an_unreadable_file_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "server.log").chmod(0)
    with pytest.raises(SourceError, match="may not be read"):
        find_log_files(str(tmp_path), "1")


@pytest.mark.parametrize(
    "rotated",
    [
        "server.log",
        "server.log.1",
        "server.log.12.gz",
        "server.log.2024-06-15",
        "server.log.2024-06-15-12",
        "server.log.2024-06-15.3.gz",
        "server.log-20240615",
        "server.log-20240615.gz",
        "server-2024-06-15.log",
        "server-2024-06-15-2.log.gz",
        "server.log.gz",
    ],
)
def test_a_file_keeps_its_name_when_it_is_rotated(tmp_path: Path, rotated: str) -> None:
    entries = read(write(tmp_path / rotated))
    assert {name for name, _ in entries} == {NAME}
    assert [item.line_number for _, item in entries] == [1, 2, 3]


def test_another_file_of_the_same_name_has_another_name(tmp_path: Path) -> None:
    later = read(write(tmp_path / "server.log", TEXT.replace("2024-06-15", "2024-06-16")))
    assert {name for name, _ in later} == {"server.log@2024-06-16T12:00:00.000"}


@pytest.mark.parametrize("name", ["kafka-request.log", "kafka_2.13-3.9.log", "b-1/server.log"])
def test_other_names_stay_whole(tmp_path: Path, name: str) -> None:
    write(tmp_path / name)
    assert found(tmp_path).lasting_name.partition("@")[0] == name


def test_a_file_that_was_rotated_since_it_was_found_is_left_for_another_time(tmp_path: Path) -> None:
    log = write(tmp_path / "server.log")
    before = found(log)
    log.rename(tmp_path / "server.log.1")
    assert list(read_log_file(before, "UTC")) == []
    write(log, TEXT.replace("2024-06-15", "2024-06-16"))
    assert list(read_log_file(before, "UTC")) == []


def test_a_file_keeps_its_mark_until_it_changes(tmp_path: Path) -> None:
    log = write(tmp_path / "server.log")
    os.utime(log, ns=(1, 1))
    mark = found(log).mark("UTC", "auto")
    assert found(log.rename(tmp_path / "server.log.1")).mark("UTC", "auto") == mark
    assert found(tmp_path / "server.log.1").mark("Europe/Berlin", "auto") != mark
    grown = write(log, TEXT + LINE.format(9, 9))
    os.utime(grown, ns=(1, 1))
    assert found(grown).mark("UTC", "auto") != mark
    os.utime(write(log), ns=(1, 2))
    assert found(log).mark("UTC", "auto") != mark


@pytest.mark.parametrize(
    ("name", "age", "is_whole"), [("server.log", 0, False), ("server.log", 4000, True), ("server.log.1", 0, True)]
)
def test_a_file_that_may_be_written_is_not_whole(tmp_path: Path, name: str, age: float, is_whole: bool) -> None:
    log = write(tmp_path / name)
    then = time.time() - age
    os.utime(log, (then, then))
    assert found(log).is_whole is is_whole


def test_a_compressed_file_that_was_cut_gives_what_it_holds(tmp_path: Path) -> None:
    text = "".join(LINE.format(i % 10, os.urandom(50).hex()) for i in range(3000))
    path = write(tmp_path / "server.log.gz", text)
    path.write_bytes(path.read_bytes()[:-20_000])
    *good, (name, problem) = read(path)
    assert len(good) > 100
    assert isinstance(problem, Problem)
    assert problem.reason_code == "unreadable_file"
    assert problem.line_number == good[-1][1].line_number + 1
    assert name == NAME


def test_binary_files_are_no_logs(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(b"\0\0\0\x07abc\0\0" * 100)
    ((_, problem),) = read(path)
    assert isinstance(problem, Problem)
    assert problem.reason_code == "not_text"


def test_what_comes_before_damage_is_read(tmp_path: Path) -> None:
    """Even where the damage is near the beginning of a compressed file."""
    text = "".join(LINE.format(i % 10, os.urandom(50).hex()) for i in range(3000))
    path = write(tmp_path / "server.log.1.gz", text)
    packed = bytearray(path.read_bytes())
    packed[60_000:60_100] = bytes(100)
    path.write_bytes(packed)
    *good, (name, problem) = read(path)
    assert len(good) > 100
    assert isinstance(problem, Problem)
    assert (name, problem.reason_code) == (NAME, "unreadable_file")
    assert "server.log.1.gz: " in problem.detail


def test_of_files_that_cannot_be_read_each_is_told_of(tmp_path: Path) -> None:
    """They have no time stamp to be known by; the same bytes under another name are the same file."""
    (tmp_path / "server.log.1.gz").write_bytes(b"no gzip")
    (tmp_path / "server.log.2.gz").write_bytes(b"none either")
    (tmp_path / "server.log.3").write_bytes(b"\0\0\7abc\0\0" * 100)
    (tmp_path / "server.log.4").write_bytes(b"")
    files = find_log_files(str(tmp_path), "1")
    names = [file.lasting_name for file in files]
    assert len({*names}) == 4 and all(name.startswith("server.log") for name in names), names
    told = [(file.name, each) for file in files for each in read_log_file(file, "UTC")]
    assert {(name, each.reason_code) for name, each in told if isinstance(each, Problem)} == {
        ("server.log.1.gz", "unreadable_file"),
        ("server.log.2.gz", "unreadable_file"),
        ("server.log.3", "not_text"),
    }
    assert all(isinstance(each, Problem) and each.detail.startswith(name) for name, each in told)
    for number in (3, 2, 1):
        suffix = ".gz" if number < 3 else ""
        (tmp_path / f"server.log.{number}{suffix}").rename(tmp_path / f"server.log.{number + 5}{suffix}")
    assert sorted(file.lasting_name for file in find_log_files(str(tmp_path), "1")) == sorted(names)


def test_bad_utf8_stays_visible(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(TEXT.encode() + b"[2024-06-15 12:00:09,000] INFO \xff\xe9 (x)\n")
    entry = read(path)[-1][1]
    assert isinstance(entry, Entry)
    assert "\\xff\\xe9" in entry.text


def test_a_carriage_return_inside_a_line_is_no_line_end(tmp_path: Path) -> None:
    path = write(tmp_path / "server.log", "[2024-06-15 12:00:00,000] INFO a\rb (x)\n" + LINE.format(1, 1))
    assert [item.line_number for _, item in read(path)] == [1, 2]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", ["server.log.1", "server.log.gz.1", "a.log.GZ", "a.log.bz2", "a.log.xz"])
def test_a_compressed_file_is_told_by_its_bytes(tmp_path: Path, pack: Callable[[bytes], bytes], name: str) -> None:
    path = tmp_path / name
    path.write_bytes(pack(TEXT.encode()))
    assert [item.text for _, item in read(path)] == [item.text for _, item in read(write(tmp_path / "plain.log"))]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"\x28\xb5\x2f\xfd" + b"x" * 99, "is compressed with zstd: unpack it"),
        (TEXT.encode("utf-16"), "is UTF-16: write it as UTF-8"),
        (gzip.compress(b"server.log".ljust(257, b"\0") + b"ustar\x0000".ljust(255, b"\0") + TEXT.encode()), "(tar)"),
    ],
    ids=["zstd", "utf-16", "tar"],  # of bytes that tell the time, each process of the tests would make another
)
def test_what_else_a_file_is_comes_with_what_to_do(tmp_path: Path, raw: bytes, words: str) -> None:
    path = tmp_path / "server.log.1"
    path.write_bytes(raw)
    ((_, problem),) = read(path)
    assert isinstance(problem, Problem)
    assert problem.reason_code == "not_text"
    assert words in problem.detail
