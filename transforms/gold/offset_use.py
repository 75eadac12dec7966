"""What tells who keeps a group's offsets: of its many commits the few that decide.

The verdict is `transforms.findings.offsets.keeping`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transforms.findings.offsets.keeping import COMMITS, GOES_ON, SLACK_MS
from transforms.sql import quoted

_GROUP = ("cluster", "group_id")
_PLACE = ("topic", "partition")
_FOR_EVER = 2**62

IS_TAKEN = "NOT is_tombstone AND NOT coalesce(txn_state, 'none') IN ('aborted', 'open')"
"""Condition of commits that hold."""


def owners_until(assignments: DataFrame, group_id: str, at: Column) -> DataFrame:
    """Return the first assignment of each partition, and of each client.

    Args:
        assignments: `gold.assignments`.
        group_id: the group.
        at: the moment up to which something is known.
    """
    known = _until(assignments, group_id, "valid_from", at)
    row, since = F.struct(*assignments.columns), F.coalesce(F.unix_micros("valid_from"), F.lit(_FOR_EVER))
    firsts = [known.groupBy(*keys).agg(F.min_by(row, since).alias("row")) for keys in (_PLACE, ("client_id",))]
    return firsts[0].select("row.*").unionByName(firsts[1].select("row.*"))


def empty_until(generations: DataFrame, group_id: str, at: Column) -> DataFrame:
    """Return the generations without members.

    Args:
        generations: `gold.generations`.
        group_id: the group.
        at: the moment up to which something is known.
    """
    return generations.where((F.col("group_id") == group_id) & (F.col("emptied_at") <= at))


def commits_until(
    commits: DataFrame, assignments: DataFrame, generations: DataFrame, group_id: str, at: Column
) -> DataFrame:
    """Return the last commit of each partition, and the last few that no member can have made.

    Those are of partitions that nobody was assigned, or from a time when the group had no members.

    Args:
        commits: `silver.offset_commits`.
        assignments: `gold.assignments`.
        generations: `gold.generations`.
        group_id: the group.
        at: the moment up to which something is known.
    """
    taken = _until(commits, group_id, "recorded_at", at).where(IS_TAKEN)
    owned = (
        _until(assignments, group_id, "valid_from", at).select(*_PLACE).distinct().withColumn("is_owned", F.lit(True))
    )
    empty = empty_until(generations, group_id, at)
    told = in_empty("{taken}", "{empty}", commits.columns)
    marked = commits.sparkSession.sql(told, taken=taken, empty=empty).join(owned, [*_PLACE], "left")
    is_free = F.col("is_in_empty") | F.col("is_owned").isNull()
    newest = F.row_number().over(Window.partitionBy(*_PLACE).orderBy(F.desc("recorded_at")))
    of_kind = F.row_number().over(Window.partitionBy(*_PLACE, "is_in_empty").orderBy(F.desc("recorded_at")))
    return (
        marked.withColumn("newest", newest)
        .withColumn("of_kind", of_kind)
        .where((F.col("newest") == 1) | (is_free & (F.col("of_kind") <= GOES_ON)))
        .select(*commits.columns)
    )


def requests_until(requests: DataFrame, group_id: str, at: Column) -> DataFrame:
    """Return the commits in the request log, counted; grain: those of one kind by one client.

    Args:
        requests: `silver.group_requests`.
        group_id: the group.
        at: the moment up to which something is known.

    Returns:
        api, error, and, where the request names no member, member_id, group_instance_id, generation and client_id;
        answered_at (of the last), times BIGINT.
    """
    names_nobody = F.col("member_id") == ""
    whose = ("member_id", "group_instance_id", "generation", "client_id")
    sent = requests.where((F.col("group_id") == group_id) & F.col("api").isin(*COMMITS) & (F.col("answered_at") <= at))
    return (
        sent.where(F.col("error").isNotNull())
        .groupBy("api", "error", *(F.when(names_nobody, F.col(name)).alias(name) for name in whose))
        .agg(F.max("answered_at").alias("answered_at"), F.count("*").alias("times"))
    )


def in_empty(commits: str, generations: str, columns: Sequence[str]) -> str:
    """Return the query that tells of commits whether their group had no members then.

    Args:
        commits: name of those of `silver.offset_commits`.
        generations: name of those of `gold.generations` without members.
        columns: columns of the commits that are told again; cluster, group_id and recorded_at are among them.

    Returns:
        SQL that gives these columns, and `is_in_empty`.
    """
    told = ", ".join(map(quoted, columns))
    nothing = ", ".join(quoted(name) if name in _GROUP else f"NULL AS {quoted(name)}" for name in columns)
    return f"""
        SELECT {told}, is_in_empty FROM (
            SELECT *, coalesce(us <= last_value(until_us) IGNORE NULLS OVER (
                PARTITION BY cluster, group_id ORDER BY us, rank ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ), false) AS is_in_empty
            FROM (
                SELECT {told}, unix_micros(recorded_at) AS us, CAST(NULL AS BIGINT) AS until_us, 1 AS rank
                FROM {commits}
                UNION ALL
                SELECT {nothing}, us, until_us, 0 AS rank FROM (
                    SELECT cluster, group_id, unix_micros(emptied_at) + {SLACK_MS * 1000} AS us,
                        coalesce(unix_micros(ended_at), {_FOR_EVER}) AS until_us
                    FROM {generations}
                ) WHERE us <= until_us
            )
        ) WHERE rank = 1"""


def _until(rows: DataFrame, group_id: str, moment: str, at: Column) -> DataFrame:
    return rows.where((F.col("group_id") == group_id) & F.coalesce(F.col(moment) <= at, F.lit(True)))
