"""Searches for storms, bursts and slow revokers in the groups of a run."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from jobs.findings.offsets import Found
from jobs.findings.reading import Near, of_all_time
from jobs.frame.job import Job
from jobs.frame.keeping import fetched
from jobs.session.brief_queries import FEW_ROWS
from schemas.table import TableSpec
from schemas.tables.gold import ILLEGAL_GENERATION_BURSTS, REBALANCE_STORMS, RECONCILIATIONS, SLOW_REVOKERS
from transforms.gold.findings.kernel import Few, Hold, by_workers
from transforms.gold.findings.scope import Scope
from transforms.gold.illegal_generation_bursts import illegal_generation_bursts
from transforms.gold.rebalance_storms import rebalance_storms
from transforms.gold.slow_revokers import slow_revokers
from transforms.gold.timelines.looking_back import beside

BEGIN = "started_at"
"""Column of findings that says when they began."""

_MOST_JUDGED_HERE = 5 * FEW_ROWS
"""Rows of evidence that are judged by the driver: with what lies around them they are more than what is new."""


def searches_of(job: Job, scope: Scope | None, near: Near, seen_until: float | None) -> list[Callable[[], Found]]:
    """Return what searches in a run's groups; findings that stay are among those that it gives.

    Args:
        job: the job.
        scope: the groups; None = all.
        near: what is read of them.
        seen_until: end of the data (epoch ms); None = not known.
    """
    storms, bursts, revocations = job.settings.storms, job.settings.bursts, job.settings.revocations
    hold, few = hold_of(job), few_of(job)

    def of_scope(rows: DataFrame) -> DataFrame | None:
        return hold(rows if scope is None else scope.reaching(rows))

    def with_staying(spec: TableSpec, rows: DataFrame) -> Found:
        if scope is None:
            return [(spec, rows)]
        staying = scope.before_cut(job.lake.read(spec), BEGIN)
        return [(spec, beside(scope.found(rows, BEGIN), staying.select(rows.columns)))]

    def for_storms() -> Found:
        found = rebalance_storms(near.rows, storms.thresholds(), seen_until, of_scope, near.of_cluster, few)
        return with_staying(REBALANCE_STORMS, found)

    def for_bursts() -> Found:
        limits, rows = (bursts.gap_ms, bursts.min_errors), {**near.rows, **near.named}
        found = illegal_generation_bursts(rows, *limits, seen_until, of_scope, near.of_cluster, few, near.refused)
        return with_staying(ILLEGAL_GENERATION_BURSTS, found)

    def for_revokers() -> Found:
        rows = {**near.rows, **({} if scope is None else of_all_time(job, scope))}
        return with_staying(SLOW_REVOKERS, slow_revokers(rows, revocations.slow_ms, seen_until, hold, few))

    # Classic groups have none.
    has_revokers = any(job.lake.contents.row_counts([RECONCILIATIONS, SLOW_REVOKERS]).values())
    return [for_storms, for_bursts, *([for_revokers] if has_revokers else [])]


def hold_of(job: Job) -> Hold:
    """Return what keeps the rows that findings are made of."""

    def hold(rows: DataFrame) -> DataFrame | None:
        held, few = job.at_hand(rows, FEW_ROWS)
        return None if few == [] else held

    return hold


def few_of(job: Job) -> Few:
    """Return what fetches evidence that is judged by the driver: a run with little news has little of it."""
    return (lambda rows: fetched(rows, _MOST_JUDGED_HERE)) if job.lake.is_brief else by_workers
