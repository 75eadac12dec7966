"""Takes the live topic into bronze, and sees to it that nothing goes missing without a word."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from pyspark.sql import DataFrame

from jobs.frame.job import Job
from jobs.lake.rows import rejected_rows
from jobs.sources.record_type import RECORD_TYPE
from jobs.sources.topic import stream as kafka
from jobs.sources.topic.brokers import TOPIC, extent
from schemas.tables.bronze import OFFSETS_RECORDS
from schemas.tables.silver import REJECTED
from transforms.errors import SourceError
from transforms.given_rows import given
from transforms.topic_position import Extent, Loss, Position, losses, not_reached, start, waiting

STEP = "read_topic"


def load(job: Job, at: datetime) -> None:
    """Read what came to the topic since the last run.

    Raises:
        SourceError: the brokers cannot be reached, or Spark gave less than they say there is.
    """
    options = job.settings.offsets.client_options()
    job.report.activity(f"reading {TOPIC} from {options['bootstrap.servers']}")
    topic = extent(job.spark, options)
    before = _position(job)
    position = start(before, topic)
    if before is not None and position.incarnation != before.incarnation:
        job.report.warn(_another_topic(before, topic))
    _tell(job, losses(position, topic), at)
    note = {"topic_id": position.topic_id, "incarnation": position.incarnation}
    job.lake.progress.note(STEP, [OFFSETS_RECORDS], note)  # before the first record, which it stands for
    write = partial(_write, job, at, position.incarnation > 1)
    kafka.read_new(job.spark, options, topic.ends, _checkpoint(job, position.incarnation), write)
    _check(_position(job), topic)


def _position(job: Job) -> Position | None:
    """Return how far the topic has been read; None if never."""
    note = job.lake.progress.of(STEP, [OFFSETS_RECORDS])
    if note is None:
        return None
    offsets = kafka.reached(job.spark, _checkpoint(job, note["incarnation"]))
    return Position(note["topic_id"], note["incarnation"], offsets)


def _checkpoint(job: Job, incarnation: int) -> str:
    return job.lake.checkpoint(OFFSETS_RECORDS, str(incarnation))


def _write(job: Job, at: datetime, may_reuse: bool, batch: DataFrame) -> None:
    """Write a batch; every record that Kafka gives has its bytes and its place."""
    records = batch.select(*(name for name in OFFSETS_RECORDS.columns if name in batch.columns))
    frames = [(OFFSETS_RECORDS, records)]
    if may_reuse:
        frames.append((REJECTED, rejected_rows(kafka.reused(batch, job.lake.read(OFFSETS_RECORDS)))))
    job.append(frames, at)


def _check(reached: Position | None, topic: Extent) -> None:
    """Compare where Spark ended with where the topic ends."""
    assert reached is not None  # noted above
    missing = not_reached(reached, topic)
    if missing:
        shown = ", ".join(map(str, missing[:10]))
        raise SourceError(
            f"Spark's Kafka source left out {len(missing)} of {len(topic.ends)} partitions of {TOPIC} ({shown}) that "
            f"hold {waiting(reached, topic):,} offsets more: run it again, with "
            "spark.sql.streaming.kafka.useDeprecatedOffsetFetching not set to false."
        )


def _tell(job: Job, gone: list[Loss], at: datetime) -> None:
    """Report records that are gone, on the console and in `silver.rejected`."""
    for loss in gone:
        job.report.warn(
            f"{TOPIC}-{loss.partition}: the records from offset {loss.first} to {loss.last} were deleted before they "
            "were read: run more often"
        )
    if gone:
        rows = given(job.spark, RECORD_TYPE, map(_lost, gone))
        job.append([(REJECTED, rejected_rows(rows))], at)


def _lost(loss: Loss) -> dict[str, str]:
    return {
        "source": kafka.SOURCE,
        "position": f"{loss.partition}/{loss.first}-{loss.last}",
        "reason_code": "records_lost",
        "detail": f"{loss.last - loss.first + 1} offsets were deleted from the topic before they were read",
    }


def _another_topic(before: Position, topic: Extent) -> str:
    return (
        f"{TOPIC} is not the one that was read before (topic id {before.topic_id}, now {topic.topic_id}, or it was cut "
        "back): it is read from its beginning; records whose partition and offset another one has already go to "
        "silver.rejected as offset_reused. Give the new topic a cluster name of its own to see them all."
    )
