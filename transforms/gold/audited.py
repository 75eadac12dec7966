"""How far the replay of a cluster foresaw the answers to all requests that were audited."""

from __future__ import annotations

from pyspark.sql.types import LongType, StructField, StructType

from schemas.tables.gold import AUDIT_COUNTS
from transforms.question import Question

_COUNTED = ("request", "agree", "differ", "unpredicted", "race", "answer_used")

AUDITED = Question(
    f"SELECT {', '.join(f'CAST(coalesce(sum({name}_count), 0) AS BIGINT) AS {name}' for name in _COUNTED)} "
    f"FROM {{{AUDIT_COUNTS.name}}}",
    (AUDIT_COUNTS,),
    StructType([StructField(name, LongType()) for name in _COUNTED]),
)
"""The question for one row: sums of the counts of `gold.audit_counts`, each by its name there without `_count`."""
