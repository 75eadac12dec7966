"""Holds tables to their checks and laws; a critical one that is broken ends in exit code 3.

What the steps publish was audited before (`jobs.quality.gate`). Looked at here is what has not passed since it changed
last: tables that somebody else has written to, or whose checks are new, and rows that are added to after the audit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import DataFrame

from jobs.frame.job import Job, execute
from jobs.frame.keeping import Keep, keeping
from jobs.quality.evidence import TABLES as EVIDENCE
from jobs.quality.evidence import new_evidence, new_left_out, note_audited
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
    is_all = getattr(job.arguments, "all", False)
    changed = filled if is_all else to_check(job)
    if changed:
        job.report.activity("checking tables")
        with keeping() as keep:
            held = _whole(job, changed, keep) if is_all else _changed(job, changed, job.record.groups, keep)
            hold(job, held, "what is published breaks them")
        for spec in changed:
            job.lake.contents.note_passed(spec, digest(spec))
        note_audited(job)
    checks = sum(len(checks_of(spec)) for spec in filled)
    warnings = sum(not verdict.passed for verdict, _ in job.record.verdicts.values())
    audited = f", {len(job.record.verdicts)} of them on what is new" if job.record.verdicts else ""
    odd = f", {warnings} warnings" if warnings else ""
    job.report.note(f"{checks} checks and {len(laws_about(filled))} laws of {len(filled)} tables{audited}{odd}")


def to_check(job: Job) -> list[TableSpec]:
    """Return the tables that have rows, and have changed since they last passed all their checks."""
    return [spec for spec in TABLES if not job.lake.contents.has_passed(spec, digest(spec))]


def _changed(job: Job, specs: Sequence[TableSpec], groups: Iterable[str] | None, keep: Keep) -> Batch:
    """Return what is to be looked at of tables that have changed.

    Where nobody else has written to them that is the evidence that no audit has looked at yet, as when nothing was
    replayed for it, and what gold has of the run's groups.
    """
    if not all(_is_ours(job, spec) for spec in specs if spec in EVIDENCE):
        return _whole(job, specs, keep, groups)
    gold = [spec for spec in specs if spec not in EVIDENCE]
    evidence = new_evidence(job, keep) if len(gold) < len(specs) else {}
    return _batch(job, {**evidence, **_rows(job, gold, groups, keep)}, new_left_out(job), keep)


def _whole(job: Job, specs: Sequence[TableSpec], keep: Keep, groups: Iterable[str] | None = None) -> Batch:
    """Return the rows of tables: where nobody else has written to one and groups are given, theirs."""
    return _batch(job, _rows(job, specs, groups, keep), logs_read(job.lake).left_out, keep)


def _batch(job: Job, rows: Mapping[TableSpec, DataFrame], left_out: int, keep: Keep) -> Batch:
    beside = {spec: job.lake.in_place(spec, Wanted(), keep) for spec in reads_beside([*rows])}
    reached = standing(job)
    return Batch({}, rows, beside, reached.newest if reached else {}, left_out)


def _rows(job: Job, specs: Sequence[TableSpec], groups: Iterable[str] | None, keep: Keep) -> dict[TableSpec, DataFrame]:
    listed = sorted(groups or ()) or None

    def groups_of(spec: TableSpec) -> Sequence[str] | None:
        return listed if "group_id" in spec.columns and _is_ours(job, spec) else None

    return {spec: job.lake.in_place(spec, Wanted(groups_of(spec)), keep) for spec in specs}


def _is_ours(job: Job, spec: TableSpec) -> bool:
    """Tell whether all that has not passed is what runs of this cluster have written."""
    return job.lake.contents.has_passed_before(spec, digest(spec))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the job's own arguments."""
    parser.add_argument("--all", action="store_true", help="check every table, whether it has changed or not")


def main(argv: Sequence[str] | None = None) -> int:
    """Run as a process; return its exit code."""
    return execute(run, __doc__ or "", argv, add_arguments=add_arguments, step=STEP)


if __name__ == "__main__":
    sys.exit(main())
