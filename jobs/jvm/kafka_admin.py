"""Kafka's own admin client, in Spark's JVM: it takes the same options, word for word, as Spark's Kafka source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from jobs.jvm.gateway import packages


class KafkaAdmin:
    """Asks brokers about one topic.

    Args:
        java: Java's packages.
        client: the client itself.
        topic: the topic's name.
    """

    def __init__(self, java: Any, client: Any, topic: str) -> None:
        self._java = java
        self._client = client
        self._topic = topic

    def describe(self) -> tuple[str | None, list[int]]:
        """Return the topic's id, None where its brokers give none, and the numbers of its partitions."""
        names = self._java.java.util.List.of(self._topic)
        topic = self._client.describeTopics(names).allTopicNames().get().get(self._topic)
        topic_id = topic.topicId()
        is_named = topic_id is not None and not topic_id.equals(self._java.org.apache.kafka.common.Uuid.ZERO_UUID)
        return topic_id.toString() if is_named else None, [each.partition() for each in topic.partitions()]

    def earliest(self, partitions: Sequence[int], isolation_level: str) -> dict[int, int]:
        """Return the first offset of each partition."""
        return self._offsets(partitions, self._spec.earliest(), isolation_level)

    def latest(self, partitions: Sequence[int], isolation_level: str) -> dict[int, int]:
        """Return the offset behind the last one of each partition, as a reader of this isolation level sees it."""
        return self._offsets(partitions, self._spec.latest(), isolation_level)

    @property
    def _spec(self) -> Any:
        return self._java.org.apache.kafka.clients.admin.OffsetSpec

    def _offsets(self, partitions: Sequence[int], spec: Any, level: str) -> dict[int, int]:
        kafka, wanted = self._java.org.apache.kafka, self._java.java.util.HashMap()
        places = {partition: kafka.common.TopicPartition(self._topic, partition) for partition in partitions}
        for place in places.values():
            wanted.put(place, spec)
        isolation = kafka.common.IsolationLevel.valueOf(level.upper())
        options = kafka.clients.admin.ListOffsetsOptions(isolation)
        found = self._client.listOffsets(wanted, options).all().get()
        return {partition: found.get(place).offset() for partition, place in places.items()}


@contextmanager
def kafka_admin(spark: SparkSession, options: Mapping[str, str], topic: str) -> Iterator[KafkaAdmin]:
    """Open an admin client for one topic.

    Args:
        spark: session whose JVM has Kafka's client.
        options: of Kafka's client, by their own names.
        topic: the topic's name.
    """
    java = packages(spark)
    properties = java.java.util.Properties()
    for name, value in options.items():
        properties.setProperty(name, value)
    client = java.org.apache.kafka.clients.admin.AdminClient.create(properties)
    try:
        yield KafkaAdmin(java, client, topic)
    finally:
        client.close()
