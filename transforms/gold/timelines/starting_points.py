"""From where each group is replayed: the youngest snapshot that stands before what is new of it.

Evidence older than a group's youngest snapshot is late: that group goes back to a snapshot before it, or to its
beginning. A snapshot of another version of the state is as good as none. What was left behind, as there was nothing new
of it, has its youngest snapshot before the last horizon, and evidence between the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from schemas.tables.gold import REPLAY_SNAPSHOTS
from transforms.coordinator.evidence.tolerances import REORDER_MS, SETTLING_MS
from transforms.coordinator.state import VERSION
from transforms.gold.timelines import news
from transforms.gold.timelines.evidence import ms
from transforms.question import Question, of_table

STARTING = (
    T.StructType()
    .add("cluster", "string")
    .add("group_id", "string")
    .add("oldest", "double")
    .add("tells", "boolean")
    .add("is_due", "boolean")
    .add("is_late", "boolean")
    .add("needs_older", "boolean")
    .add("since", "double")
    .add("taken_until", "double")
)
"""Where each group of a run goes on from.

`oldest`, `tells`, `is_due`: see `news`; `is_late`: it goes back, and its younger snapshots are of no use any more;
`needs_older`: it needs evidence from before the last horizon, and may have settled rows replaced, as it is late or was
left behind; `since`: epoch ms, null = from its beginning; `taken_until`: epoch ms, rows settled later are replaced,
null = all.
"""


HAS_NEWS = "(tells OR oldest IS NOT NULL)"
"""SQL condition of groups of a run that there is new evidence of, be it that their members live and commit."""

LEAST_TAKEN_ALONG = 20
"""So many groups that are not due are replayed along with others at the least, as there are: that takes a second."""


def starting_points(touched: str, horizon: float) -> str:
    """Return the statement for where each group goes on from, as STARTING has it.

    Args:
        touched: the statement for the groups with news.
        horizon: of the last run (epoch ms).
    """
    is_usable = f"version = {VERSION} AND (oldest IS NULL OR since + {REORDER_MS} <= oldest)"
    usable = f"CASE WHEN {is_usable} THEN struct(since, taken_until, seen_until) END"
    is_late = "(youngest IS NOT NULL AND NOT youngest <=> start.since)"
    is_unfinished = news.is_unfinished("start.since", "start.seen_until")
    is_behind = f"coalesce(start.since < {floor(horizon)} AND {is_unfinished}, false)"
    return f"""
        SELECT cluster, group_id, oldest, tells, is_due, {is_late} AS is_late, {is_late} OR {is_behind} AS needs_older,
            start.since AS since, start.taken_until AS taken_until
        FROM (
            SELECT cluster, group_id, oldest, tells, is_due, max(since) AS youngest,
                max_by({usable}, CASE WHEN {is_usable} THEN since END) AS start
            FROM ({touched}) LEFT JOIN (
                SELECT cluster, group_id, {ms("at")} AS since, {ms("taken_until")} AS taken_until,
                    {ms("seen_until")} AS seen_until, version
                FROM {of_table(REPLAY_SNAPSHOTS)}
            ) known USING (cluster, group_id)
            GROUP BY cluster, group_id, oldest, tells, is_due
        )"""


def from_the_beginning(touched: str) -> str:
    """Return the same for groups that are replayed from their beginning, whatever snapshots there are."""
    nothing = "CAST(NULL AS DOUBLE)"
    return f"""
        SELECT cluster, group_id, oldest, tells, is_due, true AS is_late, true AS needs_older, {nothing} AS since,
            {nothing} AS taken_until
        FROM ({touched})"""


def taken(groups: Sequence[dict[str, Any]], most_listed: int) -> list[dict[str, Any]]:
    """Return the groups that a run replays: of those that are not due only as many as are, the furthest behind first.

    So a part of what was left unfinished is made up for in each run that has few groups, and all of it in one that has
    many: no group is ever far behind. All of them together can be listed, or are many.

    Args:
        groups: rows of STARTING.
        most_listed: if more are due than that, they are many, and none is left behind.
    """
    due = [group for group in groups if group["is_due"]]
    if len(due) > most_listed:
        return [*groups]
    others = [group for group in groups if not group["is_due"]]
    others.sort(key=lambda group: (group["since"] or 0.0, group["group_id"]))
    return due + others[: min(max(len(due), LEAST_TAKEN_ALONG), most_listed - len(due))]


_EARLIEST = T.StructType([STARTING["taken_until"], STARTING["oldest"]])
_NEEDED = T.StructType([STARTING["since"], STARTING["taken_until"]])
_EVER = "CAST('-Infinity' AS DOUBLE)"
_GOES_ON = "taken_until IS NOT NULL AND NOT is_late"


def not_going_on(starting: DataFrame) -> Question:
    """Ask for the groups of a run that do not just go on from where they stood: STARTING.

    Args:
        starting: the groups of the run, as STARTING has them.
    """
    return _among(starting, f"SELECT * FROM {{starting}} WHERE NOT ({_GOES_ON})")


def needing_older(starting: DataFrame) -> Question:
    """Ask for the groups of a run that need what was written before the last horizon: STARTING."""
    return _among(starting, "SELECT * FROM {starting} WHERE needs_older")


def earliest_needed(starting: DataFrame) -> Question:
    """Ask how far back these go: one row with the earliest `since` and `taken_until`; -inf = to a beginning."""
    earliest = ", ".join(f"min(coalesce({name}, {_EVER})) AS {name}" for name in _NEEDED.names)
    return _among(starting, f"SELECT {earliest} FROM {{starting}} WHERE needs_older", _NEEDED)


def earliest_going_on(starting: DataFrame) -> Question:
    """Ask for the earliest `taken_until`, and the earliest `oldest`, of the groups that just go on: one row."""
    earliest = ", ".join(f"min({name}) AS {name}" for name in _EARLIEST.names)
    return _among(starting, f"SELECT {earliest} FROM {{starting}} WHERE {_GOES_ON}", _EARLIEST)


def _among(starting: DataFrame, statement: str, told: T.StructType = STARTING) -> Question:
    return Question(statement, (), told, {"starting": starting})


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
