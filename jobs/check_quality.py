"""Holds tables to their checks and laws; a critical one that is broken ends in exit code 3.

What the steps publish was audited before (`jobs.quality.gate`). Looked at here is what has not passed since it changed
last: tables that somebody else has written to, or whose checks are new, and rows that are added to after the audit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame

from jobs.frame.job import Job, execute
from jobs.frame.keeping import Keep, keeping
from jobs.quality.gate import Batch, digest, hold, laws_about, reads_beside
from jobs.sources.logs.progress import logs_read
from jobs.timelines.standing import standing
from schemas.catalog import TABLES
from schemas.expectations import checks_of
from schemas.table import TableSpec
from transforms.wanted_rows import Wanted

STEP = "check_quality"


def run(job: Job) -> None:
    """Check the tables that have changed since they last passed; with `--all`, every table.

    Raises:
        QualityError: at least one critical check or law is broken; the message names each of them.
    """
    in_all = job.lake.contents.row_counts(TABLES)
    filled = [spec for spec in TABLES if in_all[spec.full_name]]
    changed = filled if getattr(job.arguments, "all", False) else to_check(job)
    if changed:
        job.report.activity("checking tables")
        with keeping() as keep:
            hold(job, _held(job, changed, job.record.groups, keep), "what is published breaks them")
        for spec in changed:
            job.lake.contents.note_passed(spec, digest(spec))
    checks = sum(len(checks_of(spec)) for spec in filled)
    warnings = sum(not verdict.passed for verdict, _ in job.record.verdicts.values())
    audited = f", {len(job.record.verdicts)} of them on what is new" if job.record.verdicts else ""
    odd = f", {warnings} warnings" if warnings else ""
    job.report.note(f"{checks} checks and {len(laws_about(filled))} laws of {len(filled)} tables{audited}{odd}")


def to_check(job: Job) -> list[TableSpec]:
    """Return the tables that have rows, and have changed since they last passed all their checks."""
    return [spec for spec in TABLES if not job.lake.contents.has_passed(spec, digest(spec))]


def _held(job: Job, specs: Sequence[TableSpec], groups: Iterable[str] | None, keep: Keep) -> Batch:
    """Return the rows that are to be looked at: those of the run's groups, where nobody else has written to a table."""
    listed = None if groups is None else sorted(groups)
    reached = standing(job)
    return Batch(
        {},
        evidence={spec: _rows(job, spec, listed, keep) for spec in specs},
        beside={spec: job.lake.in_place(spec, Wanted(), keep) for spec in reads_beside(specs)},
        spoken=reached.newest if reached else {},
        left_out=logs_read(job.lake).left_out,
    )


def _rows(job: Job, spec: TableSpec, groups: Sequence[str] | None, keep: Keep) -> DataFrame:
    is_ours = job.lake.contents.has_passed_before(spec, digest(spec))
    are_some = groups and is_ours and "group_id" in spec.columns
    return job.lake.in_place(spec, Wanted(groups if are_some else None), keep)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the job's own arguments."""
    parser.add_argument("--all", action="store_true", help="check every table, whether it has changed or not")


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, add_arguments=add_arguments, step=STEP)


if __name__ == "__main__":
    sys.exit(main())
