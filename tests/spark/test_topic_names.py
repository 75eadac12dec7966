from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from transforms.silver.topic_names import named

pytestmark = pytest.mark.spark

ID = "anslMNdpR5yJDWofq8X-fg"
COMMITS = "topic_id STRING, topic STRING"


def names(spark: Any, commits: list[tuple[str | None, str]], *bodies: str | None) -> set[tuple[str, str]]:
    modern = spark.createDataFrame([(body,) for body in bodies], "body STRING")
    return {tuple(row) for row in named(spark.createDataFrame(commits, COMMITS), modern).collect()}


def test_names_come_from_commits_and_from_what_coordinators_note(spark: Any) -> None:
    assert names(
        spark,
        [("a", "orders"), ("a", "orders"), (None, "clicks")],
        '{"topics":[{"topicId":"b","topicName":"clicks","numPartitions":3,"partitionMetadata":[]}]}',
        '{"initializedTopics":[{"topicId":"c","topicName":"pay","partitions":[0]}],"deletingTopics":[]}',
        '{"topicPartitions":[{"topicId":"d","partitions":[0]}]}',
        '{"metadata":"\\"topicName\\" in what a user wrote"}',
        None,
    ) == {("a", "orders"), ("b", "clicks"), ("c", "pay")}


def test_a_capture_names_the_topics_of_its_modern_groups(lake_rows: Callable[[str], Any]) -> None:
    tables = lake_rows("kafka-4.2.0")
    known = {row["topic_id"]: row["topic"] for row in tables["topic_names"]}
    assert known[ID] == "payments"
    assert {row["topic_id"] for row in tables["offset_commits"]} - {None} <= known.keys()
