"""Which part of the tables a run looks for findings in: the groups with news, each from some time before the news on.

A finding is judged by what was known up to REACH after it. So those that were over for so long when a group's rows
changed stay as they are. All later ones are found anew, and take the place of those that there were: from the group's
*cut* on, which lies in no finding and in no stretch of time that could become one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.given_rows import given, marked, selected
from transforms.gold.findings.kernel import GROUP
from transforms.gold.findings.search import CUTS
from transforms.gold.timelines.looking_back import IS_KNOWN
from transforms.gold.timelines.replacing import EVERYTHING
from transforms.question import Question, of_table, verbatim
from transforms.sql import among, quoted, truth
from transforms.wanted_rows import Wanted

REACH_MS = 3_600_000
"""What came later than this after a finding has no part in it, and what was over so long before it neither."""

_IS_OF_RUN = "is_of_run"
"""Column that tells of a row beside its group that it is one of a run's."""

WRITTEN = ("settled_at", "answered_at", "logged_at", "recorded_at")
"""Columns that say when a row was written, or became final; the first that a table has."""


@dataclass(frozen=True)
class Scope:
    """The groups of a run.

    Attributes:
        groups: cluster, group_id, since DOUBLE (epoch ms; when its rows changed first; infinite = none did, but a
            finding of it is open that may be another by now), cut BIGINT (epoch µs); null = from the group's beginning.
        reach_ms: `REACH_MS`, or the longest window of the thresholds, if that is longer.
        listed: their ids; None = they are too many.
        cut_us: the earliest cut; None = no group has one.
        whole: ids of those without a cut; None = they are too many.
        old: ids of those in which something changed that is older than the line of the commits (`looking.line_of`),
            or that have no cut; None = they are too many.
    """

    groups: DataFrame
    reach_ms: int
    listed: Sequence[str] | None = None
    cut_us: int | None = None
    whole: Sequence[str] | None = None
    old: Sequence[str] | None = None

    def listed_rows(self, rows: DataFrame) -> DataFrame:
        """Return the rows of the groups if these are listed, so that files without any are not opened; else all."""
        return rows if self.listed is None else rows.where(among("group_id", self.listed))

    def condition(self, begin: str = "") -> str:
        """Return the SQL condition of rows in a table of findings among which are all that a run replaces.

        Args:
            begin: column that has their begin, where those before the cuts are left alone; else empty.
        """
        named = EVERYTHING if self.listed is None else among("group_id", self.listed)
        if not begin or self.cut_us is None or self.whole is None:
            return named
        late = f"{begin} >= timestamp_micros({self.cut_us})"
        if self.whole:
            late = f"({late} OR {among('group_id', self.whole)})"
        return f"{named} AND {late}" if named else late

    def near(self, spec: TableSpec) -> Wanted:
        """Return which rows of a table findings of the run may need."""
        return replace(self.wanted(spec), beside=self._beside, where=f"{_IS_OF_RUN} AND ({self.is_near(spec)})")

    def is_near(self, spec: TableSpec) -> str:
        """Return the condition of a row beside its group: it was written near the cut, or later, or is not final."""
        written = _written(spec)
        since = f"timestamp_micros(cut - {2 * self.reach_ms * 1000})"
        return "true" if written is None else f"cut IS NULL OR {written} IS NULL OR {written} >= {since}"

    @cached_property
    def _beside(self) -> DataFrame:
        """The groups as they are laid beside rows, of which others than theirs may be among."""
        return marked(self.groups, _IS_OF_RUN, True)

    def of_run(self, since: Mapping[str, int] | None = None, or_of: Sequence[str] = ()) -> Wanted:
        """Return which rows of a table are of the groups: all, or those that are late enough, or of some of them."""
        return Wanted(self.listed, since or {}, {"group_id": or_of}, beside=self._beside, where=_IS_OF_RUN)

    def wanted(self, spec: TableSpec) -> Wanted:
        """Return which rows of a table are looked through for those that findings of the run may need."""
        whole = {"group_id": self.whole} if self.whole else {}
        return Wanted(self.listed, {} if self.whole is None else self._since(spec), whole)

    def late_or_in(self, spec: TableSpec, column: str, values: Sequence[str | int]) -> Wanted:
        """Return which rows of the groups are late enough, or have one of some values, however old they are."""
        wanted = self.wanted(spec)
        return replace(wanted, or_in={**wanted.or_in, column: values}, beside=self._beside, where=_IS_OF_RUN)

    def late(self, spec: TableSpec, or_in: Mapping[str, Sequence[str]]) -> Wanted:
        """Return which rows of a table, of whatever group, are late enough, or wanted however old they are.

        Args:
            spec: the table.
            or_in: by column, values by which they are wanted.
        """
        return Wanted(None, self._since(spec) if self.whole == [] else {}, or_in)

    def _since(self, spec: TableSpec) -> dict[str, int]:
        written = _written(spec)
        if written is None or self.cut_us is None:
            return {}
        return {written: self.cut_us - 2 * self.reach_ms * 1000}

    def of_groups(self, rows: DataFrame) -> DataFrame:
        """Return all rows of the groups."""
        return self.listed_rows(rows).join(F.broadcast(self.groups.select(*GROUP)), [*GROUP], "left_semi")

    def with_staying(self, spec: TableSpec, rows: DataFrame, begin: str) -> Question:
        """Ask for those of new findings that lie behind the cut, and beside them the old ones that stay.

        The latter are among the rows that are replaced (`condition`), and known (`looking_back.IS_KNOWN`): where groups
        are not listed those of all other groups, too.

        Args:
            spec: the table.
            rows: the new ones.
            begin: column that has their begin.
        """
        columns = ", ".join(map(quoted, spec.columns))
        is_replaced = verbatim(self.condition(begin)) or truth(True)
        return Question(
            f"""
            SELECT {columns}, false AS {IS_KNOWN} FROM {{told}} JOIN {{{CUTS}}} USING (cluster, group_id)
            WHERE coalesce(unix_micros({begin}) >= cut, true)
            UNION ALL
            SELECT {columns}, true AS {IS_KNOWN} FROM {of_table(spec)}
            LEFT JOIN (SELECT cluster, group_id, cut, true AS {_IS_OF_RUN} FROM {{{CUTS}}}) USING (cluster, group_id)
            WHERE {is_replaced} AND ({_IS_OF_RUN} IS NULL OR unix_micros({begin}) < cut)""",
            (spec,),
            _with_known(spec),
            {"told": rows, CUTS: selected(self.groups, [*GROUP, "cut"])},
        )

    def with_others(self, spec: TableSpec, rows: DataFrame) -> Question:
        """Ask for all findings of the groups, and beside them those of all other groups, which are known.

        Args:
            spec: the table.
            rows: the findings of the groups.
        """
        columns = ", ".join(map(quoted, spec.columns))
        return Question(
            f"""
            SELECT {columns}, false AS {IS_KNOWN} FROM {{told}}
            UNION ALL
            SELECT {columns}, true AS {IS_KNOWN} FROM {of_table(spec)}
            LEFT ANTI JOIN {{{CUTS}}} USING (cluster, group_id)""",
            (spec,),
            _with_known(spec),
            {"told": rows, CUTS: self.groups},
        )


def _with_known(spec: TableSpec) -> T.StructType:
    return T.StructType([*struct_type(spec).toNullable(), T.StructField(IS_KNOWN, T.BooleanType())])


def scope_of(
    groups: DataFrame, rows: Sequence[Mapping[str, Any]], reach_ms: int, line: float, most_listed: int
) -> Scope:
    """Return the scope of groups that the driver knows one by one.

    Args:
        groups: see `Scope`.
        rows: the same as rows.
        reach_ms: see `Scope`.
        line: up to where standing commits stand for all (epoch ms).
        most_listed: so many are few enough to be listed.
    """

    def listed(those: Iterable[Mapping[str, Any]]) -> list[str] | None:
        named = [row["group_id"] for row in those]
        return named if len(named) <= most_listed else None

    return Scope(
        given(groups.sparkSession, groups.schema.toNullable(), rows),  # to be laid beside rows without a query
        reach_ms,
        listed=listed(rows),
        cut_us=min((row["cut"] for row in rows if row["cut"] is not None), default=None),
        whole=listed(row for row in rows if row["cut"] is None),
        old=listed(row for row in rows if row["since"] is None or row["since"] < line),
    )


def is_since(at: float) -> Column:
    """Tell of a row of `Scope.groups` whether all that changed is not older than a moment (epoch ms)."""
    return F.coalesce(F.col("since") >= F.lit(at), F.lit(False))


def _written(spec: TableSpec) -> str | None:
    return next((name for name in WRITTEN if name in spec.columns), None)
