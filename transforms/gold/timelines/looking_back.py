"""How far back rows are looked at beside those that a run gave: to the last stable generation before all of them.

What is settled passed its checks and laws when it was written, together with all that was there before. What comes new
is held against what it follows: the members of a generation against those of the last one that came out stable, a
change of state against the one before. So no more of a long history is looked at than of a short one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from schemas.table import TableSpec
from schemas.tables.gold import (
    ASSIGNMENTS,
    AUDIT_COUNTS,
    COORDINATORS,
    GENERATION_MEMBERS,
    GENERATIONS,
    MEMBER_SESSIONS,
)
from transforms.gold.timelines.replacing import STAYS
from transforms.question import Question
from transforms.sql import truth
from transforms.wanted_rows import Wanted

IS_KNOWN = "is_known"
"""Column of what passed in an earlier batch; see `transforms.quality.laws.law`."""

FROM = (
    StructType()
    .add("cluster", "string")
    .add("group_id", "string")
    .add("is_in_run", "boolean")
    .add("taken_until", "double")
    .add("from_life", "integer")
    .add("from_generation", "integer")
    .add("from_settled_at", "timestamp")
)
"""The groups of a run: from when on it took evidence, the first generation that is looked at, when it was settled."""

OF_GENERATIONS = (GENERATIONS, GENERATION_MEMBERS, ASSIGNMENTS)
"""Tables each of whose rows is of one generation."""

_TOLD = {spec: f"told_{spec.name}" for spec in OF_GENERATIONS}
_KEYS = " UNION ALL ".join(
    f"SELECT cluster, group_id, struct(life, generation) AS key FROM {{{name}}}" for name in _TOLD.values()
)
_LAST_STABLE = f"""
    WITH oldest AS (
        SELECT cluster, group_id, taken_until, told.life AS first_life, told.generation AS first_generation
        FROM {{starting}} LEFT JOIN (
            SELECT cluster, group_id, min(key) AS told FROM ({_KEYS}) GROUP BY cluster, group_id
        ) USING (cluster, group_id)
    )
    SELECT cluster, group_id, true AS is_in_run, taken_until, last.life AS from_life,
        last.generation AS from_generation, last.settled_at AS from_settled_at
    FROM oldest LEFT JOIN (
        SELECT cluster, group_id, CASE WHEN min(group_type) = max(group_type) THEN max_by(
            CASE WHEN is_fit THEN struct(life, generation, settled_at) END,
            CASE WHEN is_fit THEN struct(life, generation) END
        ) END AS last
        FROM (
            SELECT *, outcome = 'stable' AND (
                first_life IS NULL OR life < first_life OR (life = first_life AND generation < first_generation)
            ) AS is_fit
            FROM {{{GENERATIONS.name}}}
            JOIN oldest USING (cluster, group_id)
            WHERE {STAYS}
        )
        GROUP BY cluster, group_id
    ) USING (cluster, group_id)"""

_IS_DOUBT = "differ_count > 0 OR unpredicted_count > 0"
"""Counts that a group is held to less for, however long ago that was."""


def known_from(starting: DataFrame, told: Mapping[TableSpec, DataFrame]) -> Question:
    """Ask for the first generation that is looked at, by group: the last that is stable before what a run gave.

    A group that has changed its type is looked at from its beginning: whoever has had epochs is held to less.

    Args:
        starting: the groups of the run, and from where they go on: cluster, group_id, taken_until.
        told: what the run gave of the tables `OF_GENERATIONS`.

    Returns:
        The question for columns `FROM`, one row for each group; without a generation, it is looked at from its
        beginning.
    """
    beside = {"starting": starting} | {_TOLD[spec]: rows for spec, rows in told.items()}
    return Question(_LAST_STABLE, (GENERATIONS,), FROM, beside)


def looked_at(spec: TableSpec, groups: Sequence[str] | None, first: DataFrame) -> Wanted:
    """Return which of the rows that stay of the groups of a run are looked at.

    Args:
        spec: the table.
        groups: the groups of a run; None = they are not listed.
        first: what the answer to `known_from` is.
    """
    return Wanted(groups, beside=first, where=f"is_in_run AND {STAYS} AND ({_is_near(spec)})")


def _is_near(spec: TableSpec) -> str:
    """Return the SQL condition of rows that do not lie before the first generation of their group."""
    if spec is COORDINATORS:  # few rows
        return truth(True)
    if spec is AUDIT_COUNTS:
        return _IS_DOUBT
    if spec is MEMBER_SESSIONS:
        is_in_life = "coalesce(last_generation >= from_generation, false)"
    elif "generation" in spec.columns:
        is_in_life = "coalesce(generation >= from_generation, true)"
    else:
        is_in_life = "settled_at >= from_settled_at"
    return f"from_life IS NULL OR life > from_life OR (life = from_life AND {is_in_life})"
