"""Finds storms, bursts, and offsets that go astray; does nothing if neither data nor thresholds changed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.findings.health import look_at_health
from jobs.frame.job import Job, execute
from jobs.handing_over.findings import hand_over
from jobs.handing_over.metrics_file import note_end
from jobs.lake.retired import written_at
from schemas.tables.gold import (
    COMMIT_GAPS,
    FINDINGS,
    GROUP_HEALTH,
    ILLEGAL_GENERATION_BURSTS,
    OFFSET_REWINDS,
    REBALANCE_STORMS,
)
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_REQUESTS, OFFSET_COMMITS
from transforms.gold.commit_gaps import READ as READ_FOR_GAPS
from transforms.gold.commit_gaps import commit_gaps
from transforms.gold.group_health import READ as READ_FOR_HEALTH
from transforms.gold.illegal_generation_bursts import READ as READ_FOR_BURSTS
from transforms.gold.illegal_generation_bursts import illegal_generation_bursts
from transforms.gold.offset_rewinds import READ as READ_FOR_REWINDS
from transforms.gold.offset_rewinds import offset_rewinds
from transforms.gold.rebalance_storms import READ as READ_FOR_STORMS
from transforms.gold.rebalance_storms import rebalance_storms

STEP = "detect_findings"

_ENDING = (GROUP_REQUESTS, COORDINATOR_EVENTS, OFFSET_COMMITS)
"""Tables of silver whose newest time is the end of the data."""

_READ = tuple(dict.fromkeys((*READ_FOR_STORMS, *READ_FOR_BURSTS, *READ_FOR_REWINDS, *READ_FOR_GAPS, *READ_FOR_HEALTH)))

_INPUTS = tuple(dict.fromkeys((*_READ, *_ENDING)))

_OUTPUTS = (*FINDINGS, GROUP_HEALTH)


def run(job: Job) -> None:
    """Find all kinds anew, over all groups, and hand over what was found."""
    _detect(job)
    hand_over(job)


def _detect(job: Job) -> None:
    storms, bursts = job.settings.storms, job.settings.bursts
    offsets, commits = job.settings.offsets, job.settings.commits
    note = {
        "of": {spec.full_name: job.lake.contents.mark(spec) for spec in _INPUTS},
        "storms": storms.model_dump(),
        "bursts": bursts.model_dump(),
        "offsets": {"jump": offsets.jump, "retention_ms": offsets.retention_ms},
        "commits": commits.model_dump(),
    }
    if job.lake.progress.of(STEP, _OUTPUTS) == note:
        return
    job.lake.create(_OUTPUTS)
    tables = {spec: job.lake.read(spec) for spec in _READ}
    job.report.activity("looking for storms, bursts and offsets gone astray")
    seen_until = _seen_until(job)
    found_storms = rebalance_storms(tables, storms.thresholds(), seen_until)
    found_bursts = illegal_generation_bursts(tables, bursts.gap_ms, bursts.min_errors, seen_until)
    found_rewinds = offset_rewinds(tables, offsets.jump, offsets.retention_ms)
    found_gaps = commit_gaps(tables, commits.silent_ms, seen_until)
    job.replace(
        [
            (REBALANCE_STORMS, found_storms),
            (ILLEGAL_GENERATION_BURSTS, found_bursts),
            (OFFSET_REWINDS, found_rewinds),
            (COMMIT_GAPS, found_gaps),
        ]
    )
    look_at_health(job, None, seen_until)
    job.lake.progress.note(STEP, _OUTPUTS, note)


def _seen_until(job: Job) -> float | None:
    """Return the newest time in the data, as epoch ms; null if there is no data."""
    newest = [
        job.lake.read(spec).agg((F.unix_micros(F.max(written_at(spec))) / 1000.0).alias("at")) for spec in _ENDING
    ]
    at: float | None = reduce(DataFrame.unionByName, newest).agg(F.max("at")).collect()[0][0]
    return at


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, step=STEP, at_end=note_end)


if __name__ == "__main__":
    sys.exit(main())
