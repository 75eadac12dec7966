"""What the brokers say of a topic, asked by Kafka's own admin client in Spark's JVM.

So the security settings are the same ones, word for word, as those of Spark's Kafka source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from transforms.errors import SourceError
from transforms.topic_position import Extent

TOPIC = "__consumer_offsets"

_TIMEOUTS_MS = {"request.timeout.ms": "15000", "default.api.timeout.ms": "30000"}
"""A scheduled job should rather fail than wait; options of the settings win."""

_KAFKA_CLASSES = ("org.apache.kafka.",)
_WRAPPERS = ("org.apache.kafka.common.KafkaException",)
"""Says only that something failed; what did is its cause."""

_ADVICE = {
    "UnknownTopicOrPartitionException": "no consumer group has used this cluster yet, or this user may not see it",
    "TopicAuthorizationException": f"the user needs READ and DESCRIBE on topic {TOPIC}",
    "SaslAuthenticationException": "check the user and the password in the environment",
    "SslAuthenticationException": "check kafka.security.protocol and the trust store",
    "TimeoutException": "check offsets.bootstrap_servers and kafka.security.protocol",
}
"""What to do about an error, by the simple name of its class."""


def extent(spark: SparkSession, options: Mapping[str, str]) -> Extent:
    """Ask the brokers what `__consumer_offsets` holds.

    Args:
        spark: session whose JVM has Kafka's client.
        options: of Kafka's client, by their own names.

    Returns:
        Its extent; ends are those that a reader of this isolation level sees.

    Raises:
        SourceError: the brokers cannot be reached, or do not show the topic to this user.
    """
    jvm: Any = spark.sparkContext._jvm
    with kafka_errors(options):
        properties = jvm.java.util.Properties()
        for name, value in {**_TIMEOUTS_MS, **options}.items():
            properties.setProperty(name, value)
        admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)
        try:
            topic = admin.describeTopics(jvm.java.util.List.of(TOPIC)).allTopicNames().get().get(TOPIC)
            partitions = [each.partition() for each in topic.partitions()]
            topic_id = topic.topicId()
            is_named = topic_id is not None and not topic_id.equals(jvm.org.apache.kafka.common.Uuid.ZERO_UUID)
            spec = jvm.org.apache.kafka.clients.admin.OffsetSpec
            level = options.get("isolation.level", "read_uncommitted")
            begins = _offsets(jvm, admin, partitions, spec.earliest(), level)
            ends = _offsets(jvm, admin, partitions, spec.latest(), level)
        finally:
            admin.close()
    return Extent(topic_id.toString() if is_named else None, begins, ends)


def _offsets(jvm: Any, admin: Any, partitions: list[int], spec: Any, level: str) -> dict[int, int]:
    wanted = jvm.java.util.HashMap()
    places = {partition: jvm.org.apache.kafka.common.TopicPartition(TOPIC, partition) for partition in partitions}
    for place in places.values():
        wanted.put(place, spec)
    isolation = jvm.org.apache.kafka.common.IsolationLevel.valueOf(level.upper())
    found = admin.listOffsets(wanted, jvm.org.apache.kafka.clients.admin.ListOffsetsOptions(isolation)).all().get()
    return {partition: found.get(place).offset() for partition, place in places.items()}


@contextmanager
def kafka_errors(options: Mapping[str, str]) -> Iterator[None]:
    """Turn an error whose cause is Kafka into a SourceError, without any value of the options; leave others alone."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        cause = _kafka_cause(error)
        if cause is None:
            raise
        name = cause.getClass().getSimpleName()
        advice = f": {_ADVICE[name]}" if name in _ADVICE else ""
        message = _without_values(f"{name}: {cause.getMessage()}", options)
        # Not "from error": the traceback of a bug report would carry what was just taken out.
        raise SourceError(f"Kafka at {options['bootstrap.servers']}{advice} ({message})") from None


def _kafka_cause(error: BaseException) -> Any:
    """Return the first cause that comes from Kafka's client and says more than that it failed."""
    throwable = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    found = None
    while throwable is not None:
        name = throwable.getClass().getName()
        if name.startswith(_KAFKA_CLASSES):
            found = throwable
            if name not in _WRAPPERS:
                break
        throwable = throwable.getCause()
    return found


def _without_values(message: str, options: Mapping[str, str]) -> str:
    """Hide the words of the options' values: an error about a JAAS line cites pieces of it."""
    shown = {"bootstrap.servers", "security.protocol", "sasl.mechanism", "isolation.level"}
    words = {
        word for name, value in options.items() if name not in shown for word in re.split(r"[\s=\"';,]+", value) if word
    }
    for word in sorted(words, key=len, reverse=True):
        if len(word) > 3:
            message = message.replace(word, "[hidden]")
    return message
