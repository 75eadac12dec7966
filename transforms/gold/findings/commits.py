"""The commits that stand for all others: what findings in a group's offsets, and its health, need of its history.

Of each partition these are the last few commits, the last few that were made while the group had no members, and those
on both sides of the beginning of the assignment in which it is owned still; and beside them all commits behind the
group's *line*: the first one whose transaction is open, or what the replay has not settled. Findings in these are those
in the whole history.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from schemas.tables.gold import STANDING_COMMITS
from transforms.findings.offsets.keeping import GOES_ON
from transforms.findings.offsets.rewinds import DELETED_WITHIN_MS
from transforms.gold.findings.kernel import GROUP
from transforms.gold.offset_use import IS_TAKEN, in_empty

BEHIND_MS = 2 * DELETED_WITHIN_MS
"""How far the line lies behind the horizon: so that all is settled that has a say in what lies before it."""

LAST = 4
"""Commits of each partition that stand: they tell how often it is usually committed, also if one comes out of turn."""

KEY = (*GROUP, "topic", "partition")
RECORD = ("topic_partition_of_record", "record_offset")

_COLUMNS = STANDING_COMMITS.columns


def together(standing: DataFrame, since: DataFrame, at: float) -> DataFrame:
    """Return the standing commits and younger ones, each once; the younger version tells how a transaction ended.

    Args:
        standing: `gold.standing_commits`, of some groups.
        since: commits of silver: of groups that are looked at as a whole (`is_whole`) all; of others those behind the
            line, and those before it that are new. Of these there are few: as a rule they are how transactions ended.
        at: the line (epoch ms).
    """
    is_old = ~is_after("recorded_at", at)
    anew = since.where(is_old & ~F.col("is_whole")).select(*GROUP, *RECORD)
    old = standing.select(*_COLUMNS).where(is_old).join(F.broadcast(anew), [*GROUP, *RECORD], "left_anti")
    return old.unionByName(since.select(*_COLUMNS))


def is_after(column: str, at: float) -> Column:
    """Tell whether a moment lies after another one (epoch ms): said so that files without any are not read."""
    return F.col(column) > F.timestamp_micros(F.lit(round(at * 1000)))


def line(commits: DataFrame, at: float) -> DataFrame:
    """Return the line of each group: cluster, group_id, line DOUBLE (epoch ms).

    Args:
        commits: its commits.
        at: where it lies if no transaction is open (epoch ms).
    """
    opened = F.min(F.when(F.col("txn_state") == "open", F.unix_micros("recorded_at") / 1000.0))
    return commits.groupBy(*GROUP).agg(F.least(opened - 1.0, F.lit(at)).alias("line"))


def standing(commits: DataFrame, assignments: DataFrame, generations: DataFrame, at: float) -> DataFrame:
    """Return what is to stand for the commits up to a moment, and all younger ones.

    Args:
        commits: all commits of some groups, or what `together` gives.
        assignments: `gold.assignments` of these groups, those that reach beyond the line at least.
        generations: `gold.generations` of these groups.
        at: the moment (epoch ms).

    Returns:
        `gold.standing_commits`.
    """
    lines = line(commits, at)
    lined = commits.select(*_COLUMNS).join(lines, [*GROUP])
    is_settled = F.coalesce(_at() <= F.col("line"), F.lit(False))
    by_record = Window.partitionBy(*KEY).orderBy(*_desc())
    by_time = Window.partitionBy(*KEY).orderBy(F.col("recorded_at").desc())
    is_effective = ~F.col("txn_state").isin("aborted", "open")
    ranked = (
        lined.where(is_settled)
        .withColumn("is_effective", is_effective)
        .withColumn("newest", F.row_number().over(by_record))
        .withColumn("of_its_kind", F.row_number().over(_of_each_kind()))
        .withColumn("latest", F.row_number().over(by_time))
    )
    most = F.when(F.col("is_tombstone"), 1).otherwise(LAST)
    is_last = F.col("is_effective") & (F.col("of_its_kind") <= most)
    kept = ranked.where(is_last | (F.col("newest") == 1) | (F.col("latest") == 1)).select(*_COLUMNS)
    held = assignments.join(lines, [*GROUP], "left").where(is_held_after(F.coalesce("line", F.lit(at))))
    settled, young = lined.where(is_settled).select(*_COLUMNS), lined.where(~is_settled).select(*_COLUMNS)
    parts = (kept, young, _at_begins(settled, held), _last_in_empty(settled, generations))
    return reduce(DataFrame.unionByName, parts).dropDuplicates([*RECORD])


def is_held_after(moment: Column) -> Column:
    """Tell whether an assignment reaches beyond a moment (epoch ms)."""
    return F.col("valid_to").isNull() | (F.unix_micros("valid_to") / 1000.0 > moment)


def _last_in_empty(commits: DataFrame, generations: DataFrame) -> DataFrame:
    """Return the last commits of each partition that hold and were made while the group had no members."""
    empty = generations.where("emptied_at IS NOT NULL")
    made = commits.where(IS_TAKEN).join(empty.select(*GROUP).distinct(), [*GROUP], "left_semi")
    told = commits.sparkSession.sql(in_empty("{made}", "{empty}", _COLUMNS), made=made, empty=empty)
    newest = F.row_number().over(Window.partitionBy(*KEY).orderBy(*_desc()))
    return told.where("is_in_empty").withColumn("newest", newest).where(F.col("newest") <= GOES_ON).select(*_COLUMNS)


def _at_begins(commits: DataFrame, assignments: DataFrame) -> DataFrame:
    """Return the last commit before, and the first one in, each of some assignments."""
    begins = assignments.where("valid_from IS NOT NULL").select(*KEY, F.unix_micros("valid_from").alias("begin_us"))
    made = commits.where(IS_TAKEN)
    us, row = F.unix_micros("recorded_at"), F.struct(*_COLUMNS)
    near = (
        made.join(begins.distinct(), [*KEY])
        .groupBy(*KEY, "begin_us")
        .agg(
            F.max_by(F.when(us < F.col("begin_us"), row), F.when(us < F.col("begin_us"), us)).alias("before"),
            F.min_by(F.when(us >= F.col("begin_us"), row), F.when(us >= F.col("begin_us"), us)).alias("first"),
        )
    )
    both = near.select(F.explode(F.array("before", "first")).alias("kept"))
    return both.where("kept IS NOT NULL").select("kept.*")


def _at() -> Column:
    return F.unix_micros("recorded_at") / 1000.0


def _of_each_kind() -> WindowSpec:
    return Window.partitionBy(*KEY, "is_effective", "is_tombstone").orderBy(*_desc())


def _desc() -> list[Column]:
    return [F.col(name).desc() for name in RECORD]
