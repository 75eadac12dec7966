"""Adds what brokers' INFO lines tell of refused requests: that an instance was fenced, or was not given back.

The coordinator of a classic group logs each request of a static member whose group.instance.id another process has
taken over, and answers it FENCED_INSTANCE_ID; that of a consumer group logs who asks to join under one that a member
holds, and answers UNRELEASED_INSTANCE_ID. Of the other fencing errors they log nothing at INFO. Source:
GroupCoordinator.validateCurrentMember (Scala), ClassicGroup.validateMember (Java),
GroupMetadataManager.throwIfInstanceIdIsUnreleased.
"""

from __future__ import annotations

from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from transforms.given_rows import rows_held
from transforms.gold.findings.kernel import GROUP
from transforms.sql import among

EVENT = "member_fenced"
ERROR = "FENCED_INSTANCE_ID"
NOT_LET_IN = "UNRELEASED_INSTANCE_ID"
ERRORS = {EVENT: ERROR, "modern_instance_held": NOT_LET_IN}
"""By event, what was answered."""

MAY_TELL = among("event", ERRORS)
"""Condition of lines that are of refused instances, in SQL as Spark and DuckDB both have it."""

JOINING = "ConsumerGroupHeartbeat"
"""By what a member of a consumer group asks to join."""

API_OF_OPERATION = {
    "join-group": "JoinGroup",
    "sync-group": "SyncGroup",
    "heartbeat": "Heartbeat",
    "leave-group": "LeaveGroup",
    "offset-commit": "OffsetCommit",
    "txn-offset-commit": "TxnOffsetCommit",
}
"""What a line calls a request; brokers before 2.5 do not say it."""


def may_tell(coordinator_events: DataFrame) -> bool:
    """Tell whether lines may be of refused instances, so that `fencings` has to look; of those at hand it is known."""
    lines = rows_held(coordinator_events)
    return lines is None or bool(pc.any(pc.is_in(lines["event"], pa.array(list(ERRORS)))).as_py())


def fencings(coordinator_events: DataFrame, member_sessions: DataFrame) -> DataFrame:
    """Return what lines tell of refused instances, as requests.

    Lines about fenced ones name a member only: its stays say of what group. Who was not let in has no stay, and its
    line names the group.

    Args:
        coordinator_events: `silver.coordinator_events`.
        member_sessions: `gold.member_sessions`.

    Returns:
        `evidence` 'broker_log', cluster, group_id, error, answered_at (when it was logged), api ('unknown' where the
        line does not tell), generation (of who asks to join: 0), member_id, group_instance_id, and the client's id and
        host. Grain: one request.
    """
    apis, errors = (F.create_map(*map(F.lit, chain.from_iterable(of.items()))) for of in (API_OF_OPERATION, ERRORS))
    is_join = F.col("event") != EVENT
    lines = coordinator_events.where(MAY_TELL).select(
        "cluster",
        F.col("group_id").alias("named"),
        "member_id",
        "group_instance_id",
        F.when(is_join, JOINING)
        .otherwise(F.coalesce(apis[F.col("attributes")["operation"]], F.lit("unknown")))
        .alias("api"),
        F.when(is_join, 0).alias("generation"),
        errors[F.col("event")].alias("error"),
        F.col("logged_at").alias("answered_at"),
        F.lit("broker_log").alias("evidence"),
    )
    homes = member_sessions.groupBy("cluster", "member_id").agg(
        *(F.min(name).alias(name) for name in ("group_id", "client_id", "client_host"))
    )
    known = lines.join(homes, ["cluster", "member_id"], "left")
    return known.withColumn("group_id", F.coalesce("named", "group_id")).where("group_id IS NOT NULL").drop("named")


def with_broker_refusals(requests: DataFrame, told: DataFrame | None, gap_ms: int) -> DataFrame:
    """Return requests with those refusals that only brokers' lines tell of.

    What the request log or a client tells of is told by it alone, and so is what lies within `gap_ms` of that: a
    refusal is not to be counted twice.

    Args:
        requests: as `transforms.gold.client_refusals` has them.
        told: as `fencings` has them; None = no brokers' logs.
        gap_ms: longest gap between two errors of a burst, in milliseconds.
    """
    if told is None:
        return requests
    known = requests.where(F.col("error").isin(*ERRORS.values())).select(*GROUP, "error", "answered_at", "evidence")
    at, is_line = F.unix_millis("answered_at"), F.col("evidence") == "broker_log"
    of_error = Window.partitionBy(*GROUP, "error")
    until_now = (Window.unboundedPreceding, 0)  # what follows is gone through anew for each row
    otherwise = F.when(~is_line, at)
    before = F.last(otherwise, ignorenulls=True).over(of_error.orderBy("answered_at").rangeBetween(*until_now))
    backward = of_error.orderBy(F.desc("answered_at")).rangeBetween(*until_now)
    after = F.last(otherwise, ignorenulls=True).over(backward)
    is_untold = F.coalesce(at - before > gap_ms, F.lit(True)) & F.coalesce(after - at > gap_ms, F.lit(True))
    beside = told.unionByName(known, allowMissingColumns=True).withColumn("is_untold", is_untold)
    untold = beside.where(is_line & F.col("is_untold")).drop("is_untold")
    return requests.unionByName(untold, allowMissingColumns=True)
