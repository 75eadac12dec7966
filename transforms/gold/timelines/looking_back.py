"""How far back rows are looked at beside those that a run gave: to the last stable generation before all of them.

What is settled passed its checks and laws when it was written, together with all that was there before. What comes new
is held against what it follows: the members of a generation against those of the last one that came out stable, a
change of state against the one before. So no more of a long history is looked at than of a short one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.table import TableSpec
from schemas.tables.gold import (
    ASSIGNMENTS,
    AUDIT_COUNTS,
    COORDINATORS,
    GENERATION_MEMBERS,
    GENERATIONS,
    MEMBER_SESSIONS,
)
from transforms.gold.timelines.evidence import GROUP

IS_KNOWN = "is_known"
"""Column of what passed in an earlier batch; see `transforms.quality.laws.law`."""

OF_GENERATIONS = (GENERATIONS, GENERATION_MEMBERS, ASSIGNMENTS)
"""Tables each of whose rows is of one generation."""

_IS_DOUBT = "differ_count > 0 OR unpredicted_count > 0"
"""Counts that a group is held to less for, however long ago that was."""


def known_from(staying: DataFrame, told: Iterable[DataFrame]) -> DataFrame:
    """Return the first generation that is looked at, by group.

    A group that has changed its type is looked at from its beginning: whoever has had epochs is held to less.

    Args:
        staying: settled generations of the groups of a run.
        told: what the run gave of the tables `OF_GENERATIONS`.

    Returns:
        Columns cluster, group_id, from_life, from_generation, from_settled_at; a group that is not named is looked at
        from its beginning.
    """
    key = F.struct("life", "generation")
    none = staying.where("false").select(*GROUP, key.alias("key"))
    given = reduce(DataFrame.unionByName, (each.select(*GROUP, key.alias("key")) for each in told), none)
    oldest = given.groupBy(*GROUP).agg(F.min("key").alias("oldest"))
    is_fit = (F.col("outcome") == "stable") & F.coalesce(key < F.col("oldest"), F.lit(True))
    names = ("life", "generation", "settled_at")
    last = F.max(F.when(is_fit, F.struct(*names))).alias("last")
    is_of_one_type = (F.min("group_type") == F.max("group_type")).alias("is_of_one_type")
    found = staying.join(oldest, [*GROUP], "left").groupBy(*GROUP).agg(last, is_of_one_type)
    columns = [F.col(f"last.{name}").alias(f"from_{name}") for name in names]
    return found.where("last IS NOT NULL AND is_of_one_type").select(*GROUP, *columns)


def looked_at(spec: TableSpec, staying: DataFrame, first: DataFrame) -> DataFrame:
    """Return those of a table's settled rows that are looked at.

    Args:
        spec: the table.
        staying: rows of the groups of a run that stay.
        first: the first generation of each group that is.
    """
    if spec is COORDINATORS:  # few rows
        return staying
    if spec is AUDIT_COUNTS:
        return staying.where(_IS_DOUBT)
    wanted = F.col("from_life").isNull() | _is_after(spec)
    return staying.join(F.broadcast(first), [*GROUP], "left").where(wanted).select(staying.columns)


def beside(told: DataFrame, staying: DataFrame) -> DataFrame:
    """Return what a run gave, and beside it what it is held against."""
    marked = told if IS_KNOWN in told.columns else told.withColumn(IS_KNOWN, F.lit(False))
    return marked.unionByName(staying.withColumn(IS_KNOWN, F.lit(True)))


def new_of(rows: DataFrame) -> DataFrame:
    """Return those of some rows that a run gave."""
    return rows.where(~F.col(IS_KNOWN)) if IS_KNOWN in rows.columns else rows


def _is_after(spec: TableSpec) -> Column:
    if spec is MEMBER_SESSIONS:
        is_in_life = F.coalesce(F.col("last_generation") >= F.col("from_generation"), F.lit(False))
    elif "generation" in spec.columns:
        is_in_life = F.coalesce(F.col("generation") >= F.col("from_generation"), F.lit(True))
    else:
        is_in_life = F.col("settled_at") >= F.col("from_settled_at")
    return (F.col("life") > F.col("from_life")) | ((F.col("life") == F.col("from_life")) & is_in_life)
