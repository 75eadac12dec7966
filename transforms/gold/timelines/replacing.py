"""Which rows of gold a run takes the place of: what was not settled, and what was settled after its states.

A group that goes on from where it stood adds to its settled rows and replaces those that were not. One that goes back
replaces those too that were settled after the state that it goes back to; so does one that was left behind, some of
whose rows have been settled by nothing but time. All rows that are not settled lie together and are written anew, so
that one commit does it, whatever the number of groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from schemas.table import TableSpec
from transforms.coordinator.evidence.tolerances import LOOK_AHEAD_MS
from transforms.given_rows import marked, selected
from transforms.gold.timelines.columns import SUPERSEDED_COLUMNS
from transforms.gold.timelines.evidence import GROUP
from transforms.question import Question, verbatim
from transforms.sql import among, literal, quoted, truth
from transforms.wanted_rows import Wanted

UNSETTLED = "NOT is_settled"

STAYS = "is_settled AND coalesce(unix_micros(settled_at) / 1000.0 < taken_until, false)"
"""SQL condition of rows of a group that goes on from `taken_until`: they were settled before, and stay."""

HOW_SURE = ("is_settled", "settled_at")
"""Columns that say whether, and when, a row became final."""

EVERYTHING = ""
"""Condition of a run that replaces all rows of a cluster."""


def settled_by(horizon: float | None) -> str:
    """Return the SQL condition of rows that are settled by nothing but time, as a horizon has come past them.

    Args:
        horizon: the horizon (epoch ms); None = there is none, and no row is.
    """
    if horizon is None:
        return ""
    return f"{UNSETTLED} AND settled_at < timestamp_micros({ceil((horizon - LOOK_AHEAD_MS) * 1000)})"


def condition(late: Sequence[str] | None, far: float | None = None) -> str:
    """Return the SQL condition for the rows among which are all that a run replaces.

    Args:
        late: ids of the groups that may have settled rows to be replaced; None = there are too many to list.
        far: the moment (epoch ms) before which their settled rows stay, where they are too many; None = not known.
    """
    if late is None:
        return EVERYTHING if far is None else f"({UNSETTLED} OR settled_at >= timestamp_micros({floor(far * 1000)}))"
    if not late:
        return UNSETTLED
    return f"({UNSETTLED} OR {among('group_id', late)})"


def groups_of_run(starting: DataFrame) -> DataFrame:
    """Return what `staying` looks at: the groups of a run, and from where they go on."""
    return marked(selected(starting, [*GROUP, "taken_until"]), "is_in_run", True)


def staying_all() -> Wanted:
    """Return which rows of gold that fulfil the condition a run does not replace that replays no group."""
    return Wanted(where=truth(True))


def staying(groups: DataFrame) -> Wanted:
    """Return which rows of gold that fulfil the condition a run does not replace.

    Args:
        groups: the groups of the run.
    """
    return Wanted(beside=groups, where=f"is_in_run IS NULL OR ({STAYS})")


def staying_of_run(groups: DataFrame, listed: Sequence[str] | None) -> Wanted:
    """Return which rows of gold there are of the groups of a run that it does not replace.

    Args:
        groups: the groups of the run.
        listed: their ids; None = they are not listed.
    """
    return Wanted(listed, beside=groups, where=f"is_in_run AND {STAYS}")


def differing(
    starting: DataFrame, told: Mapping[TableSpec, DataFrame], where: Mapping[TableSpec, str], tell: str
) -> Question:
    """Ask which groups have other rows than they had, or new evidence that tells of more: cluster, group_id.

    Of most groups that are replayed only because time goes by, or because their members say that they live, the same
    rows come again, some of them settled by now.

    Args:
        starting: the groups of a run, from where they go on, and what is new of them.
        told: by table, the rows that come.
        where: by table, the SQL condition of the rows among which are all that go.
        tell: SQL condition of groups whose new evidence tells of more than its rows.
    """
    counted = "\nUNION ALL\n".join(_come_and_go(spec, where[spec]) for spec in told)
    return Question(
        f"""
        SELECT cluster, group_id FROM (
            SELECT cluster, group_id FROM ({counted}) GROUP BY cluster, group_id, told HAVING sum(times) <> 0
            UNION ALL
            SELECT cluster, group_id FROM {{starting}} WHERE {tell}
        ) GROUP BY cluster, group_id""",
        [*told],
        T.StructType([T.StructField(name, T.StringType()) for name in GROUP]),
        {"starting": starting} | {f"told_{spec.name}": rows for spec, rows in told.items()},
    )


def _come_and_go(spec: TableSpec, where: str) -> str:
    # As JSON, in which a null is not taken for that of another column; md5 takes as long as all else.
    names = ", ".join(quoted(name) for name in spec.columns if name not in HOW_SURE)
    row = f"xxhash64(concat({literal(spec.name)}, to_json(struct({names})))) AS told"
    goes = f"NOT ({STAYS})" + (f" AND {verbatim(where)}" if where else "")
    return f"""
        SELECT cluster, group_id, {row}, 1 AS times FROM {{told_{spec.name}}}
        UNION ALL
        SELECT cluster, group_id, {row}, -1 AS times FROM {{{spec.name}}}
        JOIN (SELECT cluster, group_id, taken_until FROM {{starting}}) USING (cluster, group_id) WHERE {goes}"""


def without_superseded(rows: DataFrame, superseded: DataFrame) -> DataFrame:
    """Leave out settled rows of stays in whose place others stand now."""
    return rows.join(superseded.select(*SUPERSEDED_COLUMNS).distinct(), [*SUPERSEDED_COLUMNS], "left_anti").select(
        rows.columns
    )
