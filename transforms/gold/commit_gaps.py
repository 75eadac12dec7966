"""Partitions that miss commits across a rebalance.

silent: a member owns a partition for long without committing it, while the group commits others. A group that commits
nothing at all is not told of: it keeps its offsets elsewhere, which is no fault.
lost: the owner before wanted to commit it and was refused; what it did is done again.

Each commit, assignment and refusal of a partition is put in one order of time, once, in place of joins by time. Left
out before is what can be no gap: owned too shortly to be silent, of a partition of which no commit was refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import ASSIGNMENTS, COMMIT_GAPS
from schemas.tables.silver import GROUP_REQUESTS, OFFSET_COMMITS
from transforms.gold.findings.kernel import Hold, as_it_is, nothing

READ = (OFFSET_COMMITS, ASSIGNMENTS, GROUP_REQUESTS)
"""Tables that gaps are found in."""

_IS_COMMITTED_FOR = "NOT hold <=> 'revoking' AND NOT group_type <=> 'share' AND NOT group_type <=> 'streams'"
"""Share groups commit elsewhere, and what a streams group's member has are tasks."""

_GROUP = ("cluster", "group_id")
_PARTITION = (*_GROUP, "topic", "partition")
REFUSED = "refused_at"
IS_OVER = "is_over"
_IS_REFUSED = "is_refused"

_OWNED = ("life", "generation", "member_id", "client_id", "valid_from", "valid_to", IS_OVER, _IS_REFUSED)
KEY = (*_PARTITION, "life", "generation")
OWNER = (*KEY, "member_id")

AT_REBALANCE_US = 3_600_000_000
"""A commit was refused at a rebalance if the next owner has the partition within this time."""


def commit_gaps(
    tables: Mapping[TableSpec, DataFrame],
    silent_ms: int,
    known_lost: DataFrame | None = None,
    known_silent: DataFrame | None = None,
    hold: Hold = as_it_is,
) -> DataFrame:
    """Find the partitions that miss commits.

    An assignment that is open lasts to the group's newest commit: what a group without commits would do next is not
    known.

    Args:
        tables: those of READ that there are; commits and assignments must be. Assignments with IS_OVER true are not
            judged: they only tell who had a partition when a commit was refused.
        silent_ms: how long a partition may be owned without a commit.
        known_lost: OWNER of the assignments of which it is known already that a commit was lost, and when it was
            refused, as far as the requests of that time are not among the tables.
        known_silent: OWNER of those of which it is known already that they were silent, as far as the other commits of
            that time are not.
        hold: keeps the assignments that may be gaps, which are looked at several times.

    Returns:
        `gold.commit_gaps`. A partition that is both has lost a commit; of several members that had it in one generation
        the one is told of that was silent longest.
    """
    commits = tables[OFFSET_COMMITS].where(
        "NOT is_tombstone AND NOT coalesce(txn_state, 'none') IN ('aborted', 'open')"
    )
    assignments = tables[ASSIGNMENTS].where(_IS_COMMITTED_FOR)
    if IS_OVER not in assignments.columns:
        assignments = assignments.withColumn(IS_OVER, F.lit(False))
    tried = _tried(tables[GROUP_REQUESTS]) if GROUP_REQUESTS in tables else None
    told = [rows.select(*_PARTITION) for rows in (tried, known_lost, known_silent) if rows is not None]
    owned = hold(_owned(_doubtful(assignments, told, silent_ms), commits))
    if owned is None:
        return nothing(commits, COMMIT_GAPS)
    of_requests = None if tried is None else _lost(owned.where(_IS_REFUSED), tried)
    again = None if known_lost is None else owned.join(known_lost.select(*OWNER, REFUSED), list(OWNER))
    lost = _first_refused(owned, [rows for rows in (of_requests, again) if rows is not None])
    owned, lost = (rows.where(~F.col(IS_OVER)) for rows in (owned, lost))
    silent = _silent(owned, commits, silent_ms).select(*owned.columns)
    if known_silent is not None:
        silent = silent.unionByName(owned.join(known_silent.select(*OWNER), list(OWNER), "left_semi"))
    silent = silent.join(lost.select(*KEY), list(KEY), "left_anti")
    gaps = lost.withColumn("kind", F.lit("lost")).unionByName(
        silent.withColumns({"kind": F.lit("silent"), REFUSED: F.lit(None).cast("timestamp")})
    )
    return one_each(gaps.select(*(F.col(field.name).cast(field.dataType) for field in struct_type(COMMIT_GAPS))))


def one_each(gaps: DataFrame) -> DataFrame:
    """Return one gap for each partition of a generation, in which several members can have had it.

    A static member that was replaced had it, and so has who replaced it; in a group of epochs a partition can also be
    taken away and given on within one epoch of its members.
    """
    worst_first = Window.partitionBy(*KEY).orderBy("kind", F.desc_nulls_last("owned_ms"), "member_id")
    return gaps.withColumn("place", F.row_number().over(worst_first)).where("place = 1").drop("place")


def _us(name: str) -> Column:
    return F.unix_micros(F.col(name))


def _doubtful(assignments: DataFrame, told: Sequence[DataFrame], silent_ms: int) -> DataFrame:
    """Assignments that may be gaps, with `_IS_REFUSED`: whether a commit of the partition was, or it is told of else.

    Args:
        assignments: all.
        told: partitions of which it is; each is a row of a request or a gap, so they are not many.
        silent_ms: as for `commit_gaps`.
    """
    # A millisecond less, for the time without a commit is rounded to milliseconds.
    is_long = F.col("valid_to").isNull() | (_us("valid_to") - _us("valid_from") >= (silent_ms - 1) * 1000)
    if not told:
        return assignments.where(is_long).withColumn(_IS_REFUSED, F.lit(False))
    partitions = reduce(DataFrame.unionByName, told).distinct().withColumn("told", F.lit(True))
    is_refused = F.col("told").isNotNull()
    laid = assignments.join(F.broadcast(partitions), list(_PARTITION), "left")
    return laid.where(is_long | is_refused).withColumn(_IS_REFUSED, is_refused).drop("told")


def _owned(assignments: DataFrame, commits: DataFrame) -> DataFrame:
    """Assignments with the last commit before each and the first one in it, and how long it had none."""
    held = assignments.select(*_PARTITION, _us("valid_from").alias("at_us"), F.struct(*_OWNED).alias("held"))
    made = commits.select(*_PARTITION, _us("recorded_at").alias("at_us"), _us("recorded_at").alias("commit_us"))
    forward = Window.partitionBy(*_PARTITION).orderBy(F.col("at_us"), F.col("held").isNotNull())
    backward = Window.partitionBy(*_PARTITION).orderBy(F.col("at_us").desc(), F.col("held").isNull())
    until_now = (Window.unboundedPreceding, 0)
    newest = commits.groupBy(*_GROUP).agg(F.max(_us("recorded_at")).alias("newest_us"))
    return (
        held.where("at_us IS NOT NULL")
        .unionByName(made, allowMissingColumns=True)
        .withColumn("last_us", F.last("commit_us", ignorenulls=True).over(forward.rowsBetween(*until_now)))
        .withColumn("next_us", F.last("commit_us", ignorenulls=True).over(backward.rowsBetween(*until_now)))
        .where("held IS NOT NULL")
        .select(*_PARTITION, "at_us", "last_us", "next_us", "held.*")
        .join(newest, list(_GROUP), "left")
        .withColumn("end_us", F.coalesce(_us("valid_to"), F.greatest(F.col("newest_us") + 1, "at_us")))
        .withColumn("first_us", F.when(F.col("next_us") <= F.coalesce("end_us", "next_us"), F.col("next_us")))
        .withColumn("until_us", F.coalesce("first_us", "end_us"))
        .withColumn("owned_ms", F.round((F.col("until_us") - F.col("at_us")) / 1000))
        .withColumn("last_commit_at", F.timestamp_micros("last_us"))
        .withColumn("first_commit_at", F.timestamp_micros("first_us"))
        .drop("last_us", "next_us", "first_us", "end_us", "newest_us")
    )


def _silent(owned: DataFrame, commits: DataFrame, silent_ms: int) -> DataFrame:
    """Assignments without a commit for long, in which the group committed something else."""
    long = owned.where(F.col("owned_ms") >= silent_ms)
    quiet = long.select(*_GROUP, "at_us", F.struct(*(n for n in long.columns if n not in _GROUP)).alias("quiet"))
    moments = commits.select(*_GROUP, _us("recorded_at").alias("at_us"), _us("recorded_at").alias("commit_us"))
    made = moments.join(quiet.select(*_GROUP).distinct(), list(_GROUP), "left_semi")
    backward = Window.partitionBy(*_GROUP).orderBy(F.col("at_us").desc(), F.col("quiet").isNotNull())
    until_now = backward.rowsBetween(Window.unboundedPreceding, 0)
    return (
        quiet.unionByName(made, allowMissingColumns=True)
        .withColumn("other_us", F.last("commit_us", ignorenulls=True).over(until_now))
        .where("quiet IS NOT NULL AND other_us < quiet.until_us")
        .select(*_GROUP, "quiet.*")
    )


def _tried(requests: DataFrame) -> DataFrame:
    """Commits that were refused, one row for each partition."""
    # The error says nothing new; but by it a reader leaves out all rows of a file that were not refused.
    refused = requests.where("error <> 'NONE' AND sent_offsets IS NOT NULL").select(
        *_GROUP, _us("answered_at").alias("at_us"), "member_id", F.explode("sent_offsets").alias("sent")
    )
    return refused.select(*_GROUP, "sent.topic", "sent.partition", "at_us", F.struct("member_id").alias("tried"))


def _lost(owned: DataFrame, tried: DataFrame) -> DataFrame:
    """Assignments before which, or in which, a commit of somebody else was refused; once for each that was."""
    held = owned.withColumn("held", F.struct(*(F.col(name) for name in owned.columns if name not in _PARTITION)))
    both = held.select(*_PARTITION, "at_us", "held").unionByName(tried, allowMissingColumns=True)
    forward = Window.partitionBy(*_PARTITION).orderBy(F.col("at_us"), F.col("tried").isNotNull())
    backward = Window.partitionBy(*_PARTITION).orderBy(F.col("at_us").desc(), F.col("tried").isNotNull())
    until_now = (Window.unboundedPreceding, 0)
    is_held = F.col("now").isNotNull() & (F.col("now.valid_to").isNull() | (_us("now.valid_to") > F.col("at_us")))
    is_others = ~F.col("now.member_id").eqNullSafe(F.col("tried.member_id"))
    return (
        both.withColumn("now", F.last("held", ignorenulls=True).over(forward.rowsBetween(*until_now)))
        .withColumn("next", F.last("held", ignorenulls=True).over(backward.rowsBetween(*until_now)))
        .where("tried IS NOT NULL")
        .withColumn("taker", F.when(is_held & is_others, F.col("now")).otherwise(F.col("next")))
        .where(f"taker IS NOT NULL AND unix_micros(taker.valid_from) - at_us <= {AT_REBALANCE_US}")
        .select(*_PARTITION, F.timestamp_micros("at_us").alias(REFUSED), "taker.*")
    )


def _first_refused(owned: DataFrame, lost: Sequence[DataFrame]) -> DataFrame:
    """Return assignments that lost a commit, each once, with the moment when the first one was refused."""
    if not lost:
        return owned.limit(0).withColumn(REFUSED, F.lit(None).cast("timestamp"))
    rows = reduce(DataFrame.unionByName, [each.select(*owned.columns, REFUSED) for each in lost])
    return rows.groupBy(*owned.columns).agg(F.min(REFUSED).alias(REFUSED))
