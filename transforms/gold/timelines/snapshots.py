"""What becomes of a group's snapshots when a run puts down a new one: a few older ones stay, further and further apart.

Evidence that comes late sends a group back to its youngest snapshot before it. Most is late by little, some by a day;
so the youngest are kept close together, and older ones at distances that double. A run over a long history puts down
some on its way: behind it, too, what is late by little, as a join is that waited for others and was answered after the
horizon, is not to cost all of a group's history.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.tables.gold import REPLAY_SNAPSHOTS
from transforms.gold.timelines.evidence import GROUP
from transforms.gold.timelines.starting_points import ms

IS_GONE = "is_gone"

CLOSEST_MS = 600_000.0
"""Distance of the two youngest that are kept; of each older one it is at least twice that of the one before."""

STOPS_MS = (86_400_000.0, CLOSEST_MS)
"""So long before the horizon a run over a long history puts down snapshots on its way."""

MOST = 12
"""Snapshots of one group; the oldest of them is more than two weeks before the youngest."""


def stops_between(since: float, horizon: float) -> list[float]:
    """Return the moments at which a run puts down snapshots on its way: not close to that from which it goes on."""
    return [horizon - before for before in STOPS_MS if horizon - before > since + CLOSEST_MS]


def changes(new: DataFrame, old: DataFrame, starting: DataFrame) -> DataFrame:
    """Return what is to change in `gold.replay_snapshots`.

    Args:
        new: the snapshots that the run has put down.
        old: those that there are.
        starting: the groups of the run, and from where they went on; of those that went back, younger ones go.

    Returns:
        Columns of the table, and `is_gone`: true = the row of this key is to go.
    """
    moments = old.select(*GROUP, "at").join(starting.select(*GROUP, "since", "is_late"), [*GROUP])
    is_left = F.coalesce(ms("at") <= F.col("since"), ~F.col("is_late"))
    standing = moments.where(is_left).select(*GROUP, ms("at").alias("at_ms"))
    all_moments = standing.unionByName(new.select(*GROUP, ms("at").alias("at_ms")))
    keeping = all_moments.groupBy(*GROUP).agg(kept(F.collect_set("at_ms")).alias("kept"))
    gone = moments.join(keeping, [*GROUP]).where(~F.array_contains("kept", ms("at")))
    others = [F.lit(None).alias(name) for name in REPLAY_SNAPSHOTS.columns if name not in REPLAY_SNAPSHOTS.key]
    going = gone.select(*REPLAY_SNAPSHOTS.key, *others, F.lit(True).alias(IS_GONE))
    return new.select(*REPLAY_SNAPSHOTS.columns, F.lit(False).alias(IS_GONE)).unionByName(going)


def kept(moments: Column) -> Column:
    """Return those of a group's snapshots that are to be kept, by their moments (epoch ms), youngest first.

    The youngest stays, and the one before it, for a run may be repeated.

    Args:
        moments: the moments, an array without doubles.
    """
    youngest_first = F.sort_array(moments, asc=False)

    def with_next(found: Column, at: Column) -> Column:
        keep, distance = found["keep"], found["distance"]
        is_far = (F.size(keep) < MOST) & (F.element_at(keep, -1) - at >= distance)
        longer = F.struct(F.concat(keep, F.array(at)).alias("keep"), (distance * 2).alias("distance"))
        return F.when(is_far, longer).otherwise(found)

    first = F.struct(F.slice(youngest_first, 1, 2).alias("keep"), F.lit(CLOSEST_MS).alias("distance"))
    others = F.slice(youngest_first, F.lit(3), F.size(youngest_first))
    return F.aggregate(others, first, with_next, lambda found: found["keep"])
