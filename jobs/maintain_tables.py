"""Compacts small files of all tables and removes files that no version of the last days needs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from jobs.frame.job import Job, execute
from schemas.catalog import TABLES

WEEK_HOURS = 168
"""Delta's own least retention: readers and writers under way may still need younger files."""


def run(job: Job) -> None:
    """Compact and vacuum every table that exists."""
    for spec in TABLES:
        if job.lake.exists(spec):
            job.report.activity(spec.full_name)
            job.lake.compact(spec, job.arguments.retain_hours)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the job's own arguments."""
    parser.add_argument(
        "--retain-hours", type=float, default=WEEK_HOURS, metavar="HOURS", help="age from which unused files go"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, add_arguments=add_arguments, step="maintain_tables")


if __name__ == "__main__":
    sys.exit(main())
