"""Finds rebalance storms and bursts of fencing errors in gold; does nothing if neither data nor thresholds changed."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from jobs.frame.job import Job, execute
from schemas.tables.gold import FINDINGS, GENERATIONS, ILLEGAL_GENERATION_BURSTS, MEMBER_SESSIONS, REBALANCE_STORMS
from schemas.tables.silver import GROUP_REQUESTS
from transforms.gold.illegal_generation_bursts import illegal_generation_bursts
from transforms.gold.rebalance_storms import rebalance_storms

STEP = "detect_findings"

_INPUTS = (GENERATIONS, MEMBER_SESSIONS, GROUP_REQUESTS)


def run(job: Job) -> None:
    """Find both kinds anew, over all groups."""
    storms, bursts = job.settings.storms, job.settings.bursts
    note = {
        "of": {spec.full_name: job.lake.contents.mark(spec) for spec in _INPUTS},
        "storms": storms.model_dump(),
        "bursts": bursts.model_dump(),
    }
    if job.lake.progress.of(STEP, FINDINGS) == note:
        return
    job.lake.create(FINDINGS)
    generations, sessions, requests = (job.lake.read(spec) for spec in _INPUTS)
    job.report.activity("looking for storms and bursts")
    found_storms = rebalance_storms(generations, storms.window_ms, storms.min_rebalances)
    found_bursts = illegal_generation_bursts(requests, generations, bursts.gap_ms, bursts.min_errors, sessions)
    job.replace([(REBALANCE_STORMS, found_storms), (ILLEGAL_GENERATION_BURSTS, found_bursts)])
    job.lake.progress.note(STEP, FINDINGS, note)


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, step=STEP)


if __name__ == "__main__":
    sys.exit(main())
