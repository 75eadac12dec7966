"""Searches for storms, bursts and slow revokers in the groups of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from jobs.findings.making import few_of, hold_of, made
from jobs.findings.offsets import Found
from jobs.findings.reading import Near, of_all_time
from jobs.frame.job import Job
from jobs.frame.keeping import Keep
from schemas.table import TableSpec
from schemas.tables.gold import ILLEGAL_GENERATION_BURSTS, REBALANCE_STORMS, RECONCILIATIONS, SLOW_REVOKERS
from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_REQUESTS
from transforms.gold.findings.scope import Scope
from transforms.gold.findings.search import CUTS, Search
from transforms.gold.illegal_generation_bursts import REFUSED, burst_search, refusals
from transforms.gold.rebalance_storms import storm_search, with_clients
from transforms.gold.slow_revokers import slow_revokers

BEGIN = "started_at"
"""Column of findings that says when they began."""


@dataclass(frozen=True)
class Searches:
    """The searches in the groups of a run; findings that stay are among those that they give.

    Attributes:
        job: the job.
        scope: the groups; None = all.
        near: what is read of them.
        seen_until: end of the data (epoch ms); None = not known.
        keep: keeps what is found for as long as it is needed.
    """

    job: Job
    scope: Scope | None
    near: Near
    seen_until: float | None
    keep: Keep

    def all(self) -> list[Callable[[], Found]]:
        """Return those that may find something."""
        # Classic groups have no slow revokers.
        has_revokers = any(self.job.lake.contents.row_counts([RECONCILIATIONS, SLOW_REVOKERS]).values())
        return [self.storms, self.bursts, *([self.revokers] if has_revokers else [])]

    def storms(self) -> Found:
        """Search for storms."""
        read = with_clients(self.near.rows, self.near.of_cluster)
        thresholds = self.job.settings.storms.thresholds()
        search = storm_search(read, thresholds, self.seen_until, is_cut=self.scope is not None)
        return self._with_staying(REBALANCE_STORMS, self._made(search, read))

    def bursts(self) -> Found:
        """Search for bursts."""
        gap_ms, min_errors = self.job.settings.bursts.gap_ms, self.job.settings.bursts.min_errors
        near, lines = self.near, self.near.of_cluster[COORDINATOR_EVENTS]
        read = {**near.rows, **near.named, COORDINATOR_EVENTS: lines}
        requests = near.rows[GROUP_REQUESTS] if near.refused is None else near.refused
        told = refusals(read, near.of_cluster, requests, gap_ms)
        is_cut = self.scope is not None
        search = burst_search(read, told is not None, gap_ms, min_errors, self.seen_until, is_cut)
        more = {} if told is None else {REFUSED: told}
        return self._with_staying(ILLEGAL_GENERATION_BURSTS, self._made(search, read, more))

    def revokers(self) -> Found:
        """Search for members that gave partitions up slowly."""
        rows = {**self.near.rows, **({} if self.scope is None else of_all_time(self.job, self.scope))}
        slow_ms, (hold, few) = self.job.settings.revocations.slow_ms, (hold_of(self.job), few_of(self.job))
        return self._with_staying(SLOW_REVOKERS, slow_revokers(rows, slow_ms, self.seen_until, hold, few))

    def _with_staying(self, spec: TableSpec, rows: DataFrame) -> Found:
        if self.scope is None:
            return [(spec, rows)]
        return [(spec, self.job.lake.answer(self.scope.with_staying(spec, rows, BEGIN), None, self.keep))]

    def _made(
        self, search: Search, tables: Mapping[TableSpec, DataFrame], more: Mapping[str, DataFrame] | None = None
    ) -> DataFrame:
        """Make a search in some tables, and in more rows."""
        named = {spec.name: rows for spec, rows in tables.items()} | dict(more or {})
        named |= {} if self.scope is None else {CUTS: self.scope.groups}
        return made(self.job, search, named, self.keep)
