"""Which generations a run's requests name, however old these are: who is refused may come from one long past."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from schemas.spark import struct_type
from schemas.table import TableSpec
from transforms.gold.findings.scope import Scope
from transforms.gold.findings.search import CUTS
from transforms.question import Question, of_table
from transforms.sql import quoted

_NOT_LET_IN = 0
"""As of this generation brokers' lines tell of those who are not let in."""

_REFUSED = "refused"


def named_numbers(refused: pa.Table) -> list[int]:
    """Return the numbers of the generations that refused requests name, and of those that followed them, in order."""
    named = refused["generation"].drop_null().to_pylist()
    return sorted({number + step for number in [_NOT_LET_IN, *named] for step in (0, 1)})


def late_or_named(spec: TableSpec, scope: Scope, refused: DataFrame) -> Question:
    """Ask for the rows that findings of a run may need, however old they are if a request of their group names them.

    Args:
        spec: a table whose rows are of generations.
        scope: the groups of the run.
        refused: rows of `silver.group_requests`.
    """
    columns = ", ".join(map(quoted, spec.columns))
    return Question(
        f"""
        SELECT {columns} FROM {of_table(spec)}
        JOIN (SELECT cluster, group_id, cut FROM {{{CUTS}}}) cuts USING (cluster, group_id)
        LEFT JOIN (
            SELECT DISTINCT cluster, group_id, generation, true AS is_named FROM (
                SELECT cluster, group_id, explode(array(generation, generation + 1)) AS generation FROM (
                    SELECT cluster, group_id, generation FROM {{{_REFUSED}}} WHERE generation IS NOT NULL
                    UNION ALL SELECT cluster, group_id, {_NOT_LET_IN} FROM {{{CUTS}}}
                )
            )
        ) named USING (cluster, group_id, generation)
        WHERE {scope.is_near(spec)} OR coalesce(is_named, false)""",
        (spec,),
        struct_type(spec),
        {CUTS: scope.groups, _REFUSED: refused},
    )
