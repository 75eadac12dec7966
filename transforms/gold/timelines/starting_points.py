"""From where each group is replayed: the youngest snapshot that stands before what is new of it.

Evidence older than a group's youngest snapshot is late: that group goes back to a snapshot before it, or to its
beginning. A snapshot of another version of the state is as good as none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transforms.coordinator.evidence.tolerances import REORDER_MS, SETTLING_MS
from transforms.coordinator.state import VERSION
from transforms.gold.timelines.evidence import GROUP


def starting_points(touched: DataFrame, snapshots: DataFrame) -> DataFrame:
    """Return where each group goes on from.

    Args:
        touched: cluster, group_id, oldest: groups with news; null = of a group that has only been left unfinished.
        snapshots: `gold.replay_snapshots`.

    Returns:
        cluster, group_id, oldest, is_late (it has younger snapshots, which are of no use any more), since DOUBLE (epoch
        ms; null = from its beginning), taken_until DOUBLE (rows settled later are replaced; null = all).
    """
    known = snapshots.select(*GROUP, ms("at").alias("since"), ms("taken_until").alias("taken_until"), "version")
    is_usable = (F.col("version") == VERSION) & (
        F.col("oldest").isNull() | (F.col("since") + F.lit(REORDER_MS) <= F.col("oldest"))
    )
    usable = F.when(is_usable, F.struct("since", "taken_until"))
    found = touched.join(known, [*GROUP], "left").groupBy(*GROUP, "oldest")
    return found.agg(F.max("since").alias("youngest"), F.max(usable).alias("from")).select(
        *GROUP,
        "oldest",
        (F.col("youngest").isNotNull() & ~F.col("youngest").eqNullSafe(F.col("from.since"))).alias("is_late"),
        "from.since",
        "from.taken_until",
    )


def from_the_beginning(touched: DataFrame) -> DataFrame:
    """Return the same for groups that are replayed from their beginning, whatever snapshots there are."""
    nothing = F.lit(None).cast("double")
    return touched.select(
        *GROUP, "oldest", F.lit(True).alias("is_late"), nothing.alias("since"), nothing.alias("taken_until")
    )


def changed_from(start: Mapping[str, Any], horizon: float | None) -> float | None:
    """Return the moment before which a group's settled rows stay as they are; None = none of them does.

    Args:
        start: a row of `starting_points`.
        horizon: of the last run: what lay before it was settled then, but for what came too late for it.
    """
    taken_until, oldest = start["taken_until"], start["oldest"]
    if taken_until is None or horizon is None:
        return None
    return max(float(taken_until), (horizon if oldest is None else min(horizon, oldest)) - SETTLING_MS)


def states(starting: DataFrame, snapshots: DataFrame) -> DataFrame:
    """Return the states that groups go on from: cluster, group_id, state."""
    chosen = starting.where("since IS NOT NULL").select(*GROUP, "since")
    return snapshots.withColumn("since", ms("at")).join(chosen, [*GROUP, "since"]).select(*GROUP, "state")


def ms(column: str) -> Column:
    """Return a time as epoch ms."""
    return F.unix_micros(column) / F.lit(1000.0)
