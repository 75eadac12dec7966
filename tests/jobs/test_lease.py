"""The lock of a lake: one at a time, whatever the timing, and nobody is kept out by the dead.

On files of this machine, without Spark.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from jobs.jvm.files import LocalFiles
from jobs.lake import lease
from jobs.lake.lease import SILENCE_S, Lease
from jobs.lake.processes import machine
from transforms.errors import LakeError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "_locks/c"


def lock(root: Path) -> Lease:
    return Lease(LocalFiles(root), FOLDER, "cluster c of the lake x")


def claims(root: Path) -> list[Path]:
    return sorted((root / FOLDER).glob("*.json"))


@contextmanager
def process(root: Path, work: str) -> Iterator[subprocess.Popen[str]]:
    """Run work that holds the lock in a process of its own; yield it once it has said something."""
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom tests.jobs.test_lease import *\n{work}"
    running = subprocess.Popen([sys.executable, "-c", script, str(root)], stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        running.stdout.readline()
        yield running
    finally:
        running.kill()
        running.wait()


HOLD = """
with lock(Path(sys.argv[1])).held(0):
    print("held", flush=True)
    time.sleep(600)
"""

COUNT = """
print("begun", flush=True)
lease._POLL_S = lease._TIE_S = 0.002
counter = Path(sys.argv[1]) / "counter"
while not (Path(sys.argv[1]) / "go").exists():
    time.sleep(0.001)
for _ in range(25):
    with lock(Path(sys.argv[1])).held(300):
        count = int(counter.read_text())
        time.sleep(0.001)
        counter.write_text(str(count + 1))
"""


@pytest.mark.slow
def test_never_two_at_a_time(tmp_path: Path) -> None:
    """Each of them reads a number and writes the next: with two at a time some would be lost."""
    (tmp_path / "counter").write_text("0")
    with (
        process(tmp_path, COUNT) as a,
        process(tmp_path, COUNT) as b,
        process(tmp_path, COUNT) as c,
        process(tmp_path, COUNT) as d,
    ):
        (tmp_path / "go").touch()
        assert [each.wait(timeout=300) for each in (a, b, c, d)] == [0, 0, 0, 0]
    assert (tmp_path / "counter").read_text() == "100"
    assert claims(tmp_path) == []


def test_the_second_one_says_who_is_first(tmp_path: Path) -> None:
    with process(tmp_path, HOLD) as holder:
        said = rf"cluster c of the lake x.*process {holder.pid} on .*lake.lock_wait_s"
        with pytest.raises(LakeError, match=said), lock(tmp_path).held(0):
            pass
        assert len(claims(tmp_path)) == 1, "it took its own announcement back"


def test_one_that_waits_comes_in_when_the_first_has_left(tmp_path: Path) -> None:
    with process(tmp_path, HOLD.replace("600", "1")):
        with pytest.raises(LakeError), lock(tmp_path).held(0.1):
            pass
        with lock(tmp_path).held(30):
            assert len(claims(tmp_path)) == 1
    assert claims(tmp_path) == []


@pytest.mark.skipif(not machine(), reason="this system does not tell which processes there are")
def test_one_that_was_killed_keeps_nobody_out(tmp_path: Path) -> None:
    with process(tmp_path, HOLD) as holder:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        assert len(claims(tmp_path)) == 1
        with lock(tmp_path).held(0):
            pass
    assert claims(tmp_path) == []


def elsewhere(root: Path, silent_s: float, **changed: Any) -> Path:
    """Write a claim as a process of another machine would, its last sign of life so long ago."""
    claim = {
        "claim_id": "20260101T000000000000-0",
        "since": "2026-01-01T00:00:00+00:00",
        "host": "far",
        "machine": "another",
        "process_id": os.getpid(),
        "process_start": 1,
        "is_held": True,
        **changed,
    }
    path = root / FOLDER / f"{claim['claim_id']}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(claim))
    os.utime(path, (time.time() - silent_s,) * 2)
    return path


def test_one_of_another_machine_is_dead_when_it_has_been_silent_for_long(tmp_path: Path) -> None:
    path = elsewhere(tmp_path, SILENCE_S - 5)
    with pytest.raises(LakeError, match="far"), lock(tmp_path).held(0):
        pass
    assert path.exists()
    elsewhere(tmp_path, SILENCE_S + 5)
    with lock(tmp_path).held(0):
        assert not path.exists()


@pytest.mark.skipif(not machine(), reason="this system does not tell which processes there are")
def test_another_process_with_the_number_of_a_dead_one_is_not_taken_for_it(tmp_path: Path) -> None:
    elsewhere(tmp_path, 0, machine=machine())
    with lock(tmp_path).held(0):
        pass


def test_a_claim_that_cannot_be_read_is_somebody_for_as_long_as_it_is_young(tmp_path: Path) -> None:
    path = elsewhere(tmp_path, 0)
    path.write_text("{")
    with pytest.raises(LakeError), lock(tmp_path).held(0):
        pass
    os.utime(path, (time.time() - SILENCE_S - 5,) * 2)
    with lock(tmp_path).held(0):
        pass


def test_a_holder_gives_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "BEAT_S", 0.05)
    with lock(tmp_path).held(0):
        (claim,) = claims(tmp_path)
        before = claim.stat().st_mtime_ns
        deadline = time.monotonic() + 30
        while claim.stat().st_mtime_ns == before:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_holder_that_could_not_give_any_stops_before_others_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "BEAT_S", 0.02)
    monkeypatch.setattr(lease, "_GIVE_UP_S", 0.3)
    mine = lock(tmp_path)
    with mine.held(0):
        mine.check()
        (tmp_path / FOLDER).rename(tmp_path / "away")
        (tmp_path / FOLDER).write_text("no folder any more")  # nothing can be written there
        time.sleep(0.5)
        with pytest.raises(LakeError, match="run it again"):
            mine.check()
    assert lease._GIVE_UP_S < SILENCE_S


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lease]:
    """A holder that has given no sign of life for too long, as if its process had been stopped for a while."""
    monkeypatch.setattr(lease, "BEAT_S", 3)
    monkeypatch.setattr(lease, "_GIVE_UP_S", 0.1)
    mine = lock(tmp_path)
    with mine.held(0):
        time.sleep(0.3)
        yield mine


def test_a_holder_that_was_stopped_goes_on_if_nobody_has_begun(stopped: Lease, tmp_path: Path) -> None:
    (claim,) = claims(tmp_path)
    before = claim.stat().st_mtime_ns
    stopped.check()
    assert claim.stat().st_mtime_ns > before, "others see that it is back"


def test_a_holder_that_was_stopped_ends_if_it_was_removed(stopped: Lease, tmp_path: Path) -> None:
    (claim,) = claims(tmp_path)
    claim.unlink()
    with pytest.raises(LakeError, match="run it again"):
        stopped.check()


@pytest.mark.parametrize("is_held", [True, False])
def test_a_holder_that_was_stopped_ends_if_somebody_has_come_to_stay(
    stopped: Lease, tmp_path: Path, is_held: bool
) -> None:
    elsewhere(tmp_path, 0, claim_id="99990101T000000000000-0", is_held=is_held)
    with pytest.raises(LakeError, match="run it again"):
        stopped.check()


def test_a_holder_that_was_stopped_waits_for_who_is_just_looking(stopped: Lease, tmp_path: Path) -> None:
    looking = elsewhere(tmp_path, 0, claim_id="99990101T000000000000-0", is_held=False)
    threading.Timer(0.3, looking.unlink).start()
    stopped.check()


def test_a_holder_that_was_thought_dead_gives_way_to_its_successor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "BEAT_S", 0.02)
    mine = lock(tmp_path)
    with mine.held(0):
        elsewhere(tmp_path, 0, claim_id="99990101T000000000000-0")
        deadline = time.monotonic() + 30
        with pytest.raises(LakeError, match="run it again"):
            while time.monotonic() < deadline:
                mine.check()
                time.sleep(0.02)
