"""What is read and written to find offsets that go astray: with each run, the commits behind the line stand anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import floor

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.findings.looking import Looked
from jobs.findings.when_asked import WhenAsked
from jobs.frame.job import Job
from jobs.timelines.writing import MOST_LISTED
from schemas.table import TableSpec
from schemas.tables.gold import ASSIGNMENTS, COMMIT_GAPS, GENERATIONS, OFFSET_REWINDS, STANDING_COMMITS
from schemas.tables.silver import GROUP_REQUESTS, OFFSET_COMMITS
from transforms.gold.commit_gaps import AT_REBALANCE_US, IS_OVER, OWNER, REFUSED, commit_gaps, one_each
from transforms.gold.findings.commits import is_after, is_held_after, line, standing, together
from transforms.gold.findings.kernel import GROUP, Few, Hold
from transforms.gold.findings.scope import Scope, is_since
from transforms.gold.offset_rewinds import offset_rewinds
from transforms.wanted_rows import Wanted

Found = list[tuple[TableSpec, DataFrame]]
"""Findings, by their tables."""


@dataclass(frozen=True)
class Offsets:
    """The search for what is wrong with a cluster's offsets.

    Attributes:
        job: the job.
        scope: the groups; None = all.
        before: how far the last run came.
        now: how far this one comes.
        hold: keeps what findings are made of.
        few: fetches evidence if there is little of it.
    """

    job: Job
    scope: Scope | None
    before: Looked | None
    now: Looked
    hold: Hold
    few: Few

    def found(self) -> Found:
        """Return the rows of the tables, of the groups of the run."""
        commits, behind = self._commits()
        requests, assignments = self._requests(behind), self._assignments(behind)
        rewinds = offset_rewinds(
            WhenAsked(
                {
                    OFFSET_COMMITS: lambda: commits,
                    GROUP_REQUESTS: lambda: requests,
                    **{spec: partial(self._of_groups, spec) for spec in (GENERATIONS, ASSIGNMENTS)},
                }
            ),
            self.job.settings.offsets.jump,
            self.job.settings.offsets.retention_ms,
            self.hold,
            self.few,
        )
        found = [
            (OFFSET_REWINDS, self._after(rewinds, OFFSET_REWINDS, behind)),
            (COMMIT_GAPS, self._gaps(commits, requests, assignments, behind)),
        ]
        if self.now.line is not None:
            generations = self._of_groups(GENERATIONS)
            found.append((STANDING_COMMITS, standing(commits, assignments, generations, self.now.line)))
        return found

    def _commits(self) -> tuple[DataFrame, DataFrame | None]:
        """Return the commits, and up to where those of each group only stand for others (null = all are there)."""
        rows = self.job.lake.read(OFFSET_COMMITS)
        if self.scope is None or self.before is None or self.before.line is None:
            return rows, None
        at = self.before.line
        groups = self.scope.groups.select(*GROUP, (~is_since(at)).alias("is_whole"))
        new = self.before.new(OFFSET_COMMITS)
        is_young = F.col("recorded_at").isNull() | is_after("recorded_at", at) | new.is_late()
        young = {**new.since, "recorded_at": _us(at)} if new.since else {}
        rows = self._with_old(OFFSET_COMMITS, young)
        of_run = rows.join(F.broadcast(groups), [*GROUP])
        since = of_run.where(F.col("is_whole") | is_young)
        kept = self.job.lake.read(STANDING_COMMITS).join(F.broadcast(groups.where("NOT is_whole")), [*GROUP])
        opened = line(kept, at).withColumnRenamed("line", "opened")
        behind = groups.join(opened, [*GROUP], "left").select(
            *GROUP, F.when(~F.col("is_whole"), F.coalesce("opened", F.lit(at))).alias("line")
        )
        return self.job.staged(together(kept, since, at)), self.job.staged(behind)

    def _gaps(
        self, commits: DataFrame, requests: DataFrame, assignments: DataFrame, behind: DataFrame | None
    ) -> DataFrame:
        """Return the gaps in assignments that reach beyond the line, and those that there are in others."""
        tables = {OFFSET_COMMITS: commits, GROUP_REQUESTS: requests}
        silent_ms = self.job.settings.commits.silent_ms
        at = self.before.line if self.before else None
        if at is None or behind is None:
            return commit_gaps({**tables, ASSIGNMENTS: assignments}, silent_ms, hold=self.hold)
        known = self._of_groups(COMMIT_GAPS).join(behind, [*GROUP]).where("line IS NOT NULL")
        is_held = F.col("line").isNull() | is_held_after(F.col("line"))
        near = assignments.join(F.broadcast(behind), [*GROUP]).withColumn(IS_OVER, ~is_held).drop("line")
        held = near.where(~F.col(IS_OVER))
        lost = known.where(~_is_sought(REFUSED, at))
        silent = known.where("kind = 'silent'").where(F.unix_micros("first_commit_at") / 1000.0 <= F.col("line"))
        found = commit_gaps({**tables, ASSIGNMENTS: near}, silent_ms, lost, silent, self.hold)
        others = known.drop("line").join(held.select(*OWNER), list(OWNER), "left_anti")
        return one_each(found.unionByName(others.select(found.columns)))

    def _assignments(self, behind: DataFrame | None) -> DataFrame:
        """Return the assignments of the groups, but for those that no request which is looked through has met."""
        opened = None if self.scope is None or self.scope.old is None or behind is None else self._first_line(behind)
        if self.scope is None or opened is None:
            return self._of_groups(ASSIGNMENTS)
        earliest = _us(_sought_since(opened)) - 1000  # some less: lines are rounded to microseconds
        old = {"group_id": self.scope.old or ()}
        rows = self.job.lake.some(ASSIGNMENTS, Wanted(self.scope.listed, {"valid_to": earliest}, old))
        return self.scope.of_groups(rows)

    def _first_line(self, behind: DataFrame) -> float | None:
        """Return the first line of all groups that have one."""
        _, groups = self.job.at_hand(behind, MOST_LISTED)
        if groups is not None:
            return min((row["line"] for row in groups if row["line"] is not None), default=None)
        first: float | None = behind.agg(F.min("line").alias("line")).collect()[0].line
        return first

    def _after(self, found: DataFrame, spec: TableSpec, behind: DataFrame | None) -> DataFrame:
        """Return what was found beyond the line, and what was known before it."""
        if behind is None:
            return found
        at = F.unix_micros("at") / 1000.0
        new = found.join(F.broadcast(behind), [*GROUP]).where(F.col("line").isNull() | (at > F.col("line")))
        old = self._of_groups(spec).join(F.broadcast(behind), [*GROUP]).where(at <= F.col("line"))
        return new.drop("line").unionByName(old.drop("line").select(found.columns))

    def _of_groups(self, spec: TableSpec) -> DataFrame:
        rows = self.job.lake.read(spec)
        return rows if self.scope is None else self.scope.of_groups(rows)

    def _requests(self, behind: DataFrame | None) -> DataFrame:
        """Return the requests that have a say in what lies beyond the line: those of a rebalance before it too."""
        at = self.before.line if self.before else None
        if self.scope is None or at is None or behind is None:
            return self.job.lake.read(GROUP_REQUESTS)
        of_run = self._with_old(GROUP_REQUESTS, {"answered_at": _us(_sought_since(at))})
        near = of_run.join(F.broadcast(behind), [*GROUP])
        return near.where(F.col("line").isNull() | _is_sought("answered_at", at)).drop("line")

    def _with_old(self, spec: TableSpec, young: Mapping[str, int]) -> DataFrame:
        """Return rows that are young, and all of the groups in which something old changed: no other file is opened."""
        assert self.scope is not None, "whoever looks at all groups reads all rows"
        old = self.scope.old
        since = {} if old is None else young
        return self.job.lake.some(spec, Wanted(self.scope.listed, since, {"group_id": old or ()}))


def _sought_since(line: float) -> float:
    """From when on requests have a say in what lies beyond the line."""
    return line - AT_REBALANCE_US / 1000


def _is_sought(moment: str, line: float) -> Column:
    """Tell whether requests of a moment are looked through again: what was made of others cannot change.

    What was made of these may have been made of what was not settled then.
    """
    return is_after(moment, _sought_since(line))


def _us(at: float) -> int:
    return floor(at * 1000)
