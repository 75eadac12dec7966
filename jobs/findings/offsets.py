"""What is read and written to find offsets that go astray: with each run, the commits behind the line stand anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from jobs.findings.looking import Looked
from jobs.findings.making import hold_of, made
from jobs.frame.job import Job
from jobs.frame.keeping import Keep
from jobs.session.brief_queries import FEW_ROWS
from jobs.timelines.writing import MOST_LISTED
from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import ASSIGNMENTS, COMMIT_GAPS, GENERATIONS, OFFSET_REWINDS, STANDING_COMMITS
from schemas.tables.silver import GROUP_REQUESTS, OFFSET_COMMITS
from transforms.given_rows import given
from transforms.gold.commit_gaps import IS_REFUSED_COMMIT, OWNED, OWNED_ROWS, commit_gaps, owned, sought_since
from transforms.gold.findings.commits import LINES, lines_of_run, standing, together
from transforms.gold.findings.kernel import GROUP
from transforms.gold.findings.scope import Scope
from transforms.gold.findings.search import CUTS
from transforms.gold.offset_rewinds import BEYOND, IS_MADE_BY, STEP_ROWS, STEPS, rewind_search, steps
from transforms.question import Question
from transforms.wanted_rows import Wanted

Found = list[tuple[TableSpec, DataFrame]]
"""Findings, by their tables."""

_LINED = T.StructType([*(T.StructField(name, T.StringType()) for name in GROUP), T.StructField("line", T.DoubleType())])


@dataclass(frozen=True)
class Offsets:
    """The search for what is wrong with a cluster's offsets.

    Attributes:
        job: the job.
        scope: the groups; None = all.
        before: how far the last run came.
        now: how far this one comes.
        keep: keeps what findings are made of for as long as it is needed.
    """

    job: Job
    scope: Scope | None
    before: Looked | None
    now: Looked
    keep: Keep

    def found(self) -> Found:
        """Return the rows of the tables, of the groups of the run."""
        found = [(OFFSET_REWINDS, self._rewinds()), (COMMIT_GAPS, self._gaps())]
        if self.now.line is not None:
            stand = self._told(standing(self.now.line), struct_type(STANDING_COMMITS), (ASSIGNMENTS, GENERATIONS))
            found.append((STANDING_COMMITS, stand))
        return found

    @property
    def _line(self) -> float | None:
        """Up to where standing commits stand for all; None = all commits are looked through."""
        return None if self.scope is None or self.before is None else self.before.line

    # --- what there is to be read -------------------------------------------------------------------------------

    @cached_property
    def _commits(self) -> DataFrame:
        """The commits, up to the line of each group those that only stand for others."""
        line = self._line
        if self.scope is None or self.before is None or line is None:
            return self.job.lake.read(OFFSET_COMMITS)
        new = self.before.new(OFFSET_COMMITS)
        young = {**new.since, "recorded_at": _us(line)} if new.since else {}
        since = self._with_old(OFFSET_COMMITS, young)
        beside = {OFFSET_COMMITS.name: since, CUTS: self.scope.groups}
        statement, kind = together(line, new.lateness), struct_type(STANDING_COMMITS)
        return self.job.staged(self._answered(Question(statement, (STANDING_COMMITS,), kind, beside)))

    @cached_property
    def _lines(self) -> DataFrame | None:
        """Up to where the commits of each group only stand for others (null = all are there); None = all are of all."""
        line = self._line
        if self.scope is None or line is None:
            return None
        question = Question(lines_of_run(line), (STANDING_COMMITS,), _LINED, {CUTS: self.scope.groups})
        return self.job.staged(self._answered(question))

    @cached_property
    def _assignments(self) -> DataFrame:
        """The assignments of the groups, but for those that no request which is looked through has met."""
        if self.scope is None:
            return self.job.lake.read(ASSIGNMENTS)
        first = None if self.scope.old is None else self._first_line()
        # Some less: lines are rounded to microseconds.
        since = {} if first is None else {"valid_to": _us(sought_since(first)) - 1000}
        look = self.job.lake.in_place if self.scope.listed is None else self.job.lake.some
        return look(ASSIGNMENTS, self.scope.of_run(since, self.scope.old or ()), self.keep)

    def _first_line(self) -> float | None:
        """Return the first line of all groups that have one."""
        if self._lines is None:
            return None
        _, groups = self.job.at_hand(self._lines, MOST_LISTED)
        if groups is not None:
            return min((row["line"] for row in groups if row["line"] is not None), default=None)
        first: float | None = self._lines.agg(F.min("line").alias("line")).collect()[0].line
        return first

    def _requests(self, where: str) -> DataFrame:
        """Return requests that have a say in what lies beyond the line: those of a rebalance before it too."""
        since = {} if self._line is None else {"answered_at": _us(sought_since(self._line))}
        return self._with_old(GROUP_REQUESTS, since, where)

    def _with_old(self, spec: TableSpec, young: Mapping[str, int], where: str = "") -> DataFrame:
        """Return rows that are young, and all of the groups in which something old changed: no other file is opened."""
        if self.scope is None:
            return self.job.lake.some(spec, Wanted(where=where), self.keep)
        since = {} if self.scope.old is None else young
        wanted = Wanted(self.scope.listed, since, {"group_id": self.scope.old or ()}, where=where)
        look = self.job.lake.some if where or self.scope.listed is not None else self.job.lake.in_place
        return look(spec, wanted, self.keep)

    # --- what is asked of it ------------------------------------------------------------------------------------

    def _rewinds(self) -> DataFrame:
        """Return the steps that are worth telling: those beyond the line, and what was known before it."""
        told = self._told(steps(self.job.settings.offsets.jump), STEP_ROWS)
        found, few = self.job.at_hand(told, FEW_ROWS)
        rewinds = self.job.lake.none_of(OFFSET_REWINDS) if few == [] else self._judged(found)
        if self._lines is None:
            return rewinds
        beside = {"told": rewinds, LINES: self._lines}
        return self._answered(Question(BEYOND, (OFFSET_REWINDS,), struct_type(OFFSET_REWINDS), beside))

    def _judged(self, found: DataFrame) -> DataFrame:
        """Judge steps, of which there are any; mostly there is none, and nothing else need be read."""
        lake, scope = self.job.lake, self.scope
        look = lake.in_place if scope is None else lake.some
        wanted = Wanted() if scope is None else scope.of_run()
        read = {spec: look(spec, wanted, self.keep) for spec in (GENERATIONS, ASSIGNMENTS)}
        read[GROUP_REQUESTS] = self._requests(IS_MADE_BY)
        search = rewind_search(read, self.job.settings.offsets.retention_ms)
        named = {STEPS: found, **{spec.name: rows for spec, rows in read.items()}}
        return made(self.job, search, named, self.keep)

    def _gaps(self) -> DataFrame:
        """Return the gaps in assignments that reach beyond the line, and those that there are in others."""
        silent_ms, line = self.job.settings.commits.silent_ms, self._line
        beside = {GROUP_REQUESTS.name: self._requests(IS_REFUSED_COMMIT), ASSIGNMENTS.name: self._assignments}
        beside |= {} if self._lines is None else {LINES: self._lines}
        read = () if self._lines is None else (COMMIT_GAPS,)
        rows = hold_of(self.job)(self._told(owned(silent_ms, line), OWNED_ROWS, read, beside))
        if rows is None and self._lines is None:
            return self.job.lake.none_of(COMMIT_GAPS)
        beside[OWNED] = given(self.job.spark, OWNED_ROWS) if rows is None else rows
        return self._told(commit_gaps(silent_ms, line), struct_type(COMMIT_GAPS), read, beside)

    def _told(
        self,
        statement: str,
        kind: T.StructType,
        read: Sequence[TableSpec] = (),
        beside: Mapping[str, DataFrame] | None = None,
    ) -> DataFrame:
        """Return what a statement tells of the commits, and of tables and rows beside them."""
        more = {} if self._lines is None else {OFFSET_COMMITS.name: self._commits}
        tables = (*read, OFFSET_COMMITS) if self._lines is None else read
        return self._answered(Question(statement, tables, kind, {**(beside or {}), **more}))

    def _answered(self, question: Question) -> DataFrame:
        return self.job.lake.answer(question, None if self.scope is None else self.scope.listed, self.keep)


def _us(at: float) -> int:
    return floor(at * 1000)
