"""What the report asks of the tables, as rows of text: each answer is a kind and a JSON document.

One shape for all answers, so that many small questions are one Spark job: each costs the driver more than the rows do.
Moments are epoch milliseconds, and what is null stands there as null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import MapType, TimestampType

from transforms.gold.rebalances import IS_REBALANCE, begun_at, whole_rebalances
from transforms.report.rows import ORDINARY_ANSWERS
from transforms.sql import among

UNSEEN = ("cluster", "is_settled", "settled_at")
"""Columns that no page shows: a row that only these change in is the same to its readers."""

NEWEST_BY = {
    "generations": ("life", "generation"),
    "transitions": ("life", "seq"),
    "assignments": ("life", "generation"),
    "member_sessions": ("joined_at",),
    "reconciliations": ("from_at",),
    "orphaned_partitions": ("from_at",),
    "share_partitions": ("from_at",),
    "refused_requests": ("at",),
    "offset_rewinds": ("at",),
    "commit_gaps": ("life", "generation"),
    "coordinators": ("from_at",),
    "rebalance_storms": ("started_at",),
    "illegal_generation_bursts": ("started_at",),
    "slow_revokers": ("started_at",),
    "audit_counts": ("hour_at",),
}
"""By what the rows of a group are ordered, where there are more than a page can show."""


def joined(answers: Sequence[DataFrame]) -> DataFrame:
    """Return several answers as one."""
    return reduce(DataFrame.unionByName, answers)


def answer(kind: str, rows: DataFrame) -> DataFrame:
    """Return rows as an answer: kind STRING, body STRING (JSON)."""
    columns = [_plain(rows, name) for name in rows.columns]
    body = F.to_json(F.struct(*columns), {"ignoreNullFields": "false"})
    return rows.select(F.lit(kind).alias("kind"), body.alias("body"))


def refused_requests(replay_audit: DataFrame) -> DataFrame:
    """Return the audited requests that were answered with an error, those of the protocol's ordinary course aside."""
    is_ordinary = [
        (F.col("api") == api) & F.col("observed_error").isin(*errors) for api, errors in ORDINARY_ANSWERS.items()
    ]
    refused = replay_audit.where((F.col("observed_error") != 0) & ~reduce(Column.__or__, is_ordinary))
    names = (
        "group_id",
        "at",
        "api",
        "member_id",
        "state_before",
        "observed_error",
        "source_file",
        "line_number",
        "seq",
    )
    return refused.select(*names)


def digests(tables: Mapping[str, DataFrame]) -> DataFrame:
    """Return, for each group and table, how many rows it has and what they come to.

    Returns:
        Answers of kind 'digest': group_id, table, row_count, digest BIGINT, another one once a row that is shown has
        changed.
    """
    return joined([answer("digest", _digest(name, rows)) for name, rows in tables.items()])


def _digest(name: str, rows: DataFrame) -> DataFrame:
    shown = [field for field in rows.schema.fields if field.name not in UNSEEN]
    # A null leaves the hash as it was: that it is one must count as well, or a value could change its column unseen.
    parts = [
        part
        for field in shown
        for part in (
            F.col(field.name).isNull(),
            F.to_json(F.col(field.name)) if isinstance(field.dataType, MapType) else F.col(field.name),
        )
    ]
    counted = rows.groupBy("group_id").agg(
        F.count("*").alias("row_count"), F.bit_xor(F.xxhash64(*parts)).alias("digest")
    )
    return counted.withColumn("table", F.lit(name))


def extent(generations: DataFrame, transitions: DataFrame, replay_audit: DataFrame) -> DataFrame:
    """Return the time that the data covers.

    Returns:
        One answer of kind 'extent': since, until; null without data.
    """
    moments = joined(
        [
            generations.select(begun_at().alias("at")),
            transitions.select("at"),
            replay_audit.select("at"),
        ]
    )
    return answer("extent", moments.agg(F.min("at").alias("since"), F.max("at").alias("until")))


def of_groups(tables: Mapping[str, DataFrame], group_ids: Sequence[str] | None, most: Mapping[str, int]) -> DataFrame:
    """Return the rows of some groups, of each table no more than its newest ones.

    Args:
        tables: by name.
        group_ids: the groups; None = all of them.
        most: how many rows of a group are taken, by table.

    Returns:
        Answers whose kind is the table.
    """
    return joined([answer(name, _newest(name, _only(rows, group_ids), most[name])) for name, rows in tables.items()])


def _newest(name: str, rows: DataFrame, most: int) -> DataFrame:
    newest_first = Window.partitionBy("group_id").orderBy(*(F.desc(column) for column in NEWEST_BY[name]))
    place = F.row_number().over(newest_first)
    return rows.withColumn("place", place).where(F.col("place") <= most).drop("place", "is_settled", "settled_at")


def _only(rows: DataFrame, group_ids: Sequence[str] | None) -> DataFrame:
    return rows if group_ids is None else rows.where(among("group_id", group_ids))


def lines(generations: DataFrame, transitions: DataFrame, width_ms: int) -> DataFrame:
    """Return what the list of all groups, and the heat map of their rebalances, show.

    Returns:
        Answers of kind 'line' (group_id, group_types, member_count, last_at, unstable_ms), 'state' (group_id, state)
        and 'bin' (group_id, bin: whole widths since the epoch, rebalance_count).
    """
    at = begun_at()
    newest = F.struct("life", "generation")
    of_generations = generations.groupBy("group_id").agg(
        F.collect_set("group_type").alias("group_types"),
        F.max_by("member_count", newest).alias("member_count"),
        F.max(at).alias("last_at"),
    )
    unstable = whole_rebalances(generations).groupBy("group_id").agg(F.sum("lasted_ms").alias("unstable_ms"))
    of_generations = of_generations.join(unstable, "group_id", "left")
    of_states = transitions.groupBy("group_id").agg(F.max_by("to_state", F.struct("life", "seq")).alias("state"))
    places = generations.where(IS_REBALANCE).select(
        "group_id", F.floor(F.unix_millis(at) / F.lit(width_ms)).alias("bin")
    )
    bins = places.where("bin IS NOT NULL").groupBy("group_id", "bin").agg(F.count("*").alias("rebalance_count"))
    return joined([answer("line", of_generations), answer("state", of_states), answer("bin", bins)])


def quality(generations: DataFrame, audit_counts: DataFrame, coordinators: DataFrame, rejected: DataFrame) -> DataFrame:
    """Return what the page on quality shows.

    Returns:
        Answers of kind 'audit' (api, the counts), 'differing' (group_id, differ_count, request_count), 'evidence'
        (evidence, generation_count), 'generations' (generation_count, inferred_count, missing_count, unsettled_count),
        'homes' (homes_count, homes_differ_count) and 'rejected' (source, reason_code, row_count, detail).
    """
    counts = [name for name in audit_counts.columns if name.endswith("_count")]
    audit = audit_counts.groupBy("api").agg(*(F.sum(name).alias(name) for name in counts))
    differing = audit_counts.groupBy("group_id").agg(
        F.sum("differ_count").alias("differ_count"), F.sum("request_count").alias("request_count")
    )
    evidence = generations.groupBy("evidence").agg(F.count("*").alias("generation_count"))
    totals = generations.agg(
        F.count("*").alias("generation_count"),
        F.count_if("is_inferred").alias("inferred_count"),
        F.coalesce(F.sum("missing_before"), F.lit(0)).alias("missing_count"),
        F.count_if(~F.col("is_settled")).alias("unsettled_count"),
    )
    homes = coordinators.agg(
        F.count("*").alias("homes_count"), F.count_if(~F.col("agrees")).alias("homes_differ_count")
    )
    refused = rejected.groupBy("source", "reason_code").agg(
        F.count("*").alias("row_count"), F.min("detail").alias("detail")
    )
    return joined(
        [
            answer("audit", audit),
            answer("differing", differing.where("differ_count > 0").orderBy(F.desc("differ_count")).limit(50)),
            answer("evidence", evidence.orderBy(F.desc("generation_count"))),
            answer("generations", totals),
            answer("homes", homes),
            answer("rejected", refused.orderBy(F.desc("row_count")).limit(200)),
        ]
    )


def _plain(rows: DataFrame, name: str) -> Column:
    is_moment = isinstance(rows.schema[name].dataType, TimestampType)
    return F.unix_millis(name).alias(name) if is_moment else F.col(name)
