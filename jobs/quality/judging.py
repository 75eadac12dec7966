"""Has counts judged by a process beside this one, and puts the pages that come of it where people look.

To import Great Expectations and to judge a lake takes four seconds of a processor, which a small run would wait for. In
a process of its own that goes on while this one waits for its JVM. It lives as long as this process, and judges for all
of its runs. Where no process can be started, or it was ended, counts are judged here.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import msgspec

from jobs.jvm.files import Files
from jobs.quality import judge
from jobs.quality.judge import Answer, Case, Count, Judge, Judgement
from jobs.quality.offline import FOLDER, cluster_of, index

log = logging.getLogger(__name__)


class Judging:
    """A judge that works beside this process."""

    def __init__(self) -> None:
        self._process = _started()
        self._turn = ThreadPoolExecutor(1)  # whoever asks need not wait until the process is ready to read
        self._here: Judge | None = None

    def look_at(self, counts: Sequence[Count]) -> None:
        """Let counts be judged that an answer will be wanted to, probably."""
        self._turn.submit(self._asked, Case(tuple(counts), is_urgent=False))

    def judge(self, counts: Sequence[Count]) -> Answer:
        """Return what became of the counts of each table."""
        answer = self._turn.submit(self._asked, Case(tuple(counts), is_urgent=True)).result()
        return answer if answer is not None else self._judged_here(counts)

    def _asked(self, case: Case) -> Answer | None:
        """Ask the process; return None if it need not answer, or does not."""
        if self._process is None or self._process.stdin is None or self._process.stdout is None:
            return None
        try:
            self._process.stdin.write(msgspec.json.encode(case) + b"\n")
            self._process.stdin.flush()
            if not case.is_urgent:
                return None
            return msgspec.json.decode(self._process.stdout.readline(), type=Answer)
        except (OSError, msgspec.DecodeError) as error:  # it was ended: while it was not asked, or while it answered
            log.info("checks are judged without a process of their own: %s", error)
            return None

    def _judged_here(self, counts: Sequence[Count]) -> Answer:
        if self._here is None:
            self._here = Judge()
        return self._here.judge(counts)


def _started() -> subprocess.Popen[bytes] | None:
    """Start a process that judges; return None where none can be started."""
    try:
        return subprocess.Popen(
            [sys.executable, "-m", judge.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
            cwd=os.sep,  # Python would look there first, whatever lies where this process was started
            start_new_session=True,  # who ends this process by Ctrl-C wants the end of the run to be kept
        )
    except OSError as error:
        log.info("no process could be started to judge checks: %s", error)
        return None


@lru_cache(maxsize=1)
def judging() -> Judging:
    """Return the judge of this process; it is started when it is asked for first."""
    return Judging()


def put_pages(site: Files, cluster: str, counts: Sequence[Count], judgements: Mapping[str, Judgement]) -> None:
    """Put pages where people look, each in the place of the last one; that which leads to them comes last.

    Those of another cluster stay as they are.

    Args:
        site: files of the report, among which the pages are.
        cluster: Kafka cluster that they are about.
        counts: what was judged.
        judgements: what became of it, by table.
    """
    there = cluster_of(site.read(f"{FOLDER}/index.html") or "")
    if there not in (None, cluster):
        log.warning("the pages on quality are those of the cluster %s: set report.path for %s", there, cluster)
        return
    rows = []
    for table, judgement in judgements.items():
        page, of_table = f"{table}.html", [count for count in counts if count.table == table]
        site.write(f"{FOLDER}/{page}", judgement.page)
        critical = sum(count.severity == "critical" for count in of_table if count.check in judgement.failed)
        rows.append((table, page, len(of_table), len(judgement.failed), critical, of_table[0].at))
    site.write(f"{FOLDER}/index.html", index(cluster, rows))
    now = {"index.html", *(f"{table}.html" for table in judgements)}
    for name in {file.name for file in site.list(FOLDER) if file.name.endswith(".html")} - now:
        site.delete(f"{FOLDER}/{name}")
