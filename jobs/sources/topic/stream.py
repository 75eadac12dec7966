"""The live topic `__consumer_offsets`, read by Spark's Kafka source from where the last run stopped.

Spark's checkpoint says where that was. It lies beside the tables, under the id of the bronze table, so that a table
that is made anew is filled anew; and under the incarnation of the topic, so that a topic that is made anew is read
from its beginning.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.jvm.storage import Storage
from jobs.sources.exported import as_records
from jobs.sources.topic.brokers import TOPIC, kafka_errors
from schemas.tables.bronze import OFFSETS_RECORDS

SOURCE = f"kafka:{TOPIC}"
"""What the column `source` says."""

_DEPRECATED_FETCHING = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
"""Spark's newer way to ask for offsets leaves internal topics out, and reads nothing from them without a word."""

Write = Callable[[DataFrame], None]


def read_new(
    spark: SparkSession, options: Mapping[str, str], partitions: Collection[int], checkpoint: str, write: Write
) -> None:
    """Read what came since the checkpoint, batch by batch, up to what is there now.

    Args:
        spark: session.
        options: of Kafka's client, by their own names.
        partitions: of the topic.
        checkpoint: folder of Spark's checkpoint.
        write: takes a batch in the form `jobs.sources.record_type.RECORD_TYPE`; a batch may come once more after a
            run that was cut off.

    Raises:
        SourceError: the brokers cannot be reached, or refuse.
    """
    if spark.conf.get(_DEPRECATED_FETCHING, None) is None:
        spark.conf.set(_DEPRECATED_FETCHING, "true")
    failures: list[Exception] = []

    def write_batch(batch: DataFrame, _: int) -> None:
        try:
            write(as_records(batch, SOURCE))
        except Exception as failure:
            failures.append(failure)  # only its text would come through the JVM
            raise

    with kafka_errors(options):
        stream = (
            spark.readStream.format("kafka")
            .options(**{f"kafka.{name}": value for name, value in options.items()})
            .option("assign", json.dumps({TOPIC: sorted(partitions)}))  # to subscribe is to join a group, which writes
            .option("startingOffsets", "earliest")
            .option("failOnDataLoss", "false")  # told by `transforms.topic_position`
            .load()
        )
        query = (
            stream.writeStream.foreachBatch(write_batch)
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        try:
            query.awaitTermination()
        except Exception:
            if failures:
                raise failures[0] from None
            raise


def reached(spark: SparkSession, checkpoint: str) -> dict[int, int]:
    """Return the offset of the next record to read by partition, as the checkpoint has it; empty before the first."""
    files = Storage(spark, checkpoint).files()
    batches = [int(file.name) for file in files.list("offsets") if file.name.isdigit()]
    log = files.read(f"offsets/{max(batches)}") if batches else None
    if log is None:
        return {}
    ends = json.loads(log.splitlines()[-1])  # one line for each source of the stream, behind two of its own
    return {int(partition): offset for partition, offset in ends.get(TOPIC, {}).items()}


def reused(batch: DataFrame, bronze: DataFrame) -> DataFrame:
    """Return the records whose place in the topic bronze knows with other contents.

    Args:
        batch: rows of `RECORD_TYPE`.
        bronze: rows of `bronze.offsets_records`.

    Returns:
        Rows of `RECORD_TYPE` with `reason_code`, for `silver.rejected`.
    """
    place = [name for name in OFFSETS_RECORDS.key if name in batch.columns]
    contents = ("key", "value", "recorded_at")
    same_place = [F.col(f"new.{name}") == F.col(f"old.{name}") for name in place]
    is_same = F.lit(True)
    for name in contents:
        is_same = is_same & F.col(f"new.{name}").eqNullSafe(F.col(f"old.{name}"))
    key, value = (F.coalesce(f"new.{name}", F.lit(b"")) for name in ("key", "value"))
    found = batch.alias("new").join(bronze.alias("old"), [*same_place, ~is_same])
    filled = {
        "reason_code": F.lit("offset_reused"),
        "detail": F.concat(F.lit("key of "), F.length(key), F.lit(" bytes, then the value")),
        "raw": F.concat(key, value),
        "position": F.concat_ws("/", *(F.col(f"new.{name}") for name in place), F.unix_millis("new.recorded_at")),
    }
    return found.select(*(filled.get(name, F.col(f"new.{name}")).alias(name) for name in batch.columns))
