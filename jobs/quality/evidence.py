"""The evidence that a batch rests on: the rows of bronze and silver that no audit has looked at yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.frame.keeping import Keep
from jobs.lake.increments import new_rows
from jobs.sources.logs.progress import logs_read
from schemas.table import TableSpec
from schemas.tables import bronze, silver
from transforms.loads import loaded_after

if TYPE_CHECKING:
    from jobs.frame.job import Job

NAME = "audited"

TABLES = (*bronze.TABLES, *silver.TABLES)

_LOADED = tuple(spec for spec in TABLES if "loaded_at" in spec.columns)


def new_evidence(job: Job, keep: Keep) -> dict[TableSpec, DataFrame]:
    """Return the rows of each table that have been loaded since the last audit, of those that may have any.

    Tables that laws compare with are always there, be it without a row.

    Args:
        job: the job.
        keep: see `Lake.in_place`; where much is new, it stays where it lies.
    """
    until = _audited_until(job)
    newest = job.lake.contents.newest_load(_LOADED)
    rows = {}
    for spec in TABLES:
        at = newest.get(spec.full_name)
        is_there = job.lake.exists(spec) and (spec not in _LOADED or (at is not None and (until is None or at > until)))
        if not is_there:
            rows[spec] = job.lake.none_of(spec)
        elif spec in _LOADED and job.lake.is_brief:
            rows[spec] = new_rows(job.lake, spec, until)
        elif spec in _LOADED:
            rows[spec] = job.lake.in_place(spec, loaded_after(until), keep)
        else:
            is_new = F.lit(True) if until is None else F.col("seen_at") > F.lit(until).cast("timestamp")
            rows[spec] = job.lake.read(spec).where(is_new)
    return rows


def new_left_out(job: Job) -> int:
    """Return the number of entries of logs that were read since the last audit, and that no table has."""
    before: int = (job.lake.notes.get(NAME) or {}).get("left_out", 0)
    return max(logs_read(job.lake).left_out - before, 0)


def note_audited(job: Job) -> None:
    """Note that all evidence that there is has been audited."""
    newest = [at for at in job.lake.contents.newest_load(_LOADED).values() if at is not None]
    if newest:
        job.lake.notes.put(NAME, {"until": max(newest), "left_out": logs_read(job.lake).left_out})


def _audited_until(job: Job) -> str | None:
    until: str | None = (job.lake.notes.get(NAME) or {}).get("until")
    return until
