"""Which generations a run's requests name, however old these are: who is refused may come from one long past."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transforms.gold.findings.kernel import GROUP

_NOT_LET_IN = 0
"""As of this generation brokers' lines tell of those who are not let in."""


def named_numbers(refused: pa.Table) -> list[int]:
    """Return the numbers of the generations that refused requests name, and of those that followed them, in order."""
    named = refused["generation"].drop_null().to_pylist()
    return sorted({number + step for number in [_NOT_LET_IN, *named] for step in (0, 1)})


def named_generations(refused: DataFrame, groups: DataFrame) -> DataFrame:
    """Return the generations that refused requests name, and those that followed them, of each group.

    Args:
        refused: rows of `silver.group_requests`.
        groups: cluster, group_id, of the requests and of all whom lines may tell of.

    Returns:
        cluster, group_id, generation; each once.
    """
    of_lines = groups.select(*GROUP, F.lit(_NOT_LET_IN).alias("generation"))
    named = refused.where("generation IS NOT NULL").select(*GROUP, "generation").unionByName(of_lines)
    return named.selectExpr(*GROUP, "explode(array(generation, generation + 1)) AS generation").distinct()
