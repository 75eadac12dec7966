"""Members that held rebalances up: they were to give partitions up, and did not for too long.

Each is a stretch of `gold.reconciliations`. Spark finds the long ones and what belongs to each; what is to be said of
one is `transforms.findings.slow_revoker`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from schemas.rows import SlowRevokerRow
from schemas.table import TableSpec
from schemas.tables.gold import (
    GENERATION_MEMBERS,
    GENERATIONS,
    MEMBER_SESSIONS,
    RECONCILIATIONS,
    SLOW_REVOKERS,
)
from schemas.words import UNREVOKED
from transforms.findings.evidence import Evidence
from transforms.findings.slow_revoker import slow_revoker_row
from transforms.gold.findings.kernel import (
    AT_END,
    FINDING,
    FRAME,
    GROUP,
    Few,
    Hold,
    around,
    as_it_is,
    by_workers,
    judged,
    nothing,
    packed,
)

READ = (RECONCILIATIONS, GENERATIONS, GENERATION_MEMBERS, MEMBER_SESSIONS)
"""Tables that slow revokers are found in."""

_SLACK_US = 1_000_000
"""The end of a stay is told by other evidence than the end of the wait, a moment later at most."""

_MEMBER = ("life", "member_id")


def slow_revokers(
    tables: Mapping[TableSpec, DataFrame],
    slow_ms: int,
    seen_until: float | None = None,
    hold: Hold = as_it_is,
    few: Few = by_workers,
) -> DataFrame:
    """Find the members of all groups that gave up late, or not at all, what was taken from them.

    Args:
        tables: those of READ.
        slow_ms: from so long on it is too late.
        seen_until: end of the data (epoch ms); null = not known, so that what is not over is not judged.
        hold: keeps the stretches of time that are too long.
        few: fetches evidence if there is little of it.

    Returns:
        `gold.slow_revokers`, one row for each stretch, as `transforms.findings.slow_revoker` has it.
    """
    until_ms = F.coalesce(F.unix_millis("to_at").cast("double"), F.lit(seen_until))
    held_up_ms = F.floor(until_ms - F.unix_millis("from_at"))
    in_order = Window.partitionBy(*GROUP).orderBy("life", "member_id", "seq")
    waits = tables[RECONCILIATIONS]
    slow = hold(
        waits.where(F.col("state").isin(*UNREVOKED))
        .select(*GROUP, *_MEMBER, "seq", "from_at", "to_at", held_up_ms.alias("held_up_ms"))
        .where(F.col("held_up_ms") >= slow_ms)
        .withColumn("finding", F.row_number().over(in_order))
    )
    if slow is None:
        return nothing(waits, SLOW_REVOKERS)
    whose = slow.select(*FINDING, *_MEMBER)
    spans = slow.select(
        *FINDING,
        F.unix_micros("from_at").alias("since_us"),
        F.coalesce(F.unix_micros("to_at") + _SLACK_US, F.lit(2**62)).alias("until_us"),
    )
    stays = around(tables[MEMBER_SESSIONS], spans, "joined_at", "ended_at", AT_END)
    parts = [
        packed(slow.select(*FINDING, "life", "seq", "held_up_ms"), FRAME),
        packed(around(waits, spans, "from_at", "to_at"), "reconciliations"),
        packed(around(tables[GENERATIONS], spans, "preparing_at", "ended_at"), "generations"),
        packed(tables[GENERATION_MEMBERS].join(whose, [*GROUP, *_MEMBER]), "members"),
        packed(stays.join(whose, [*FINDING, *_MEMBER], "left_semi"), "sessions"),
    ]
    return judged(slow, parts, _judge, SLOW_REVOKERS, few)


def _judge(evidence: Evidence, frame: dict[str, Any]) -> list[SlowRevokerRow]:
    return [slow_revoker_row(evidence, (frame["life"], frame["seq"]), frame["held_up_ms"])]
