"""How each group is now: one row a group, out of all that is known of it.

Now is the newest time in the data of the cluster, never the clock on the wall. Each table is gone through once, and
gives a row a group; these rows are then joined. Whoever hands over tables restricted to some groups gets the rows of
these groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas.spark import struct_type
from schemas.table import TableSpec
from schemas.tables.gold import (
    ASSIGNMENTS,
    GENERATIONS,
    GROUP_HEALTH,
    ILLEGAL_GENERATION_BURSTS,
    MEMBER_SESSIONS,
    ORPHANED_PARTITIONS,
    REBALANCE_STORMS,
    TRANSITIONS,
)
from schemas.tables.silver import GROUP_REQUESTS, OFFSET_COMMITS
from schemas.words import EVIDENCE
from transforms.gold.offset_keepers import free_commits, keeper
from transforms.gold.orphaned_partitions import still_orphaned
from transforms.gold.rebalances import rebalances

READ = (
    TRANSITIONS,
    GENERATIONS,
    MEMBER_SESSIONS,
    ASSIGNMENTS,
    ORPHANED_PARTITIONS,
    OFFSET_COMMITS,
    GROUP_REQUESTS,
)
"""Tables that the health of groups is read from, beside the storms and bursts found in the same run."""

_GROUP = ("cluster", "group_id")
_LIFE = (*_GROUP, "life")
_PARTITION = (*_GROUP, "topic", "partition")
_DAY_US = 86_400_000_000
_WINDOWS_US = {"hour": _DAY_US // 24, "day": _DAY_US, "week": 7 * _DAY_US}

_WITHOUT_COMMITS = "share"
"""Groups of this type keep their offsets in a topic of their own."""

_AT_REST = ("Empty", "Stable", "Dead")
"""States of a group that is not on the way to another assignment."""


def group_health(tables: Mapping[TableSpec, DataFrame], now: float | None) -> DataFrame:
    """Tell how each group is.

    Args:
        tables: those of READ that there are, and `rebalance_storms` and `illegal_generation_bursts`; the transitions,
            the generations and the commits must be.
        now: the newest time in the data of the cluster (epoch ms); None = there is no data, and so no group.

    Returns:
        `gold.group_health`, one row for each group that has ever had members or committed offsets.
    """
    now_us = F.lit(None if now is None else round(now * 1000)).cast("bigint")
    commits = tables[OFFSET_COMMITS]
    parts = [
        _states(tables[TRANSITIONS], now_us),
        _rebalances(tables[GENERATIONS], now_us),
        _evidence(tables[GENERATIONS]),
        _commits(commits),
        _commit_intervals(commits, now_us),
        free_commits(tables, F.timestamp_micros(now_us - _DAY_US)),
        *_where_known(tables),
    ]
    joined = reduce(lambda left, right: left.join(right, list(_GROUP), "full_outer"), parts)
    if (sessions := tables.get(MEMBER_SESSIONS)) is not None:
        joined = joined.join(_present(sessions), list(_LIFE), "left")
    wanted = struct_type(GROUP_HEALTH)
    given = joined.withColumns(_given(joined, now_us))
    commits_none = F.col("group_type") == _WITHOUT_COMMITS
    given = given.withColumn("offsets_kept_by", F.when(~F.coalesce(commits_none, F.lit(False)), keeper()))
    nothing = [F.lit(None).alias(field.name) for field in wanted if field.name not in given.columns]
    return (
        given.select("*", *nothing)
        .where(F.col("at").isNotNull() & (F.col("life").isNotNull() | F.col("has_commits")))
        .select(*(F.col(field.name).cast(field.dataType) for field in wanted))
    )


def is_ageing() -> Column:
    """Tell of a row whether it is another one as soon as time goes by, though nothing happens to its group.

    A run that looks only at the groups with news must look at these as well; of the others only `at` would change.
    """
    return (
        (F.col("week_rebalance_count") > 0)
        | (F.col("week_unstable_ms") > 0)
        | F.col("commit_interval_ms").isNotNull()
        | F.coalesce("is_last_storm_open", F.lit(False))
        | F.coalesce(F.col("offsets_kept_by") == "both", F.lit(False))
        | F.coalesce((F.col("offsets_kept_by") == "consumers") & ~F.col("has_commits"), F.lit(False))
    )


def _given(joined: DataFrame, now_us: Column) -> dict[str, Column]:
    """What follows from the parts: where one has nothing of a group, that is none, and not null."""
    counts = [f"{name}_{what}" for name in _WINDOWS_US for what in ("rebalance_count", "unstable_ms")]
    has_commits = F.coalesce("has_commits", F.lit(False))
    evidence = F.array_union(
        F.coalesce("evidence", F.array().cast("array<string>")),
        F.when(has_commits, F.array(F.lit("offsets"))).otherwise(F.array().cast("array<string>")),
    )
    held = F.col("has_assignments") if "has_assignments" in joined.columns else F.lit(False)
    is_counted = F.col("life").isNotNull() if "present" in joined.columns else F.lit(False)
    present = F.col("present") if "present" in joined.columns else F.lit(None)
    orphaned = F.col("orphaned_partition_count") if "orphaned_partition_count" in joined.columns else F.lit(None)
    return {
        "at": F.timestamp_micros(now_us),
        **{name: F.coalesce(name, F.lit(0)) for name in counts},
        "orphaned_partition_count": F.coalesce(orphaned, F.lit(0)),
        "has_assignments": F.coalesce(held, F.lit(False)),
        "has_commits": has_commits,
        "member_count": F.when(is_counted, F.coalesce(present, F.lit(0))),
        "evidence": F.filter(F.array(*map(F.lit, EVIDENCE)), lambda kind: F.array_contains(evidence, kind)),
    }


def _within(us: Column, now_us: Column, window_us: int) -> Column:
    return (us > now_us - window_us) & (us <= now_us)


def _states(transitions: DataFrame, now_us: Column) -> DataFrame:
    """The last state of each group, and how long it was on the way to another assignment."""
    # Spark goes through what precedes once, but through all that follows anew for each row.
    latest_first = Window.partitionBy(*_GROUP).orderBy(F.desc("life"), F.desc("seq"))
    later = latest_first.rowsBetween(Window.unboundedPreceding, -1)
    end = F.coalesce(F.last("at_us", ignorenulls=True).over(later), now_us)
    is_dated = F.col("at_us").isNotNull() & ~F.col("to_state").isin(*_AT_REST)

    def unstable_ms(window_us: int) -> Column:
        length = F.least(F.col("end_us"), now_us) - F.greatest(F.col("at_us"), now_us - window_us)
        return F.floor(F.sum(F.when(is_dated, F.greatest(length, F.lit(0)))) / 1000)

    last = ("life", "to_state", "generation", "at", "group_type")
    return (
        transitions.withColumn("at_us", F.unix_micros("at"))
        .withColumn("end_us", end)
        .groupBy(*_GROUP)
        .agg(
            F.max_by(F.struct(*last), F.struct("life", "seq")).alias("last"),
            *(unstable_ms(window_us).alias(f"{name}_unstable_ms") for name, window_us in _WINDOWS_US.items()),
        )
        .select(
            *_GROUP,
            "last.life",
            "last.group_type",
            "last.generation",
            F.col("last.to_state").alias("state"),
            F.col("last.at").alias("entered_at"),
            *(f"{name}_unstable_ms" for name in _WINDOWS_US),
        )
    )


def _rebalances(generations: DataFrame, now_us: Column) -> DataFrame:
    """How often each group rebalanced of late."""
    counts = [
        F.count_if(_within(F.col("at_us"), now_us, window_us)).alias(f"{name}_rebalance_count")
        for name, window_us in _WINDOWS_US.items()
    ]
    last = F.timestamp_micros(F.max("at_us")).alias("last_rebalance_at")
    return rebalances(generations).groupBy(*_GROUP).agg(*counts, last)


def _evidence(generations: DataFrame) -> DataFrame:
    return generations.groupBy(*_GROUP).agg(
        F.array_distinct(F.flatten(F.collect_set("evidence"))).alias("evidence"),
    )


def _commits(commits: DataFrame) -> DataFrame:
    """Which groups have committed offsets, be they deleted by now."""
    return commits.groupBy(*_GROUP).agg(F.bool_or(~F.col("is_tombstone")).alias("has_commits"))


def _commit_intervals(commits: DataFrame, now_us: Column) -> DataFrame:
    """How long it usually is from one commit of a partition to the next; only a day's commits are looked at."""
    in_order = Window.partitionBy(*_PARTITION).orderBy("at_us")
    return (
        commits.where("NOT is_tombstone")
        .select(*_PARTITION, F.unix_micros("recorded_at").alias("at_us"))
        .where(_within(F.col("at_us"), now_us, _DAY_US))
        .withColumn("gap_us", F.col("at_us") - F.lag("at_us").over(in_order))
        .groupBy(*_GROUP)
        .agg(F.round(F.percentile_approx("gap_us", F.lit(0.5)) / 1000).cast("bigint").alias("commit_interval_ms"))
    )


def _present(sessions: DataFrame) -> DataFrame:
    """How many members each life of a group has, where it has any."""
    present = sessions.where("ended_at IS NULL AND end_cause IS NULL")
    return present.groupBy(*_LIFE).agg(F.count("member_id").alias("present"))


def _where_known(tables: Mapping[TableSpec, DataFrame]) -> list[DataFrame]:
    """What the tables tell that may be missing."""
    parts = []
    if (assignments := tables.get(ASSIGNMENTS)) is not None:
        parts.append(assignments.select(*_GROUP).distinct().withColumn("has_assignments", F.lit(True)))
    if (orphans := tables.get(ORPHANED_PARTITIONS)) is not None:
        parts.append(still_orphaned(orphans).drop("group_type"))
    if (storms := tables.get(REBALANCE_STORMS)) is not None:
        parts.append(_last(storms, "storm", ("started_at", "ended_at", "pattern", "is_open")))
    if (bursts := tables.get(ILLEGAL_GENERATION_BURSTS)) is not None:
        parts.append(_last(bursts, "burst", ("error", "started_at", "suspected_cause")))
    return parts


def _last(findings: DataFrame, what: str, columns: tuple[str, ...]) -> DataFrame:
    """The last finding of each group: of those that begin last, the one that ends last."""
    names = {"is_open": f"is_last_{what}_open", "suspected_cause": f"last_{what}_cause"}
    last = findings.groupBy(*_GROUP).agg(F.max_by(F.struct(*columns), F.struct("started_at", "ended_at")).alias("last"))
    return last.select(
        *_GROUP, *(F.col(f"last.{name}").alias(names.get(name, f"last_{what}_{name}")) for name in columns)
    )
