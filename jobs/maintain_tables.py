"""Lets go of rows that are too old, joins small files, and removes files that no version of the last days needs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from jobs.frame.job import Job, execute
from jobs.upkeep.expiry import expire
from jobs.upkeep.files import tidy
from schemas.catalog import ALL

WEEK_HOURS = 168.0
"""Delta's own least retention: readers and writers under way may still need younger files."""


def run(job: Job) -> None:
    """Let go of old rows, and look after the files of every table that exists."""
    for name, count in expire(job).items():
        job.report.note(f"{name} -{count:,}")
    for spec in ALL:
        if job.lake.exists(spec):
            job.report.activity(spec.full_name)
            tidy(job, spec)
            job.lake.vacuum(spec, job.arguments.retain_hours)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the job's own arguments."""
    parser.add_argument(
        "--retain-hours", type=_hours, default=WEEK_HOURS, metavar="HOURS", help="age from which unused files go"
    )


def _hours(text: str) -> float:
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    if not hours >= WEEK_HOURS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from {WEEK_HOURS:.0f} on: runs need younger files")
    return hours


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, add_arguments=add_arguments, step="maintain_tables")


if __name__ == "__main__":
    sys.exit(main())
