"""All patterns of coordinator lines, by dialect, with the loggers and prefixes that tell the dialects apart."""

from __future__ import annotations

from transforms.loglines.broker.java_classic import CLASSIC, OFFSETS
from transforms.loglines.broker.java_modern import MODERN
from transforms.loglines.broker.java_runtime import RUNTIME, SERVICE, SHARD
from transforms.loglines.broker.scala import COORDINATOR, GROUP
from transforms.loglines.broker.scala_manager import MANAGER
from transforms.loglines.templates.blocks import Pattern, index

PATTERNS: dict[str, tuple[Pattern, ...]] = {
    "scala": (*COORDINATOR, *GROUP, *MANAGER),
    "java": (*CLASSIC, *OFFSETS, *MODERN, *SHARD, *RUNTIME, *SERVICE),
}
"""Dialect to its patterns; the first that fits is taken."""

_JAVA = "org.apache.kafka.coordinator."

LOGGERS: dict[str, str] = {
    "kafka.coordinator.group.GroupCoordinator": "scala",
    "kafka.coordinator.group.GroupMetadataManager": "scala",
    "kafka.coordinator.group.GroupMetadata": "scala",
    "kafka.coordinator.group.GroupMetadata$": "scala",
    "kafka.coordinator.GroupCoordinator": "scala",  # up to 0.10
    "kafka.coordinator.GroupMetadataManager": "scala",
    "kafka.coordinator.GroupMetadata": "scala",
    _JAVA + "group.GroupMetadataManager": "java",
    _JAVA + "group.OffsetMetadataManager": "java",
    _JAVA + "group.GroupCoordinatorShard": "java",
    _JAVA + "group.GroupCoordinatorService": "java",
    _JAVA + "group.classic.ClassicGroup": "java",
    _JAVA + "group.generic.GenericGroup": "java",  # 3.6
    _JAVA + "group.modern.consumer.ConsumerGroup": "java",
    _JAVA + "group.consumer.ConsumerGroup": "java",  # up to 3.7
    _JAVA + "group.modern.share.ShareGroup": "java",
    _JAVA + "group.streams.StreamsGroup": "java",
    _JAVA + "common.runtime.CoordinatorRuntime": "java",
    _JAVA + "common.runtime.CoordinatorLoaderImpl": "java",
    _JAVA + "group.runtime.CoordinatorRuntime": "java",  # up to 3.9
    "kafka.coordinator.group.CoordinatorLoaderImpl": "java",  # written in Scala, loads for the Java coordinator
}
"""Logger to dialect; loggers that are not here tell nothing of a group coordinator."""

PREFIXES: dict[str, tuple[str, ...]] = {
    "scala": ("[GroupCoordinator ", "[GroupMetadataManager brokerId=", "[Group Metadata Manager on Broker "),
    "java": ("[GroupCoordinator id=",),
}
"""Dialect to the beginnings of the prefixes (log contexts) that its lines carry, if they carry one."""

FOREIGN_PREFIXES = ("[ShareCoordinator ", "[TransactionCoordinator ")
"""Other coordinators that share the runtime's logger."""


COMMIT_DETAILS = (" Committing offsets ", "Replaying offset commit with key ")
"""What most lines hold once a coordinator logs at DEBUG: two for each commit, which say nothing of the group."""

_INDEX: dict[str, dict[str, tuple[Pattern, ...]]] = {dialect: index(rows) for dialect, rows in PATTERNS.items()}


def candidates(dialect: str, message: str) -> tuple[Pattern, ...]:
    """Return the patterns worth trying on a message, in the order of the tables."""
    by_word = _INDEX[dialect]
    return by_word.get(message.split(" ", 1)[0]) or by_word[""]
