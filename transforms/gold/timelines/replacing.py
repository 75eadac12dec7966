"""Which rows of gold a run takes the place of: what was not settled, and what was settled after its states.

A group that goes on from where it stood adds to its settled rows and replaces those that were not. One that goes back
replaces those too that were settled after the state that it goes back to. All rows that are not settled lie together
and are written anew, so that one commit does it, whatever the number of groups.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transforms.gold.timelines.columns import SUPERSEDED_COLUMNS
from transforms.gold.timelines.evidence import GROUP
from transforms.sql import among

UNSETTLED = "NOT is_settled"

STAYS = "is_settled AND coalesce(unix_micros(settled_at) / 1000.0 < taken_until, false)"
"""SQL condition of rows of a group that goes on from `taken_until`: they were settled before, and stay."""

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


def staying(rows: DataFrame, starting: DataFrame) -> DataFrame:
    """Return those of some rows of gold that a run does not replace.

    Args:
        rows: the rows that fulfil the condition.
        starting: the groups of the run, and from where they go on.
    """
    run = starting.select(*GROUP, "taken_until", F.lit(True).alias("is_in_run"))
    return rows.join(run, [*GROUP], "left").where(F.col("is_in_run").isNull() | F.expr(STAYS)).select(rows.columns)


def without_superseded(rows: DataFrame, superseded: DataFrame) -> DataFrame:
    """Leave out settled rows of stays in whose place others stand now."""
    return rows.join(superseded.select(*SUPERSEDED_COLUMNS).distinct(), [*SUPERSEDED_COLUMNS], "left_anti").select(
        rows.columns
    )
