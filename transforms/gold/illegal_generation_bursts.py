"""Bursts of fencing errors: a group's coordinator refuses requests, several in a row, by one and the same error.

The requests of one group that were answered with one error of `schemas.words.FENCING_ERRORS` are ordered by
`answered_at` and split where the gap is longer than allowed; a run that is long enough is a burst: which gap and how
many is set, but for errors that have limits of their own (`transforms.findings.bursts.limits`). Any API counts.
Commits that clients refused themselves, which no coordinator was asked about, make bursts of their own where the group
has no other at the time.

Spark finds the bursts and what belongs to each; what is to be said of one is `transforms.findings.bursts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from schemas.rows import IllegalGenerationBurstRow
from schemas.table import TableSpec
from schemas.tables.gold import (
    COORDINATORS,
    GENERATION_MEMBERS,
    GENERATIONS,
    ILLEGAL_GENERATION_BURSTS,
    MEMBER_SESSIONS,
)
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS, OFFSET_COMMITS
from schemas.words import FENCING_ERRORS
from transforms.findings.bursts.judge import burst_row
from transforms.findings.bursts.limits import OF_THEIR_OWN, BurstLimits
from transforms.findings.evidence import Commit, Evidence, Heard
from transforms.findings.sentences import SESSION_SETTINGS
from transforms.gold.broker_refusals import NOT_LET_IN, fencings, with_broker_refusals
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
from transforms.gold.rebalances import begun_at
from transforms.sql import among

_BROKER_SETTINGS, _GROUP_SETTINGS = "broker_settings", "group_settings"

SETTINGS = (_BROKER_SETTINGS, _GROUP_SETTINGS)
"""Events that tell of settings as brokers print them: such a line counts for all that comes after it, however late."""

READ = (
    GROUP_REQUESTS,
    CLIENT_EVENTS,
    COORDINATOR_EVENTS,
    GENERATIONS,
    GENERATION_MEMBERS,
    MEMBER_SESSIONS,
    COORDINATORS,
    OFFSET_COMMITS,
)
"""Tables that bursts are found in. Without the first three there are none; the others tell what they are."""

IS_REFUSED = among("error", FENCING_ERRORS)
"""Condition of requests that bursts are made of, in SQL as Spark and DuckDB both have it."""

_BURST = (*GROUP, "error", "is_own", "burst")

_BEFORE_US = 3_600_000_000
"""What went on for so long before a burst is looked at; of the generations also the one that was in force then."""

_AFTER_US = 600_000_000
"""And for so long after it: who was slow comes back when the batch is done."""


def illegal_generation_bursts(
    tables: Mapping[TableSpec, DataFrame],
    gap_ms: int,
    min_errors: int,
    seen_until: float | None = None,
    hold: Hold = as_it_is,
    of_cluster: Mapping[TableSpec, DataFrame] | None = None,
    few: Few = by_workers,
    refused: DataFrame | None = None,
) -> DataFrame:
    """Find the bursts of fencing errors of all groups, and what they point to.

    Args:
        tables: those of READ that there are.
        gap_ms: longest gap between two errors of a burst, in milliseconds; some errors have a longer one of their own.
        min_errors: fewest errors of a burst; likewise fewer.
        seen_until: end of the data (epoch ms); null = not known.
        hold: keeps the refusals that belong to a burst.
        of_cluster: where `tables` have some groups only, those that lines are laid beside as a whole, and the brokers'
            lines.
        few: fetches evidence if there is little of it.
        refused: the refused ones among the requests (`IS_REFUSED`), where somebody has looked for them.

    Returns:
        `gold.illegal_generation_bursts`, one row for each burst, as `transforms.findings.bursts.judge` has it.

    Raises:
        ValueError: if a threshold is out of its range.
    """
    limits = BurstLimits(gap_ms, min_errors)
    beside = tables if of_cluster is None else of_cluster
    requests = with_client_refusals(
        tables[GROUP_REQUESTS] if refused is None else refused,
        tables.get(CLIENT_EVENTS),
        gap_ms,
        beside.get(MEMBER_SESSIONS),
        beside.get(GROUP_REQUESTS),
        has_own=True,
    )
    lines, sessions = (beside.get(spec) for spec in (COORDINATOR_EVENTS, MEMBER_SESSIONS))
    told = fencings(lines, sessions) if lines is not None and sessions is not None else None
    requests = with_broker_refusals(requests, told, gap_ms)
    found = hold(_with_spans(_number_bursts(requests, limits)))
    if found is None:
        return nothing(requests, ILLEGAL_GENERATION_BURSTS)
    # A filter of rows that are at hand is planned in no time; an aggregate is planned for each part that asks for it.
    spans = found.where("is_one").select(*FINDING, "since_us", "until_us", "oldest", "source")
    parts = [
        packed(spans.select(*FINDING, "source"), FRAME),
        packed(found.select(*FINDING, *REQUEST), "refused"),
        *_beside(tables, found, spans),
    ]
    if lines is not None:
        parts.append(packed(_printed(lines, found), "printed"))
    return judged(found, parts, partial(_judge, limits, seen_until), ILLEGAL_GENERATION_BURSTS, few)


def _judge(
    limits: BurstLimits, seen_until: float | None, evidence: Evidence, frame: dict[str, Any]
) -> list[IllegalGenerationBurstRow]:
    evidence.seen_until = seen_until
    return [burst_row(evidence.in_order(), limits, frame["source"])]


def _number_bursts(group_requests: DataFrame, limits: BurstLimits) -> DataFrame:
    """Keep the refused requests that belong to a burst, each with the number of its burst within the group."""
    in_order = Window.partitionBy(*GROUP, "error", "is_own").orderBy("at_us")
    gap_us = F.col("at_us") - F.lag("at_us").over(in_order)
    is_first = F.coalesce(gap_us > _of_error(limits, "gap_ms") * 1000, F.lit(True))
    numbered = (
        group_requests.where(IS_REFUSED)
        .withColumn("at_us", F.unix_micros("answered_at"))
        .withColumn("is_own", F.coalesce("is_own", F.lit(False)))
        .withColumn("is_first", is_first.cast("int"))
        .withColumn("burst", F.sum("is_first").over(in_order))
        .withColumn("length", F.count("*").over(Window.partitionBy(*_BURST)))
        .where(F.col("length") >= _of_error(limits, "min_errors"))
    )
    order = Window.partitionBy(*GROUP).orderBy("error", "is_own", "burst")
    return _told_once(numbered, limits.gap_ms * 1000).withColumn("finding", F.dense_rank().over(order))


def _with_spans(refused: DataFrame) -> DataFrame:
    """Tell with each refused request of its burst: the time that is looked at, its oldest generation, its source.

    Of each burst `is_one` is true of one request.
    """
    of_burst = Window.partitionBy(*FINDING)
    return refused.withColumns(
        {
            "since_us": F.min("at_us").over(of_burst) - _BEFORE_US,
            "until_us": F.max("at_us").over(of_burst) + _AFTER_US,
            "oldest": F.min(F.when(F.col("generation") >= 0, F.col("generation"))).over(of_burst),
            "source": F.max("evidence").over(of_burst),  # request_log, if any of it is
            "is_one": F.row_number().over(of_burst.orderBy("at_us")) == 1,
        }
    )


def _of_error(limits: BurstLimits, name: str) -> Column:
    """Return a threshold of the error that a row has."""
    found = F.lit(getattr(limits, name))
    for error in OF_THEIR_OWN:
        found = F.when(F.col("error") == error, getattr(limits.of(error), name)).otherwise(found)
    return found


def _told_once(numbered: DataFrame, gap_us: int) -> DataFrame:
    """Leave out what clients refused themselves beside a burst of what their coordinator refused: it is one."""
    near = Window.partitionBy(*GROUP).orderBy("at_us").rangeBetween(-gap_us, gap_us)
    is_beside = F.col("is_own") & F.max(~F.col("is_own")).over(near)
    return (
        numbered.withColumn("is_beside", is_beside)
        .withColumn("is_beside", F.max("is_beside").over(Window.partitionBy(*_BURST)))
        .where("NOT is_beside")
        .drop("is_beside")
    )


def _beside(tables: Mapping[TableSpec, DataFrame], refused: DataFrame, spans: DataFrame) -> Iterator[DataFrame]:
    """What other tables have on the bursts."""
    if (generations := tables.get(GENERATIONS)) is not None:
        held = _in_time(generations, spans)
        yield packed(held, "generations")
        if (members := tables.get(GENERATION_MEMBERS)) is not None:
            own = held.select(*FINDING, "life", "generation")
            senders = refused.select(*FINDING, "client_id")
            yield packed(
                members.join(own, [*GROUP, "life", "generation"]).join(senders, [*FINDING, "client_id"], "left_semi"),
                "members",
            )
    if (sessions := tables.get(MEMBER_SESSIONS)) is not None:
        stays = around(sessions, spans, "joined_at", "ended_at", AT_END)
        yield packed(stays, "sessions")
        yield packed(_heard(tables[GROUP_REQUESTS], refused, spans, stays), "heard")
    if (coordinators := tables.get(COORDINATORS)) is not None:
        yield packed(around(coordinators, spans, "from_at", "to_at"), "coordinators")
    waiting = tables[GROUP_REQUESTS].where("error = 'REBALANCE_IN_PROGRESS' AND api <> 'Heartbeat'")
    yield packed(around(waiting, spans, "answered_at", "answered_at").select(*FINDING, *REQUEST), "requests")
    if (commits := tables.get(OFFSET_COMMITS)) is not None:
        sent = refused.select(*FINDING, F.explode("sent_offsets").alias("sent")).select(
            *FINDING, "sent.topic", "sent.partition"
        )
        near = around(commits.where("NOT is_tombstone"), spans, "recorded_at", "recorded_at")
        stored = near.join(sent, [*FINDING, "topic", "partition"], "left_semi")
        yield packed(stored.select(*FINDING, *Commit.__struct_fields__), "commits")


def _heard(requests: DataFrame, refused: DataFrame, spans: DataFrame, stays: DataFrame) -> DataFrame:
    """What those were granted who held instance ids, since others had not been let in under them."""
    kept_out = refused.where(F.col("error") == NOT_LET_IN)
    since = kept_out.groupBy(*FINDING).agg(F.min("at_us").alias("since_us"))
    times = since.join(spans.select(*FINDING, "until_us"), list(FINDING))
    asked_for = kept_out.select(*FINDING, "group_instance_id")
    holders = stays.join(asked_for, [*FINDING, "group_instance_id"], "left_semi").select(*FINDING, "member_id")
    granted = around(requests.where("error = 'NONE'"), times, "answered_at", "answered_at")
    return granted.join(holders, [*FINDING, "member_id"], "left_semi").select(*FINDING, *Heard.__struct_fields__)


def _printed(lines: DataFrame, refused: DataFrame) -> DataFrame:
    """What brokers printed of the session timeout before a member was not let in: the last of each kind."""
    first = refused.where(F.col("error") == NOT_LET_IN).groupBy(*FINDING).agg(F.min("at_us").alias("first_us"))
    is_own, attributes = F.col("event") == _GROUP_SETTINGS, F.col("attributes")
    name = F.when(is_own, SESSION_SETTINGS["consumer"]).otherwise(f"group.{SESSION_SETTINGS['consumer']}")
    told = lines.where(F.col("event").isin(*SETTINGS)).select(
        "cluster",
        "logged_at",
        is_own.alias("is_own"),
        F.when(is_own, attributes["group_id"]).alias("named"),
        F.element_at(attributes, name).cast("int").alias("session_timeout_ms"),
    )
    is_of_it = F.coalesce(F.col("named") == F.col("group_id"), F.lit(True))
    near = told.join(first, "cluster").where(is_of_it & (F.unix_micros("logged_at") <= F.col("first_us")))
    last = F.struct("logged_at", "session_timeout_ms")
    return near.groupBy(*FINDING, "is_own").agg(F.max(last).alias("last")).select(*FINDING, "is_own", "last.*")


def _in_time(generations: DataFrame, spans: DataFrame) -> DataFrame:
    """The generations of the time looked at, the one in force when it began, and those that old requests name."""
    in_order = Window.partitionBy(*GROUP).orderBy("begun_us", "life", "generation")
    begun = generations.withColumn("begun_us", F.unix_micros(begun_at())).where("begun_us IS NOT NULL")
    dated = begun.withColumn("next_us", F.lead("begun_us").over(in_order))
    is_near = (F.col("begun_us") <= F.col("until_us")) & (
        F.coalesce(F.col("next_us") >= F.col("since_us"), F.lit(True))
        | F.col("generation").between(F.col("oldest"), F.col("oldest") + 1)
    )
    return dated.join(spans, list(GROUP)).where(is_near).select(*FINDING, *generations.drop(*GROUP).columns)
