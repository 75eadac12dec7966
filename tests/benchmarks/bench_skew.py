"""One group with most of the evidence beside very many small ones: what a worker takes of memory, and a task of time.

    python -m tests.benchmarks.bench_skew [--heartbeats 5000000] [--groups 100000] [--scratch FOLDER]

The large group is one of `load_workload` whose members, once they have settled, send heartbeats for weeks; each small
one has a member that joins and stays. The pipeline runs as a process of its own. Prints the greatest resident size that
any of its Python workers ever had, the CPU time of the one that took most, and what the longest tasks of Spark's took.
Fails where there is no worker, or one takes more than `LIMIT_BYTES`.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from itertools import count, islice
from pathlib import Path

import msgspec

from tests.benchmarks.bench_load import run
from tests.benchmarks.load_workload import BEGIN, SPAN_MS, STORIES, Written, story, write
from tests.benchmarks.whole_process import cpu_seconds, tree

LIMIT_BYTES = 2 << 30
LATENESS_MS = 60_000
SEED = 3

_GENERATIONS, _REST_MS = 10, 20_000
"""At the end all members of the large group have been away, and have come back to one last generation."""
_EVERY_MS = 3_000
_FIRST_SENT = 1_000
_LINES_OF_A_FILE = 200_000
_LOOK_S = 0.5

_HEARTBEAT = re.compile(
    r'^\[[^]]+\](?P<rest> DEBUG .*"HEARTBEAT".*'
    r'"memberId":"(?P<member>[^"]+)".*"generationId":(?P<generation>\d+).*"errorCode":0.*)$'
)
_WORKER = re.compile(rb"pyspark\.daemon|multiprocessing\.spawn")
_CORRELATION = re.compile(r'"correlationId":\d+')


def heartbeats(played: dict[int, Written]) -> Iterator[str]:
    """Yield lines without end: those that members of a group's last generation sent last, again and again."""
    last: dict[tuple[int, str], str] = {}
    for lines in (written.lines["kafka-request.log"] for _, written in sorted(played.items())):
        for found in filter(None, map(_HEARTBEAT.match, lines)):
            last[int(found["generation"]), found["member"]] = found["rest"]
    newest = max(generation for generation, _ in last)
    said = [_CORRELATION.split(rest, maxsplit=1) for (generation, _), rest in last.items() if generation == newest]
    at = BEGIN + (max(played) + 1) * SPAN_MS
    for beat in count():
        for number, (before, behind) in enumerate(said):
            moment = datetime.fromtimestamp((at + beat * _EVERY_MS + number * 100) / 1000, timezone.utc)
            written = f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03d}"
            yield f'[{written}]{before}"correlationId":{_FIRST_SENT + beat}{behind}\n'


def write_heartbeats(root: Path, played: dict[int, Written], beats: int) -> None:
    """Write so many heartbeats of a group, behind all that there is of it, as rotated request logs."""
    logs = root / "logs" / "1"
    lines = heartbeats(played)
    for number, start in enumerate(range(0, beats, _LINES_OF_A_FILE)):
        part = islice(lines, min(_LINES_OF_A_FILE, beats - start))
        (logs / f"kafka-request.log.later-{number:05d}").write_text("".join(part))


class Watched:
    """What the workers of a run took: Python processes that it starts itself, or has Spark start, on this machine.

    Attributes:
        largest: the greatest resident size (bytes) that any of them ever had.
        busiest_s: CPU time (s) of the one that took most; no share of the work that one did took longer, waiting aside.
    """

    def __init__(self) -> None:
        self.largest, self.busiest_s = 0, 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *of_error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_S):
            for process_id in filter(_is_worker, tree(os.getpid())):
                self.largest = max(self.largest, _peak(process_id))
                self.busiest_s = max(self.busiest_s, cpu_seconds(process_id))


def _is_worker(process_id: int) -> bool:
    try:
        return _WORKER.search(Path(f"/proc/{process_id}/cmdline").read_bytes()) is not None
    except OSError:  # it has ended
        return False


def _peak(process_id: int) -> int:
    """Return the greatest resident size of a process so far (bytes)."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process_id}/status").read_text(encoding="utf-8"))
    except OSError:
        return 0
    return int(found[1]) << 10 if found else 0


def longest_tasks(events: Path) -> Iterator[tuple[str, float]]:
    """Yield what the longest tasks of a run did, and their seconds, by Spark's event log."""
    stages: dict[int, str] = {}
    took: dict[int, float] = {}
    for file in sorted(events.rglob("events*")):
        for line in file.open("rb"):
            event = msgspec.json.decode(line)
            if event["Event"] == "SparkListenerStageSubmitted":
                stages[event["Stage Info"]["Stage ID"]] = event.get("Properties", {}).get("spark.job.description", "")
            elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                stage, seconds = event["Stage ID"], event["Task Metrics"]["Executor Run Time"] / 1000
                took[stage] = max(took.get(stage, 0.0), seconds)
    for stage, seconds in sorted(took.items(), key=lambda each: -each[1]):
        yield stages.get(stage, ""), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heartbeats", type=int, default=5_000_000)
    parser.add_argument("--groups", type=int, default=100_000)
    parser.add_argument("--scratch", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        measure(Path(folder), given.heartbeats, given.groups)


def measure(root: Path, beats: int, groups: int) -> None:
    """Write the workload, run the pipeline over it, and print what the largest worker and the longest tasks took."""
    large = story(STORIES, _GENERATIONS, SEED, _REST_MS)
    stories = [*(story(number, 0, SEED, members=1) for number in range(STORIES)), large]
    numbers = list(islice((number for number in count() if number % len(stories) != STORIES), groups))
    began = time.monotonic()
    pieces = write(root, stories, [STORIES, *numbers], sorted(set().union(*stories))) + beats
    write_heartbeats(root, large, beats)
    _say(f"{pieces:,} lines and records, {beats:,} of them heartbeats of one: {time.monotonic() - began:.0f} s")
    events = root / "events"
    events.mkdir()
    properties = root / "events.conf"
    properties.write_text(
        f"spark.eventLog.enabled true\nspark.eventLog.compress false\nspark.eventLog.dir {events.as_uri()}\n"
    )
    with Watched() as workers:
        seconds, steps = run(root, LATENESS_MS, [f"--spark.properties={properties}"])
    _say(f"{seconds:.0f} s ({steps}); largest worker {workers.largest >> 20:,} MiB")
    _say(f"  busiest worker: {workers.busiest_s:.0f} CPU-s, {workers.busiest_s / seconds:.0%} of the run")
    for what, took in islice(longest_tasks(events), 5):
        _say(f"  longest task of a stage: {took:.1f} s, {took / seconds:.0%} of the run ({what or 'not described'})")
    assert 0 < workers.largest < LIMIT_BYTES


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
