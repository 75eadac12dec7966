"""What brokers print of `__consumer_offsets`."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from schemas.tables.silver import COORDINATOR_EVENTS
from tests.support.answers import answered
from tests.support.frames import Row, to_frame
from tests.unit.findings.golden import complete
from transforms.gold.timelines.spoken import printed_partition_count

pytestmark = pytest.mark.spark


def line(at: float, count: str | None, event: str = "broker_settings") -> Row:
    printed = {"offsets.topic.num.partitions": count} if count else {"log.dirs": "/data"}
    return complete("coordinator_events", {"event": event, "logged_at": at, "attributes": printed, "group_id": None})


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ([], None),
        ([line(1.0, "7"), line(3.0, "9"), line(2.0, "50"), line(4.0, None), line(5.0, "3", "group_settings")], 9),
        ([line(1.0, "no number")], None),
    ],
)
def test_of_partition_counts_that_brokers_print_the_last_word_counts(
    spark: SparkSession, lines: list[Row], count: int | None
) -> None:
    frames = {COORDINATOR_EVENTS: to_frame(spark, COORDINATOR_EVENTS, lines)}
    told = answered(spark, printed_partition_count(lambda spec: None), frames)
    assert [row["count"] for row in told.collect()] == [count]
