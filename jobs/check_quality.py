"""Holds all tables to their checks; a critical one that fails closes the gate (exit code 3).

A table that passed all of them and has not changed since is not asked again.
"""

from __future__ import annotations

import hashlib
import logging
import sys
from collections.abc import Sequence

from jobs.findings.gate import Failure, Gate
from jobs.frame.job import Job, execute
from schemas.catalog import TABLES
from schemas.expectations import checks_of
from schemas.table import TableSpec
from transforms.errors import QualityError

log = logging.getLogger(__name__)


def run(job: Job) -> None:
    """Check every table.

    Raises:
        QualityError: at least one critical check failed; the message names each of them.
    """
    job.report.activity("counting rows")
    in_all = job.lake.contents.row_counts(TABLES)
    filled = [spec for spec in TABLES if in_all[spec.full_name]]
    changed = to_check(job)
    failures = _failures(job, changed) if changed else []
    for failure in failures:
        if not failure.check.is_critical:
            log.warning("%s", failure)
    critical = [str(failure) for failure in failures if failure.check.is_critical]
    if critical:
        raise QualityError("quality gate failed: " + " | ".join(critical))
    warnings = f", {len(failures)} warnings" if failures else ""
    unchanged = f", {len(filled) - len(changed)} of them unchanged" if len(changed) < len(filled) else ""
    checks = sum(len(checks_of(spec)) for spec in filled)
    job.report.note(f"{checks} checks of {len(filled)} tables{unchanged}{warnings}")


def to_check(job: Job) -> list[TableSpec]:
    """Return the tables that have rows, and have changed since they last passed all their checks."""
    return [spec for spec in TABLES if not job.lake.contents.has_passed(spec, _digest(spec))]


def _failures(job: Job, specs: Sequence[TableSpec]) -> list[Failure]:
    """Check tables, and note which of them pass."""
    job.report.activity("checking tables")
    failures = Gate(job.lake).check(specs)
    failed = {failure.table for failure in failures}
    for spec in specs:
        if spec.full_name not in failed:
            job.lake.contents.note_passed(spec, _digest(spec))
    return failures


def _digest(spec: TableSpec) -> str:
    """Return what changes with the checks of a table."""
    return hashlib.blake2b(repr(checks_of(spec)).encode("utf-8"), digest_size=8).hexdigest()


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, step="check_quality")


if __name__ == "__main__":
    sys.exit(main())
