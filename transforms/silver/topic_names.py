"""Topic ids and the names that go with them, as far as any record says so.

Records of the modern groups name topics by their ids (KIP-516) alone. Names stand beside ids in offset commits since
version 4, and where a group's coordinator notes which topics it knows.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_LISTS = ("topics", "initializedTopics", "initializingTopics", "deletingTopics")
"""Fields of ConsumerGroupPartitionMetadata, ShareGroupPartitionMetadata and ShareGroupStatePartitionMetadata."""
_BODY = ", ".join(f"{name} ARRAY<STRUCT<topicId: STRING, topicName: STRING>>" for name in _LISTS)


def named(commits: DataFrame, modern: DataFrame) -> DataFrame:
    """Return the names of topic ids.

    Args:
        commits: rows of `silver.offset_commits`.
        modern: rows of `silver.modern_group_records`.

    Returns:
        `topic_id`, `topic`. Grain: one topic id; an id has one name for ever.
    """
    of_commits = commits.where(F.col("topic_id").isNotNull()).select("topic_id", "topic")
    body = F.from_json("body", _BODY)
    lists = [
        F.coalesce(body[name], F.array().cast("array<struct<topicId:string,topicName:string>>")) for name in _LISTS
    ]
    listed = modern.where(F.contains("body", F.lit('"topicName"'))).select(F.explode(F.concat(*lists)).alias("each"))
    of_groups = listed.select(F.col("each.topicId").alias("topic_id"), F.col("each.topicName").alias("topic"))
    both = of_commits.unionByName(of_groups)
    return (
        both.where("topic_id IS NOT NULL AND topic IS NOT NULL").groupBy("topic_id").agg(F.min("topic").alias("topic"))
    )
