"""Two runs at once, each a process of its own: of one cluster one after the other, of two clusters side by side."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs.lake.processes import machine
from schemas.catalog import BY_NAME

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
LONGEST_S = 300

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(capture_dir: Callable[[str], Path], tmp_path: Path) -> Iterator[Start]:
    """Start a run that reads a capture's logs into one lake; whatever still runs at the end of the test is ended."""
    logs = capture_dir("chaos-3.9.1") / "broker_logs"
    running: list[subprocess.Popen[str]] = []

    def begin(cluster: str, *given: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "jobs.ingest_logs", f"--cluster={cluster}", f"--lake.root={tmp_path / 'lake'}"]
        command += [f"--logs.path={logs}", f"--spark.properties={ROOT / 'conf' / 'spark-defaults-demo.conf'}", *given]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe, text=True)
        running.append(process)
        return process

    yield begin
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def await_lock(process: subprocess.Popen[str], claims: Path) -> None:
    """Wait until a process holds the lock of its cluster."""
    deadline = time.monotonic() + LONGEST_S
    while not any('"is_held": true' in _text(claim) for claim in claims.glob("*.json")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for the end of a process; return its exit code and what it said on standard error."""
    _, said = process.communicate(timeout=LONGEST_S)
    return process.returncode, said


def lines_of(spark: Any, root: Path, cluster: str) -> list[tuple[str, int]]:
    from jobs.lake.lake import Lake

    lines = Lake(spark, str(root), "", cluster).read(BY_NAME["log_lines"])
    return sorted((row.source_file, row.line_number) for row in lines.select("source_file", "line_number").collect())


@pytest.mark.skipif(not machine(), reason="this system does not tell which processes there are")
def test_a_second_run_of_a_cluster_stops_with_one_sentence_or_waits(spark: Any, start: Start, tmp_path: Path) -> None:
    claims = tmp_path / "lake" / "_locks" / "clusters" / "one"
    first = start("one")
    await_lock(first, claims)
    os.kill(first.pid, signal.SIGSTOP)  # it stays in the midst of its work for as long as the test needs
    try:
        code, said = ended(start("one"))
    finally:
        os.kill(first.pid, signal.SIGCONT)
    assert code == 4, said
    (sentence,) = said.strip().splitlines()
    assert f"process {first.pid}" in sentence
    assert "lake.lock_wait_s" in sentence
    patient = start("one", f"--lake.lock_wait_s={LONGEST_S}")
    assert ended(first) == (0, "")
    assert ended(patient) == (0, "")
    lines = lines_of(spark, tmp_path / "lake", "one")
    assert lines
    assert len(lines) == len(set(lines)), "what two runs have read is there once"
    assert list(claims.glob("*.json")) == [], "nobody left a lock behind"


def test_runs_of_two_clusters_do_not_hinder_each_other(spark: Any, start: Start, tmp_path: Path) -> None:
    """Both create the same tables and fill them, at the same time."""
    runs = [start("one"), start("two")]
    assert [ended(run) for run in runs] == [(0, ""), (0, "")]
    one, two = (lines_of(spark, tmp_path / "lake", cluster) for cluster in ("one", "two"))
    assert one
    assert one == two
    metadata = sum(
        "metaData" in json.loads(line)
        for commit in (tmp_path / "lake" / "bronze" / "log_lines" / "_delta_log").glob("*.json")
        for line in commit.read_text().splitlines()
    )
    assert metadata == 1, "the table was created once"
