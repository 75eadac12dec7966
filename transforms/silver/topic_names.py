"""Topic ids and the names that go with them, as far as any record says so.

Records of the modern groups name topics by their ids (KIP-516) alone. Names stand beside ids in offset commits since
version 4, and where a group's coordinator notes which topics it knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_LISTS = ("topics", "initializedTopics", "initializingTopics", "deletingTopics")
"""Fields of ConsumerGroupPartitionMetadata, ShareGroupPartitionMetadata and ShareGroupStatePartitionMetadata."""
_BODY = ", ".join(f"{name} ARRAY<STRUCT<topicId: STRING, topicName: STRING>>" for name in _LISTS)


_TELLING = '"topicName"'
"""What stands in a body that tells any."""


def told_by(bodies: Iterable[str | None]) -> Iterator[tuple[str, str]]:
    """Yield topic ids, and the names that records of modern groups give them.

    Args:
        bodies: `silver.modern_group_records.body` of each.
    """
    for body in bodies:
        if body is not None and _TELLING in body:
            fields = json.loads(body)
            for each in (each for name in _LISTS for each in fields.get(name) or ()):
                if each.get("topicId") is not None and each.get("topicName") is not None:
                    yield each["topicId"], each["topicName"]


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
    listed = modern.where(F.contains("body", F.lit(_TELLING))).select(F.explode(F.concat(*lists)).alias("each"))
    of_groups = listed.select(F.col("each.topicId").alias("topic_id"), F.col("each.topicName").alias("topic"))
    both = of_commits.unionByName(of_groups)
    return (
        both.where("topic_id IS NOT NULL AND topic IS NOT NULL").groupBy("topic_id").agg(F.min("topic").alias("topic"))
    )
