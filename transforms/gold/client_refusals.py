"""Adds what clients logged of their requests to those that brokers logged: refusals, and how they came back."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from transforms.findings.client_refusals import ClientLine, refusals
from transforms.findings.client_starts import returns
from transforms.gold.findings.kernel import GROUP

_FILE = ("cluster", "source_file")
_SPAN = "span"
_TOLD = T.StructType(
    [
        T.StructField("cluster", T.StringType()),
        T.StructField("group_id", T.StringType()),
        T.StructField("error", T.StringType()),
        T.StructField("answered_at_ms", T.DoubleType()),
        T.StructField("api", T.StringType()),
        T.StructField("generation", T.IntegerType()),
        T.StructField("member_id", T.StringType()),
        T.StructField("client_id", T.StringType()),
        T.StructField("reason", T.StringType()),
        T.StructField("group_instance_id", T.StringType()),
        T.StructField("is_own", T.BooleanType()),
    ]
)


def with_client_refusals(
    group_requests: DataFrame,
    client_events: DataFrame | None,
    gap_ms: int,
    member_sessions: DataFrame | None = None,
    has_own: bool = False,
) -> DataFrame:
    """Return refused requests and the others, with what only clients tell of: refusals, and joins under another id.

    Where the request log has a request of a group, it alone tells of that group for `gap_ms` before and after: clocks
    of clients differ, and nothing is to be counted twice. Elsewhere clients are believed: the log may be another
    broker's than the coordinator's. What clients refused themselves no request log knows.

    Args:
        group_requests: `silver.group_requests`.
        client_events: `silver.client_events`; None = no clients' logs.
        gap_ms: so long before and after a request of its group the request log is believed, in milliseconds.
        member_sessions: `gold.member_sessions`, which say of clients whose lines name no group which one they are in.
        has_own: commits that clients refused themselves are wanted as well.

    Returns:
        The requests with `evidence` ('request_log', 'client_log') and `is_own` (refused by the client itself). What
        a client logged has cluster, group_id, error, answered_at (when it logged the refusal), api ('unknown' where it
        does not tell), generation, member_id and client_id; the rest is null. Grain: one request.
    """
    requests = group_requests.withColumn("evidence", F.lit("request_log")).withColumn("is_own", F.lit(False))
    if client_events is None:
        return requests
    at_ms = F.col("answered_at_ms")
    is_told = F.coalesce(
        F.col("is_amid") | (at_ms - F.col("before_ms") <= gap_ms) | (F.col("after_ms") - at_ms <= gap_ms), F.lit(False)
    )
    lines = _told(client_events, member_sessions).withColumn(_SPAN, _span_of(at_ms, gap_ms))
    untold = (
        lines.join(_requests_around(group_requests, gap_ms), [*GROUP, _SPAN], "left")
        .where(F.when(F.col("is_own"), F.lit(has_own)).otherwise(~is_told))
        .drop(_SPAN, "before_ms", "is_amid", "after_ms")
    )
    answered_at = F.timestamp_micros((F.col("answered_at_ms") * 1000).cast("long"))
    of_clients = untold.withColumn("answered_at", answered_at).withColumn("evidence", F.lit("client_log"))
    return requests.unionByName(of_clients.drop("answered_at_ms"), allowMissingColumns=True)


def _requests_around(group_requests: DataFrame, gap_ms: int) -> DataFrame:
    """Return the requests that are next to each span of time, or within it.

    Returns:
        cluster, group_id, span, before_ms (last request of the span before), is_amid (there are requests in the span),
        after_ms (first one of the span behind); epoch ms. Grain: one span of `gap_ms`.
    """
    at_ms = F.unix_millis("answered_at")
    spans = group_requests.groupBy(*GROUP, _span_of(at_ms, gap_ms).alias(_SPAN)).agg(
        F.min(at_ms).alias("first_ms"), F.max(at_ms).alias("last_ms")
    )
    seen_from = spans.withColumn("step", F.explode(F.array(*map(F.lit, (-1, 0, 1)))))
    return seen_from.groupBy(*GROUP, (F.col(_SPAN) + F.col("step")).alias(_SPAN)).agg(
        F.max(F.when(F.col("step") == 1, F.col("last_ms"))).alias("before_ms"),
        F.max(F.col("step") == 0).alias("is_amid"),
        F.min(F.when(F.col("step") == -1, F.col("first_ms"))).alias("after_ms"),
    )


def _span_of(at_ms: Column, gap_ms: int) -> Column:
    """Number the span of time in which a moment (epoch ms) lies: whatever lies in one is within the gap."""
    return F.floor(at_ms / max(gap_ms, 1))


def at_home(client_events: DataFrame, member_sessions: DataFrame) -> DataFrame:
    """Give lines that name no group the one in which their client is, if it is in one only."""
    return _of_only_group(client_events, member_sessions, ("cluster", "client_id"))


def lines_of_files(client_events: DataFrame, member_sessions: DataFrame, groups: DataFrame) -> DataFrame:
    """Return all lines of the files that tell of some groups, however old they are.

    Whose a line is, and as which member, may stand in another line of its file only.

    Args:
        client_events: `silver.client_events`.
        member_sessions: `gold.member_sessions`.
        groups: cluster, group_id.
    """
    named = at_home(client_events, member_sessions).select(*_FILE, "group_id").distinct()
    files = named.join(F.broadcast(groups), ["cluster", "group_id"], "left_semi").select(*_FILE).distinct()
    return client_events.join(files, list(_FILE), "left_semi")


def of_their_files(lines: DataFrame, client_events: DataFrame) -> DataFrame:
    """Give lines that name no group the only one that their file names.

    Args:
        lines: some rows of `silver.client_events`.
        client_events: all of them.
    """
    return _of_only_group(lines, client_events, _FILE)


def _of_only_group(lines: DataFrame, naming: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """Give lines without a group the one that rows with the same keys name, if they name one only."""
    is_one = F.min("group_id") == F.max("group_id")
    homes = naming.groupBy(*keys).agg(F.when(is_one, F.min("group_id")).alias("home"))
    return lines.join(homes, [*keys], "left").withColumn("group_id", F.coalesce("group_id", "home")).drop("home")


def _told(client_events: DataFrame, member_sessions: DataFrame | None) -> DataFrame:
    """Return what all files tell of requests."""
    if member_sessions is not None:
        client_events = at_home(client_events, member_sessions)
    lines = client_events.select(
        *_FILE,
        *(name for name in ClientLine.__struct_fields__ if name != "logged_at"),
        (F.unix_micros("logged_at") / 1000).alias("logged_at"),
    )
    return lines.groupBy(*_FILE).applyInArrow(_of_file, _TOLD)


def _of_file(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
    rows = [msgspec.convert(row, ClientLine) for row in table.drop_columns([*_FILE]).to_pylist()]
    cluster = key[0].as_py()
    found = [
        {"cluster": cluster, "answered_at_ms": one.answered_at, **msgspec.structs.asdict(one)}
        for one in (*refusals(rows), *returns(rows))
    ]
    return pa.Table.from_pylist(found, schema=to_arrow_schema(_TOLD))
