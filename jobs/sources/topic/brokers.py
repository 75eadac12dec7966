"""What the brokers say of `__consumer_offsets`, and what is said to the user where they cannot be asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from jobs.jvm.gateway import Cause, causes
from jobs.jvm.kafka_admin import kafka_admin
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
    level = options.get("isolation.level", "read_uncommitted")
    with kafka_errors(options), kafka_admin(spark, {**_TIMEOUTS_MS, **options}, TOPIC) as admin:
        topic_id, partitions = admin.describe()
        return Extent(topic_id, admin.earliest(partitions, level), admin.latest(partitions, level))


@contextmanager
def kafka_errors(options: Mapping[str, str]) -> Iterator[None]:
    """Turn an error whose cause is Kafka into a SourceError, without any value of the options; leave others alone."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        cause = _kafka_cause(error)
        if cause is None:
            raise
        name = cause.simple_name
        advice = f": {_ADVICE[name]}" if name in _ADVICE else ""
        message = _without_values(f"{name}: {cause.message}", options)
        # Not "from error": the traceback of a bug report would carry what was just taken out.
        raise SourceError(f"Kafka at {options['bootstrap.servers']}{advice} ({message})") from None


def _kafka_cause(error: BaseException) -> Cause | None:
    """Return the first cause that comes from Kafka's client and says more than that it failed."""
    of_kafka = [cause for cause in causes(error) if cause.class_name.startswith(_KAFKA_CLASSES)]
    telling = [cause for cause in of_kafka if cause.class_name not in _WRAPPERS]
    return next(iter((*telling, *reversed(of_kafka))), None)


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
