"""Ends findings of groups without news that are over by now."""

from __future__ import annotations

from jobs.frame.job import Job
from jobs.frame.keeping import Keep
from jobs.lake.found_rows import MOST_ROWS
from jobs.quality.gate import note_passed
from schemas.tables.gold import FINDINGS
from transforms.gold.findings.ending import OPEN_UNTIL, ended

_ENDING = tuple(spec for spec in FINDINGS if OPEN_UNTIL in spec.columns)


def end_findings(job: Job, seen_until: float, keep: Keep) -> None:
    """End what is open still, and over by now, of whatever group; those with news were looked at before.

    Args:
        job: the job.
        seen_until: end of the data (epoch ms).
        keep: keeps the rows where they are not few.
    """
    for spec in _ENDING:
        rows, few = job.at_hand(job.lake.answer(ended(spec, seen_until), None, keep), MOST_ROWS)
        if few != []:
            job.lake.put(spec, rows)
            note_passed(job, [spec])
