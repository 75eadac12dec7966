"""Up to when each source of evidence has spoken: the offsets topic, and each broker by its logs."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transforms.gold.timelines.starting_points import ms

OFFSETS_TOPIC = "__consumer_offsets"


def newest(records: DataFrame, lines: DataFrame, *told_by_brokers: DataFrame) -> DataFrame:
    """Return the newest moment of each source among new rows.

    Args:
        records: new rows of `bronze.offsets_records`.
        lines: new rows of `bronze.log_lines`; those of clients do not count, whose clocks are their own.
        told_by_brokers: new rows of the silver tables that brokers' lines give rows of.

    Returns:
        source, newest DOUBLE (epoch ms; null = none of the rows has a time), is_broker (its lines told of groups).
    """
    of_topic = records.select(F.lit(OFFSETS_TOPIC).alias("source"), ms("recorded_at").alias("at"), F.lit(True))
    of_logs = lines.select(F.col("broker").alias("source"), ms("logged_at").alias("at"), F.lit(False))
    spoken = of_topic.union(of_logs)
    for rows in told_by_brokers:
        spoken = spoken.union(rows.select("broker", F.lit(None).cast("double"), F.lit(True)))
    named = spoken.toDF("source", "at", "is_broker")
    return named.groupBy("source").agg(F.max("at").alias("newest"), F.max("is_broker").alias("is_broker"))
