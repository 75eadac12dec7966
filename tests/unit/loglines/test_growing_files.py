"""A file that grows, is rotated and compressed: no entry is read twice, none is missed, none is taken half."""

from __future__ import annotations

import gzip
import os
import time
from pathlib import Path

import pytest

from jobs.sources.logs.files import Problem, find_log_files, read_log_file
from transforms.loglines.entries.entry import Entry

INFO = "[2026-11-20 10:00:0{0},00{0}] INFO line {0} (x)\n"
ERROR = "[2026-11-20 10:00:07,000] ERROR broken (x)\n"
TRACE = "java.lang.X\n\tat a\n\tat b\n"
SETTINGS = (
    "[2026-11-20 10:00:08,000] INFO KafkaConfig values: \n"
    "\tbroker.id = 1\n\tgroup.max.size = 3\n (kafka.server.KafkaConfig)\n"
)
WHOLE = "".join(INFO.format(i) for i in range(5)) + ERROR + TRACE + SETTINGS + INFO.format(9)
HOUR = 3600.0


def read(folder: Path) -> dict[tuple[str, int], str]:
    """Entries of all files, by their key."""
    found: dict[tuple[str, int], str] = {}
    for file in find_log_files(str(folder), "1"):
        for item in read_log_file(file, "UTC"):
            assert isinstance(item, Entry), item
            assert found.setdefault((file.lasting_name, item.line_number), item.text) == item.text
    return found


def aged(path: Path, seconds: float) -> Path:
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def write(path: Path, text: str, age: float = 60) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return aged(path, age)


def test_at_whatever_byte_a_run_reads_the_end_is_the_same(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    whole = read(write(log, WHOLE).parent)
    assert len(whole) == 8
    for cut in range(len(WHOLE)):
        some = read(write(log, WHOLE[:cut], age=1).parent)
        assert some.items() <= whole.items(), WHOLE[:cut][-60:]


def test_what_was_held_back_comes_with_the_next_run(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    half = write(log, WHOLE[:-10])
    first = read(half.parent)
    second = read(write(log, WHOLE).parent)
    assert second.keys() - first.keys() == {("server.log@2026-11-20T10:00:00.000", 14)}


def test_a_file_goes_its_way_through_rotation_and_compression(tmp_path: Path) -> None:
    log = write(tmp_path / "server.log", WHOLE[:-10])
    seen = read(tmp_path)
    write(log, WHOLE)
    rotated = log.rename(tmp_path / "server.log.2026-11-20-10")
    write(log, "[2026-11-20 11:00:00,000] INFO next (x)\n[2026-11-20 11:00:01,000] INFO ha")
    seen |= read(tmp_path)
    (tmp_path / "server.log.2026-11-20-10.gz").write_bytes(gzip.compress(rotated.read_bytes()))
    seen |= read(tmp_path)  # both are there for a moment
    rotated.unlink()
    write(log, log.read_text() + "lf (x)\n")
    last = read(tmp_path)
    assert last == seen | last
    assert len(last) == 10
    assert {name for name, _ in last} == {"server.log@2026-11-20T10:00:00.000", "server.log@2026-11-20T11:00:00.000"}


def test_a_rotated_or_compressed_file_is_read_to_its_end(tmp_path: Path) -> None:
    for name in ("server.log.1", "server.log.2026-11-20-10"):
        write(tmp_path / name, INFO.format(1)[:-1], age=0)
    (tmp_path / "other.log.gz").write_bytes(gzip.compress(ERROR[:-1].encode()))
    assert len(read(tmp_path)) == 2  # two names of one file, and another file


def test_a_file_that_nobody_writes_any_more_is_read_to_its_end(tmp_path: Path) -> None:
    write(tmp_path / "server.log", INFO.format(1) + SETTINGS[:60], age=2 * HOUR)
    assert len(read(tmp_path)) == 2


@pytest.mark.parametrize(("age", "count"), [(0, 0), (60, 1)])
def test_a_stack_trace_may_follow_an_error_for_a_moment(tmp_path: Path, age: float, count: int) -> None:
    write(tmp_path / "server.log", ERROR, age=age)
    assert len(read(tmp_path)) == count


def test_an_ordinary_last_line_is_read_at_once(tmp_path: Path) -> None:
    write(tmp_path / "server.log", INFO.format(1), age=0)
    assert len(read(tmp_path)) == 1


def test_an_empty_file_gives_nothing(tmp_path: Path) -> None:
    assert read(write(tmp_path / "server.log", "", age=0).parent) == {}


def test_a_file_that_is_being_compressed_gives_what_it_holds(tmp_path: Path) -> None:
    packed = gzip.compress("".join(INFO.format(i % 10) + os.urandom(60).hex() + "\n" for i in range(2000)).encode())
    path = tmp_path / "server.log.1.gz"
    path.write_bytes(packed)
    (file,) = find_log_files(str(path), "1")
    whole = {item.line_number: item for item in read_log_file(file, "UTC")}
    path.write_bytes(packed[: len(packed) // 2])
    *some, problem = read_log_file(file, "UTC")
    assert isinstance(problem, Problem)
    assert len(some) > 100
    assert all(whole[item.line_number] == item for item in some)
