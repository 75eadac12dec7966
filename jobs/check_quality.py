"""Holds all tables to their checks; a critical one that fails closes the gate (exit code 3)."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

from jobs.findings.gate import Gate
from jobs.frame.job import Job, execute
from schemas.catalog import TABLES
from schemas.expectations import checks_of
from transforms.errors import QualityError

log = logging.getLogger(__name__)


def run(job: Job) -> None:
    """Check every table.

    Raises:
        QualityError: at least one critical check failed; the message names each of them.
    """
    job.report.activity("counting rows")
    in_all = job.lake.count_rows(TABLES)
    filled = [spec for spec in TABLES if in_all[spec.full_name]]
    job.report.activity("checking tables")
    failures = Gate(job.lake).check(filled)
    for failure in failures:
        if not failure.check.is_critical:
            log.warning("%s", failure)
    critical = [str(failure) for failure in failures if failure.check.is_critical]
    if critical:
        raise QualityError("quality gate failed: " + " | ".join(critical))
    warnings = f", {len(failures)} warnings" if failures else ""
    job.report.note(f"{sum(len(checks_of(spec)) for spec in filled)} checks of {len(filled)} tables{warnings}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, step="check_quality")


if __name__ == "__main__":
    sys.exit(main())
