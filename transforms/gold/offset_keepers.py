"""Who keeps the offsets of each group, of late: its members, consumers that are none, both, or somebody else.

The verdict is that of `transforms.findings.offsets.keeping`, which has a group's whole history. Here a day's commits
tell, so that a run's cost does not grow with what there is; only whether a group has ever had assignments and commits
is asked of everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import product

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.table import TableSpec
from schemas.tables.gold import ASSIGNMENTS, GENERATIONS, MEMBER_SESSIONS
from schemas.tables.silver import GROUP_REQUESTS, OFFSET_COMMITS
from transforms.findings.offsets.keeping import COMMITS, GOES_ON, OffsetUse, keeping_of
from transforms.gold.offset_use import in_empty

_GROUP = ("cluster", "group_id")
_PARTITION = (*_GROUP, "topic", "partition")
_RECORD = ("topic_partition_of_record", "record_offset")


def free_commits(tables: Mapping[TableSpec, DataFrame], since: Column) -> DataFrame:
    """Count the commits of each group that are no member's.

    Args:
        tables: commits, generations, and those of assignments, sessions and requests that there are.
        since: the moment from which on commits count.

    Returns:
        cluster, group_id, free_commits BIGINT and free_refused BIGINT, as `OffsetUse` has them; groups that have none
        may be missing.
    """
    stored = _free_stored(tables, since)
    if (requests := tables.get(GROUP_REQUESTS)) is None:
        return stored.withColumn("free_refused", F.lit(0))
    sent = _free_sent(requests, tables, since)
    both = stored.withColumnRenamed("free_commits", "stored").join(sent, list(_GROUP), "full_outer")
    return both.select(*_GROUP, F.coalesce("taken", "stored").alias("free_commits"), "free_refused")


def keeper() -> Column:
    """Return who keeps a group's offsets, given whether it has assignments and commits, and its free commits."""
    goes_on, refused = F.coalesce("free_commits", F.lit(0)) >= GOES_ON, F.coalesce("free_refused", F.lit(0)) > 0
    asked = (F.col("has_assignments"), F.col("has_commits"), goes_on, refused)
    verdict = F.lit(None).cast("string")
    for answers in product((False, True), repeat=len(asked)):
        has_assignments, has_commits, is_going_on, is_refused = answers
        use = OffsetUse(
            has_assignments=has_assignments,
            has_commits=has_commits,
            free_commits=GOES_ON * is_going_on,
            free_refused=int(is_refused),
        )
        fits = reduce(
            Column.__and__, (column.eqNullSafe(answer) for column, answer in zip(asked, answers, strict=True))
        )
        verdict = F.when(fits, keeping_of(use)).otherwise(verdict)
    return verdict


def _free_sent(requests: DataFrame, tables: Mapping[TableSpec, DataFrame], since: Column) -> DataFrame:
    """What the request log tells of each group in it; members that have left may forget who they were."""
    is_free = F.expr("member_id = '' AND group_instance_id IS NULL AND generation < 0")
    sent = (
        requests.where(F.col("api").isin(*COMMITS) & F.col("error").isNotNull() & (F.col("answered_at") > since))
        .withColumn("is_free", F.coalesce(is_free, F.lit(False)))
        .groupBy(*_GROUP, "client_id", "is_free")
        .agg(
            F.count_if(F.col("error") == "NONE").alias("taken"),
            F.count_if(F.col("error") == "UNKNOWN_MEMBER_ID").alias("refused"),
        )
    )
    named = [tables[spec].select(*_GROUP, "client_id") for spec in (MEMBER_SESSIONS, ASSIGNMENTS) if spec in tables]
    if named:
        members = reduce(DataFrame.unionByName, named).distinct().withColumn("is_member", F.lit(True))
        sent = sent.join(members, [*_GROUP, "client_id"], "left")
    else:
        sent = sent.withColumn("is_member", F.lit(None))
    is_nobodys = F.col("is_free") & F.col("is_member").isNull()
    return sent.groupBy(*_GROUP).agg(
        F.coalesce(F.max(F.when(is_nobodys, F.col("taken"))), F.lit(0)).alias("taken"),
        F.coalesce(F.sum(F.when(is_nobodys, F.col("refused"))), F.lit(0)).alias("free_refused"),
    )


def _free_stored(tables: Mapping[TableSpec, DataFrame], since: Column) -> DataFrame:
    """What the records tell: most commits of one partition that no member can have made."""
    made = (
        tables[OFFSET_COMMITS]
        .where("NOT is_tombstone AND NOT coalesce(txn_state, 'none') IN ('aborted', 'open')")
        .where(F.col("recorded_at") > since)
        .select(*_PARTITION, *_RECORD, "recorded_at")
    )
    empty = tables[GENERATIONS].where(F.col("emptied_at").isNotNull())
    empty = empty.where(F.col("ended_at").isNull() | (F.col("ended_at") > since))
    of_empty = made.join(empty.select(*_GROUP).distinct(), list(_GROUP), "left_semi")
    free = [in_empty(of_empty, empty).where("is_in_empty").select(made.columns)]
    if (assignments := tables.get(ASSIGNMENTS)) is not None:
        free.append(_never_owned(made, assignments))
    return (
        reduce(DataFrame.unionByName, free)
        .dropDuplicates([*_GROUP, *_RECORD])
        .groupBy(*_PARTITION)
        .agg(F.count("*").alias("free_commits"))
        .groupBy(*_GROUP)
        .agg(F.max("free_commits").alias("free_commits"))
    )


def _never_owned(made: DataFrame, assignments: DataFrame) -> DataFrame:
    """Commits of partitions that nobody was ever assigned, since assignments are known; tasks are no partitions."""
    owned = assignments.select(*_PARTITION).distinct()
    known = (
        assignments.groupBy(*_GROUP)
        .agg(F.min("valid_from").alias("known_since"), F.bool_or(F.col("role").isNotNull()).alias("is_of_tasks"))
        .where("NOT is_of_tasks")
    )
    return (
        made.join(known, list(_GROUP))
        .where("recorded_at >= known_since")
        .join(owned, list(_PARTITION), "left_anti")
        .select(made.columns)
    )
