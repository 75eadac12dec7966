"""The loggers and prefixes that tell the lines of one coordinator from those of the other, and from all other lines."""

from __future__ import annotations

from functools import lru_cache

MARKER = "oordinator"
"""What every entry of a coordinator holds, be it only in its logger."""

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


def dialect_of(logger: str, message: str = "") -> str | None:
    """Return the dialect of an entry; None if its logger is not one of a coordinator.

    Args:
        logger: its logger as log4j prints it: whole, its end alone (`%c{1}`), or shortened (`%c{1.}`).
        message: its message, which tells where both dialects have a logger that ends so.
    """
    dialects = _dialects_of(logger)
    if len(dialects) > 1:
        return "java" if message.startswith(PREFIXES["java"]) else "scala"
    return dialects[0] if dialects else None


@lru_cache(maxsize=4096)
def _dialects_of(logger: str) -> tuple[str, ...]:
    if logger in LOGGERS:
        return (LOGGERS[logger],)
    printed = logger.split(".")
    return tuple(sorted({dialect for name, dialect in LOGGERS.items() if _is_short_for(printed, name.split("."))}))


def _is_short_for(printed: list[str], name: list[str]) -> bool:
    if printed[-1] != name[-1]:
        return False
    is_end = name[-len(printed) :] == printed
    return is_end or (len(printed) == len(name) and all(map(str.startswith, name, printed)))


PREFIXES: dict[str, tuple[str, ...]] = {
    "scala": ("[GroupCoordinator ", "[GroupMetadataManager brokerId=", "[Group Metadata Manager on Broker "),
    "java": ("[GroupCoordinator id=",),
}
"""Dialect to the beginnings of the prefixes (log contexts) that its lines carry, if they carry one."""

FOREIGN_PREFIXES = ("[ShareCoordinator ", "[TransactionCoordinator ")
"""Other coordinators that share the runtime's logger."""

COMMIT_DETAILS = (
    "Replaying offset commit with key ",
    " Committing offsets ",
    "Replaying transactional offset commit with ",
    " Committing transactional offsets ",
    "Committed transactional offset commit ",
)
"""What most lines hold once a coordinator logs at DEBUG: some for each commit, which say nothing of the group.

Their templates are in the tables too; here they are known sooner.
"""
