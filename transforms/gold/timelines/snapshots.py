"""What becomes of a group's snapshots when a run puts down a new one: a few older ones stay, further and further apart.

Evidence that comes late sends a group back to its youngest snapshot before it. Most is late by little, some by a day;
so the youngest are kept close together, and older ones at distances that double. A run over a long history puts down
some on its way: behind it, too, what is late by little, as a join is that waited for others and was answered after the
horizon, is not to cost all of a group's history.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from schemas.spark import struct_type
from schemas.tables.gold import REPLAY_SNAPSHOTS
from transforms.gold.timelines.evidence import ms
from transforms.question import Question, of_table

IS_GONE = "is_gone"
"""Column of what is to change in `gold.replay_snapshots`: true = the row of this key is to go."""

CLOSEST_MS = 600_000.0
"""Distance of the two youngest that are kept; of each older one it is at least twice that of the one before."""

STOPS_MS = (86_400_000.0, CLOSEST_MS)
"""So long before the horizon a run over a long history puts down snapshots on its way."""

MOST = 12
"""Snapshots of one group; the oldest of them is more than two weeks before the youngest."""

_AT_MS = ms("at")

_FAR_MORE = 1_000_000
"""More than a group has."""


def stops_between(since: float, horizon: float) -> list[float]:
    """Return the moments at which a run puts down snapshots on its way: not close to that from which it goes on."""
    return [horizon - before for before in STOPS_MS if horizon - before > since + CLOSEST_MS]


def gone(new: DataFrame, starting: DataFrame) -> Question:
    """Ask which of the snapshots that there are are to go: of each no more than its key is told.

    Args:
        new: the snapshots that a run has put down.
        starting: the groups of the run, and from where they went on; of those that went back, younger ones go.
    """
    columns = ", ".join(_column(field) for field in struct_type(REPLAY_SNAPSHOTS))
    moments = f"""
        SELECT cluster, group_id, at, {_AT_MS} AS at_ms, coalesce({_AT_MS} <= since, NOT is_late) AS is_left
        FROM {of_table(REPLAY_SNAPSHOTS)}
        JOIN (SELECT cluster, group_id, since, is_late FROM {{starting}}) starting USING (cluster, group_id)"""
    known = f"""
        SELECT cluster, group_id, at_ms FROM ({moments}) WHERE is_left
        UNION ALL SELECT cluster, group_id, {_AT_MS} FROM {{new}}"""
    statement = f"""
        SELECT {columns} FROM ({moments}) JOIN (
            SELECT cluster, group_id, {kept("collect_set(at_ms)")} AS kept FROM ({known}) GROUP BY cluster, group_id
        ) USING (cluster, group_id) WHERE NOT array_contains(kept, at_ms)"""
    beside = {"new": new, "starting": starting}
    return Question(statement, (REPLAY_SNAPSHOTS,), struct_type(REPLAY_SNAPSHOTS).toNullable(), beside)


def _column(field: T.StructField) -> str:
    is_of_key = field.name in REPLAY_SNAPSHOTS.key
    return field.name if is_of_key else f"CAST(NULL AS {field.dataType.simpleString()}) AS {field.name}"


def kept(moments: str) -> str:
    """Return those of a group's snapshots that are to be kept, by their moments (epoch ms), in SQL.

    The youngest stays, and the one before it, for a run may be repeated.

    Args:
        moments: the moments, an array without doubles.
    """
    # What is gathered has the type of what it is gathered from, which DuckDB asks for.
    youngest_first = f"sort_array({moments}, false)"
    others = f"transform(slice({youngest_first}, 3, {_FAR_MORE}), at -> {_found('array(at)', '0.0D')})"
    is_far = f"size(found.keep) < {MOST} AND element_at(found.keep, -1) - element_at(next.keep, 1) >= found.distance"
    longer = _found("concat(found.keep, next.keep)", "found.distance * 2.0D")
    first = _found(f"slice({youngest_first}, 1, 2)", f"{CLOSEST_MS}D")
    return f"aggregate({others}, {first}, (found, next) -> CASE WHEN {is_far} THEN {longer} ELSE found END).keep"


def _found(keep: str, distance: str) -> str:
    return f"named_struct('keep', {keep}, 'distance', {distance})"
