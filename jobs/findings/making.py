"""Makes searches: without Spark where all that they read is at hand, or in files of this machine."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from jobs.findings.by_duckdb import is_little, searched_in, source_of
from jobs.frame.job import Job
from jobs.frame.keeping import Keep, fetched
from jobs.session.brief_queries import FEW_ROWS
from transforms.gold.findings.kernel import Few, Hold, by_workers
from transforms.gold.findings.search import Search

_MOST_JUDGED_HERE = 5 * FEW_ROWS
"""Rows of evidence that are judged by the driver: with what lies around them they are more than what is new."""


def made(job: Job, search: Search, rows: Mapping[str, DataFrame], keep: Keep) -> DataFrame:
    """Make a search, and return what is found.

    Args:
        job: the job.
        search: the search.
        rows: what there is for it to read, by name.
        keep: keeps what is found for as long as it is needed.
    """
    read = search.read(rows)
    sources = {name: source_of(each) for name, each in read.items()}
    if job.lake.is_brief:  # of what is told beside rows that are at hand there is little, too
        read |= {name: job.at_hand(read[name], FEW_ROWS)[0] for name, known in sources.items() if known is None}
        sources = {name: known or source_of(read[name]) for name, known in sources.items()}
    known = {name: source for name, source in sources.items() if source is not None}
    folder = keep.folder(job.spark)
    if search.is_for_spark or len(known) < len(read) or (folder is None and not is_little(known)):
        return search.by_spark(read, hold_of(job), few_of(job))
    return searched_in(job.spark, search, known, folder)


def hold_of(job: Job) -> Hold:
    """Return what keeps the rows that findings are made of."""

    def hold(rows: DataFrame) -> DataFrame | None:
        held, few = job.at_hand(rows, FEW_ROWS)
        return None if few == [] else held

    return hold


def few_of(job: Job) -> Few:
    """Return what fetches evidence that is judged by the driver: a run with little news has little of it."""
    return (lambda rows: fetched(rows, _MOST_JUDGED_HERE)) if job.lake.is_brief else by_workers
