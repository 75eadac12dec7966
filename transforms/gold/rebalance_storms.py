"""Rebalance storms: stretches of time in which a group rebalances too often.

A classic group's rebalances are its entries into PreparingRebalance; those of a modern one the bumps of its epoch while
it is settled, each with all that follow until it is settled again. An interval [t_j, t_k] of consecutive rebalances is
stormy if it holds at least `min_rebalances` of them and is no longer than the window; stormy intervals that overlap
or touch are one storm.

It is enough to look at intervals of exactly `min_rebalances`: a longer stormy one is the union of those inside it, and
neighbours among them share all but one of their rebalances. Only for `min_rebalances` = 1 they share none, so there
intervals of two tie the storm together, and a rebalance on its own is a storm as well.

Spark finds the storms and what belongs to each; what is to be said of one is `transforms.findings.storms`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial, reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas.rows import RebalanceStormRow
from schemas.table import TableSpec
from schemas.tables.gold import (
    ASSIGNMENTS,
    COORDINATORS,
    GENERATION_MEMBERS,
    GENERATIONS,
    MEMBER_SESSIONS,
    REBALANCE_STORMS,
    RECONCILIATIONS,
)
from schemas.tables.silver import CLIENT_EVENTS, GROUP_REQUESTS
from schemas.words import COMES_AND_GOES
from transforms.findings.evidence import EPOCH_HEARTBEATS, Evidence
from transforms.findings.storms.group_patterns import for_java
from transforms.findings.storms.judge import storm_row
from transforms.findings.storms.limits import StormLimits, Thresholds
from transforms.gold.client_refusals import with_client_refusals
from transforms.gold.findings.kernel import (
    AT_END,
    FINDING,
    FRAME,
    GROUP,
    REQUEST,
    Few,
    Hold,
    around,
    as_it_is,
    by_workers,
    judged,
    nothing,
    packed,
)
from transforms.gold.rebalances import further_bumps, rebalances, taken_over

READ = (
    GENERATIONS,
    GENERATION_MEMBERS,
    MEMBER_SESSIONS,
    ASSIGNMENTS,
    RECONCILIATIONS,
    COORDINATORS,
    GROUP_REQUESTS,
    CLIENT_EVENTS,
)
"""Tables that storms are found in. Without the generations there are none; the others tell what they are."""

_ORDER = ("at_us", "life", "generation")
_OVER_US = 1_000_000 * 3_600
"""A rebalance that hangs for longer than this after the last one of a storm counts for so long."""

_APART_MS = 60_000
"""What clients logged so shortly before or after the request log, that may tell of it already: their clocks differ."""


def rebalance_storms(
    tables: Mapping[TableSpec, DataFrame],
    thresholds: Thresholds,
    seen_until: float | None = None,
    hold: Hold = as_it_is,
    of_cluster: Mapping[TableSpec, DataFrame] | None = None,
    few: Few = by_workers,
) -> DataFrame:
    """Find the rebalance storms of all groups.

    A rebalance is dated by `preparing_at`; where that is not known by `completing_at`, else `stable_at`, else
    `emptied_at`. Generations without any of these, those that no evidence shows (`missing_before`), and those that a
    coordinator merely took over do not count.

    Args:
        tables: those of READ that there are.
        thresholds: from when on rebalances are a storm, and how bad one is.
        seen_until: end of the data (epoch ms); null = not known.
        hold: keeps the rebalances that belong to a storm.
        of_cluster: where `tables` have some groups only, those that lines of clients are laid beside as a whole.
        few: fetches evidence if there is little of it.

    Returns:
        `gold.rebalance_storms`, one row for each storm, as `transforms.findings.storms.judge` has it.
    """
    dated = _dated(tables[GENERATIONS])
    found = [_number_storms(dated.where(mine), limits) for limits, mine in _limits(thresholds)]
    numbered = hold(_with_ends(reduce(DataFrame.unionByName, found).withColumnRenamed("storm", "finding")))
    if numbered is None:
        return nothing(dated, REBALANCE_STORMS)
    # A filter of rows that are at hand is planned in no time; an aggregate is planned for each part that asks for it.
    spans = numbered.where("is_last").select(
        *FINDING,
        "first_us",
        (F.col("first_us") - F.col("window_us")).alias("since_us"),
        (F.col("at_us") + F.col("window_us")).alias("until_us"),
        F.when(F.col("next_us").isNotNull(), F.least("next_us", F.col("at_us") + _OVER_US)).alias("next_us"),
    )
    columns = [*FINDING, *(name for name in GENERATIONS.columns if name not in GROUP)]
    own = numbered.select(*FINDING, "life", F.col("generation").alias("of"))
    bumps = further_bumps(tables[GENERATIONS]).join(own, [*GROUP, "life", "of"]).select(columns)
    of_storms = [
        packed(numbered.select(columns), "generations"),
        packed(bumps, "generations"),
        packed(spans.select(*FINDING, (F.col("next_us") / 1000.0).alias("next_at")), FRAME),
        *_beside(tables, tables if of_cluster is None else of_cluster, numbered, bumps, spans),
    ]
    return judged(numbered, of_storms, partial(_judge, thresholds, seen_until), REBALANCE_STORMS, few)


def _judge(
    thresholds: Thresholds, seen_until: float | None, evidence: Evidence, frame: dict[str, Any]
) -> list[RebalanceStormRow]:
    evidence.next_at, evidence.seen_until = frame.get("next_at"), seen_until
    return [storm_row(evidence.in_order(), thresholds.of(evidence.group_id))]


def _dated(generations: DataFrame) -> DataFrame:
    """The rebalances, with their own moment and that of the next one, in microseconds."""
    in_order = Window.partitionBy(*GROUP).orderBy(*_ORDER)
    return (
        rebalances(generations)
        .withColumn("next_us", F.lead("at_us").over(in_order))
        .withColumn("before", F.lag(F.struct("life", "generation")).over(in_order))
    )


def _limits(thresholds: Thresholds) -> Iterator[tuple[StormLimits, Column]]:
    """Each set of thresholds, and whether a group has it."""
    is_free = F.lit(True)
    for pattern, limits in thresholds.of_groups.items():
        fits = F.col("group_id").rlike(for_java(pattern))
        yield limits, is_free & fits
        is_free = is_free & ~fits
    yield thresholds.usual, is_free


def _number_storms(rebalances: DataFrame, limits: StormLimits) -> DataFrame:
    """Keep the rebalances that belong to a storm, each with the number of its storm."""
    in_order = Window.partitionBy(*GROUP).orderBy(*_ORDER)
    size, window_us = max(limits.min_rebalances, 2), limits.window_ms * 1000
    opens_interval = F.lead("at_us", size - 1).over(in_order) - F.col("at_us") <= window_us
    # An interval that opened before this rebalance and includes it ties it to the one before.
    is_tied = F.max("opens_interval").over(in_order.rowsBetween(1 - size, -1))
    is_in_storm = F.lit(True) if limits.min_rebalances == 1 else F.col("is_tied") | F.col("opens_interval")
    return (
        rebalances.withColumn("opens_interval", F.coalesce(opens_interval, F.lit(False)))
        .withColumn("is_tied", F.coalesce(is_tied, F.lit(False)))
        .where(is_in_storm)
        .withColumn("storm", F.sum(F.when(F.col("is_tied"), 0).otherwise(1)).over(in_order))
        .withColumn("window_us", F.lit(window_us))
        .drop("opens_interval", "is_tied")
    )


def _with_ends(numbered: DataFrame) -> DataFrame:
    """Tell of each rebalance whether it is the first or the last one of its storm, and when that began."""
    of_storm = Window.partitionBy(*FINDING)
    in_order = of_storm.orderBy(*_ORDER)
    return numbered.withColumns(
        {
            "first_us": F.min("at_us").over(of_storm),
            "is_first": F.lag("at_us").over(in_order).isNull(),
            "is_last": F.lead("at_us").over(in_order).isNull(),
        }
    )


def _taken_over(generations: DataFrame, spans: DataFrame) -> DataFrame:
    """Return the generations taken over by a coordinator amid a storm: no rebalances, but members went on with them."""
    taken = taken_over(generations).select(*GROUP, "life", "generation", "at_us")
    amid = taken.join(spans.select(*FINDING, "first_us", "until_us"), [*GROUP])
    return amid.where("at_us BETWEEN first_us AND until_us").select(*FINDING, "life", "generation")


def _beside(
    tables: Mapping[TableSpec, DataFrame],
    of_cluster: Mapping[TableSpec, DataFrame],
    numbered: DataFrame,
    bumps: DataFrame,
    spans: DataFrame,
) -> Iterator[DataFrame]:
    """What other tables have on the storms: on their generations, and from one window before them to one after."""
    own = numbered.select(*FINDING, "life", "generation")
    before = numbered.where("is_first AND before IS NOT NULL").select(*FINDING, "before.*")
    held = own.unionByName(before).unionByName(_taken_over(tables[GENERATIONS], spans))
    generation = (*GROUP, "life", "generation")
    if (members := tables.get(GENERATION_MEMBERS)) is not None:
        of_all = own.unionByName(bumps.select(*FINDING, "life", "generation"))
        yield packed(members.join(of_all, list(generation)), "members")
    if (assignments := tables.get(ASSIGNMENTS)) is not None:
        # A member of a modern group holds a partition for as long as it has it, whatever the group's epoch is.
        yield packed(assignments.where("group_type = 'classic'").join(held, list(generation)), "assignments")
        during = spans.withColumn("since_us", F.col("first_us"))
        yield packed(
            around(assignments.where("group_type <> 'classic'"), during, "valid_from", "valid_to"), "assignments"
        )
    if (reconciliations := tables.get(RECONCILIATIONS)) is not None:
        yield packed(around(reconciliations, spans, "from_at", "to_at", ("to_epoch",)), "reconciliations")
    if (sessions := tables.get(MEMBER_SESSIONS)) is not None:
        yield packed(around(sessions, spans, "joined_at", "ended_at", AT_END), "sessions")
    if (coordinators := tables.get(COORDINATORS)) is not None:
        yield packed(around(coordinators, spans, "from_at", "to_at"), "coordinators")
    if (requests := tables.get(GROUP_REQUESTS)) is not None:
        known = with_client_refusals(
            requests,
            tables.get(CLIENT_EVENTS),
            _APART_MS,
            of_cluster.get(MEMBER_SESSIONS),
            of_cluster.get(GROUP_REQUESTS),
        )
        comes_or_goes = F.col("api").isin(*COMES_AND_GOES) | (
            F.col("api").isin(*EPOCH_HEARTBEATS) & (F.col("generation") <= 0)
        )
        told = known.where(comes_or_goes | (F.col("error") != "NONE")).where(
            "NOT (api = 'Heartbeat' AND error = 'REBALANCE_IN_PROGRESS')"
        )
        yield packed(
            around(told, spans, "answered_at", "answered_at").select(*FINDING, *REQUEST, "evidence"), "requests"
        )
