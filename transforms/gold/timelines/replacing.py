"""Which rows of gold a run takes the place of: what was not settled, and what was settled after its states.

A group that goes on from where it stood adds to its settled rows and replaces those that were not. One that goes back
replaces those too that were settled after the state that it goes back to. All rows that are not settled lie together
and are written anew, so that one commit does it, whatever the number of groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transforms.given_rows import marked, selected
from transforms.gold.timelines.columns import SUPERSEDED_COLUMNS
from transforms.gold.timelines.evidence import GROUP
from transforms.sql import among
from transforms.wanted_rows import Wanted

UNSETTLED = "NOT is_settled"

STAYS = "is_settled AND coalesce(unix_micros(settled_at) / 1000.0 < taken_until, false)"
"""SQL condition of rows of a group that goes on from `taken_until`: they were settled before, and stay."""

HOW_SURE = ("is_settled", "settled_at")
"""Columns that say whether, and when, a row became final."""

EVERYTHING = ""
"""Condition of a run that replaces all rows of a cluster."""


def condition(going_back: Sequence[str] | None) -> str:
    """Return the SQL condition for the rows among which are all that a run replaces.

    Args:
        going_back: ids of the groups that may have settled rows to be replaced; None = there are too many to list.
    """
    if going_back is None:
        return EVERYTHING
    if not going_back:
        return UNSETTLED
    return f"({UNSETTLED} OR {among('group_id', going_back)})"


def groups_of_run(starting: DataFrame) -> DataFrame:
    """Return what `staying` looks at: the groups of a run, and from where they go on."""
    return marked(selected(starting, [*GROUP, "taken_until"]), "is_in_run", True)


def staying(groups: DataFrame) -> Wanted:
    """Return which rows of gold that fulfil the condition a run does not replace.

    Args:
        groups: the groups of the run.
    """
    return Wanted(beside=groups, where=f"is_in_run IS NULL OR ({STAYS})")


def staying_of_run(groups: DataFrame, listed: Sequence[str] | None) -> Wanted:
    """Return which rows of gold there are of the groups of a run that it does not replace.

    Args:
        groups: the groups of the run.
        listed: their ids; None = they are not listed.
    """
    return Wanted(listed, beside=groups, where=f"is_in_run AND {STAYS}")


def going(rows: DataFrame, starting: DataFrame) -> DataFrame:
    """Return those of some rows of gold that a run replaces.

    Args:
        rows: the rows that fulfil the condition.
        starting: the groups of the run, and from where they go on.
    """
    run = starting.select(*GROUP, "taken_until")
    return rows.join(run, [*GROUP]).where(~F.expr(STAYS)).select(rows.columns)


def differing(replaced: Sequence[tuple[DataFrame, DataFrame]]) -> DataFrame:
    """Return the groups that have other rows than they had: cluster, group_id.

    Of most groups that are replayed only because time goes by, the same rows come again, some of them settled by now.

    Args:
        replaced: by table, the rows of the groups of a run that come, and those that go.
    """
    counted = [
        _counted(table, rows, by) for table, both in enumerate(replaced) for rows, by in zip(both, (1, -1), strict=True)
    ]
    times = reduce(DataFrame.unionByName, counted).groupBy(*GROUP, "told").agg(F.sum("times").alias("times"))
    return times.where("times <> 0").select(*GROUP).distinct()


def _counted(table: int, rows: DataFrame, times: int) -> DataFrame:
    # As JSON, where a null is none of its column: a hash of columns goes over nulls, wherever they stand.
    names = sorted({*rows.columns} - {*HOW_SURE})
    told = F.xxhash64(F.lit(table), F.to_json(F.struct(*names)))
    return rows.select(*GROUP, told.alias("told"), F.lit(times).alias("times"))


def without_superseded(rows: DataFrame, superseded: DataFrame) -> DataFrame:
    """Leave out settled rows of stays in whose place others stand now."""
    return rows.join(superseded.select(*SUPERSEDED_COLUMNS).distinct(), [*SUPERSEDED_COLUMNS], "left_anti").select(
        rows.columns
    )
