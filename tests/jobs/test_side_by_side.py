"""Processes that share work: what comes of it, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jobs.frame.side_by_side import side_by_side
from transforms.errors import SourceError

ROOT = Path(__file__).resolve().parents[2]
LONGEST_S = 60


def twice(number: int) -> tuple[int, int]:
    return 2 * number, os.getpid()


def ends_itself(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def fails(number: int) -> int:
    if number == 1:
        raise FileNotFoundError(f"file {number}")
    return number


def writes_who_it_is_and_waits(place: str) -> None:
    Path(place).write_text(str(os.getpid()), encoding="ascii")
    time.sleep(LONGEST_S)


def test_results_come_in_the_order_of_the_shares_from_other_processes() -> None:
    found = list(side_by_side(twice, range(6), 2))
    assert [number for number, _ in found] == [0, 2, 4, 6, 8, 10]
    assert os.getpid() not in {process for _, process in found}


def test_a_single_share_needs_no_other_process() -> None:
    assert list(side_by_side(twice, [4], 2)) == [(8, os.getpid())]


def test_a_process_that_is_ended_from_outside_is_told_in_a_sentence() -> None:
    with pytest.raises(SourceError, match="memory"):
        list(side_by_side(ends_itself, range(4), 2))


def test_an_error_of_a_share_is_raised_here() -> None:
    with pytest.raises(FileNotFoundError, match="file 1"):
        list(side_by_side(fails, range(4), 2))


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    places = [str(tmp_path / name) for name in "ab"]
    program = (
        "from tests.jobs.test_side_by_side import *\n"
        f"if __name__ == '__main__': list(side_by_side(writes_who_it_is_and_waits, {places}, 2))\n"
    )
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    driver = subprocess.Popen([sys.executable, str(script)], env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        workers = [_number(Path(place)) for place in places]
    finally:
        driver.kill()
        driver.wait()
    deadline = time.monotonic() + LONGEST_S / 2
    while any(map(_is_there, workers)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _number(file: Path) -> int:
    deadline = time.monotonic() + LONGEST_S
    while not (file.exists() and file.read_text(encoding="ascii")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int(file.read_text(encoding="ascii"))


def _is_there(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
