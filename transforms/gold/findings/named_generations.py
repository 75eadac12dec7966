"""Which generations a run's requests name, however old these are: who is refused may come from one long past."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from schemas.words import FENCING_ERRORS
from transforms.gold.findings.kernel import GROUP

_NOT_LET_IN = 0
"""As of this generation brokers' lines tell of those who are not let in."""


def named_numbers(requests: pa.Table) -> list[int]:
    """Return the numbers of the generations that refused requests name, and of those that followed them, in order."""
    refused = requests.filter(pc.is_in(requests["error"], pa.array(FENCING_ERRORS)))["generation"].drop_null()
    return sorted({number + step for number in [_NOT_LET_IN, *refused.to_pylist()] for step in (0, 1)})


def named_generations(requests: DataFrame, groups: DataFrame) -> DataFrame:
    """Return the generations that refused requests name, and those that followed them, of each group.

    Args:
        requests: rows of `silver.group_requests`.
        groups: cluster, group_id, of the requests and of all whom lines may tell of.

    Returns:
        cluster, group_id, generation; each once.
    """
    refused = requests.where(F.col("error").isin(*FENCING_ERRORS) & F.col("generation").isNotNull())
    of_lines = groups.select(*GROUP, F.lit(_NOT_LET_IN).alias("generation"))
    named = refused.select(*GROUP, "generation").unionByName(of_lines)
    return named.selectExpr(*GROUP, "explode(array(generation, generation + 1)) AS generation").distinct()
