"""The fate of commits made in transactions: what their marker said.

A commit in a transaction takes effect with the commit marker of its producer in the same partition and is dropped with
the abort marker. A producer has one open transaction at a time, so the first marker after the commit is its own. The
producer's epoch is no part of it: since KIP-890 a marker may carry the next one.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

_FATES = {"commit": "committed", "abort": "aborted"}
_PRODUCER = ("cluster", "topic_partition_of_record", "producer_id")


def resolve(commits: DataFrame, control_records: DataFrame) -> DataFrame:
    """Set `txn_state` of commits by the markers that are known.

    Args:
        commits: rows of `silver.offset_commits`.
        control_records: rows of `bronze.offsets_records` that are control records.

    Returns:
        The same rows and columns; an open commit is committed or aborted where its marker is there. All others stay
        as they are, settled ones and those that are not transactional ("none") or not known to be ("unknown").
    """
    is_open = F.col("txn_state") == "open"
    fate = F.create_map(*(F.lit(word) for pair in _FATES.items() for word in pair))[F.col("control_type")]
    markers = control_records.where(F.col("control_type").isin(*_FATES)).select(
        "cluster",
        F.col("topic_partition").alias("topic_partition_of_record"),
        "record_offset",
        "producer_id",
        fate.alias("_fate"),
    )
    # Read backwards, the last marker met is the first one after the commit.
    backwards = Window.partitionBy(*_PRODUCER).orderBy(F.col("record_offset").desc())
    later = backwards.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    resolved = (
        commits.where(is_open)
        .unionByName(markers, allowMissingColumns=True)
        .withColumn("txn_state", F.coalesce(F.last("_fate", ignorenulls=True).over(later), F.lit("open")))
        .where(F.col("group_id").isNotNull())
    )
    return resolved.select(commits.columns).unionByName(commits.where(~is_open))
