"""What each finding is called from run to run, and which ones no run has seen before.

A finding that is new is named after its table's key. While it stands its key may change: evidence that comes late moves
a storm's begin, or shows that two storms are one. So a finding that lasts takes the id of a known one of its kind,
group and error that it overlaps. An id goes first of all to the finding whose key made it. Of the others each goes to
one finding, the earliest that overlaps; and each finding takes one, that of the one seen first.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from schemas.table import TableSpec
from schemas.tables.gold import KNOWN_FINDINGS
from transforms.findings.handover.kinds import KINDS, Kind

OWN_ID = "own_id"
"""Column that findings have beside those of their tables: the id that their key makes."""

_ID_DIGITS = 16
_ALIKE = ("cluster", "finding_kind", "group_id", "about")


def with_own_id(kind: Kind, rows: DataFrame) -> DataFrame:
    """Add the id that the key makes: 64 bits of a hash, in hexadecimal; times count as microseconds of the epoch."""
    cells = [F.sha2(F.coalesce(_text(rows, name), F.lit("")), 256) for name in kind.spec.key]
    return rows.withColumn(OWN_ID, F.left(F.sha2(F.concat(F.lit(kind.name), *cells), 256), F.lit(_ID_DIGITS)))


def identified(tables: Mapping[TableSpec, DataFrame], known: DataFrame) -> DataFrame:
    """Give each finding its id.

    Args:
        tables: those of findings, or some of them; or some groups of each.
        known: `gold.known_findings`, of these groups at least.

    Returns:
        One row for each finding: the columns of `gold.known_findings`, `first_seen_at` null for one that is new, and
        `own_id`, `is_changed` (the known row says another time).
    """
    found = reduce(DataFrame.unionByName, [_outline(kind, tables[kind.spec]) for kind in KINDS if kind.spec in tables])
    old = known.select(*_ALIKE, "finding_id", "first_seen_at", _us("started_at", "k_begin"), _us("ended_at", "k_end"))
    exact = found.join(old.drop(*_ALIKE), F.col(OWN_ID) == F.col("finding_id"))
    touches = (F.col("begin_us") <= F.col("k_end")) & (F.col("k_begin") <= F.col("end_us"))
    left = found.where("is_span").join(exact.select("cluster", OWN_ID), ["cluster", OWN_ID], "left_anti")
    free = old.join(exact.select("cluster", "finding_id"), ["cluster", "finding_id"], "left_anti")
    overlapping = left.join(free, list(_ALIKE)).where(touches)
    pairs = exact.unionByName(overlapping)
    of_known = Window.partitionBy("cluster", "finding_id").orderBy("begin_us", OWN_ID)
    of_found = Window.partitionBy("cluster", OWN_ID).orderBy("first_seen_at", "k_begin", "finding_id")
    taken = (
        pairs.withColumn("rank", F.row_number().over(of_known))
        .where("rank = 1")
        .withColumn("rank", F.row_number().over(of_found))
        .where("rank = 1")
        .select("cluster", OWN_ID, "finding_id", "first_seen_at", "k_begin", "k_end")
    )
    is_same = F.col("begin_us").eqNullSafe(F.col("k_begin")) & F.col("end_us").eqNullSafe(F.col("k_end"))
    return (
        found.join(taken, ["cluster", OWN_ID], "left")
        .withColumn("finding_id", F.coalesce("finding_id", OWN_ID))
        .withColumn("started_at", F.timestamp_micros("begin_us"))
        .withColumn("ended_at", F.timestamp_micros("end_us"))
        .withColumn("is_changed", ~is_same)
        .select(*KNOWN_FINDINGS.columns, OWN_ID, "is_changed")
    )


def _outline(kind: Kind, rows: DataFrame) -> DataFrame:
    """What findings of all kinds have alike."""
    return with_own_id(kind, rows).select(
        "cluster",
        OWN_ID,
        F.lit(kind.name).alias("finding_kind"),
        "group_id",
        F.concat_ws("-", F.lit(None).cast("string"), *kind.about).alias("about"),
        F.lit(kind.is_span).alias("is_span"),
        F.unix_micros(_first_known(kind.begins)).alias("begin_us"),
        F.unix_micros(_first_known(kind.ends)).alias("end_us"),
    )


def _first_known(columns: tuple[str, ...]) -> Column:
    return F.coalesce(*columns)


def _us(name: str, alias: str) -> Column:
    return F.unix_micros(name).alias(alias)


def _text(rows: DataFrame, name: str) -> Column:
    is_time = isinstance(rows.schema[name].dataType, T.TimestampType)
    return (F.unix_micros(name) if is_time else F.col(name)).cast("string")
