"""The error codes by which a coordinator answers."""

from __future__ import annotations

from enum import IntEnum

from schemas.kafka_errors import ERROR_CODES


class Error(IntEnum):
    """Error codes that a classic group can answer, by Kafka's names."""

    NONE = ERROR_CODES["NONE"]
    UNKNOWN_TOPIC_OR_PARTITION = ERROR_CODES["UNKNOWN_TOPIC_OR_PARTITION"]
    OFFSET_METADATA_TOO_LARGE = ERROR_CODES["OFFSET_METADATA_TOO_LARGE"]
    COORDINATOR_LOAD_IN_PROGRESS = ERROR_CODES["COORDINATOR_LOAD_IN_PROGRESS"]
    COORDINATOR_NOT_AVAILABLE = ERROR_CODES["COORDINATOR_NOT_AVAILABLE"]
    NOT_COORDINATOR = ERROR_CODES["NOT_COORDINATOR"]
    ILLEGAL_GENERATION = ERROR_CODES["ILLEGAL_GENERATION"]
    INCONSISTENT_GROUP_PROTOCOL = ERROR_CODES["INCONSISTENT_GROUP_PROTOCOL"]
    UNKNOWN_MEMBER_ID = ERROR_CODES["UNKNOWN_MEMBER_ID"]
    INVALID_SESSION_TIMEOUT = ERROR_CODES["INVALID_SESSION_TIMEOUT"]
    REBALANCE_IN_PROGRESS = ERROR_CODES["REBALANCE_IN_PROGRESS"]
    TOPIC_AUTHORIZATION_FAILED = ERROR_CODES["TOPIC_AUTHORIZATION_FAILED"]
    UNSUPPORTED_VERSION = ERROR_CODES["UNSUPPORTED_VERSION"]
    NON_EMPTY_GROUP = ERROR_CODES["NON_EMPTY_GROUP"]
    GROUP_ID_NOT_FOUND = ERROR_CODES["GROUP_ID_NOT_FOUND"]
    MEMBER_ID_REQUIRED = ERROR_CODES["MEMBER_ID_REQUIRED"]
    GROUP_MAX_SIZE_REACHED = ERROR_CODES["GROUP_MAX_SIZE_REACHED"]
    FENCED_INSTANCE_ID = ERROR_CODES["FENCED_INSTANCE_ID"]


REFUSALS: frozenset[Error] = frozenset(
    {
        Error.COORDINATOR_LOAD_IN_PROGRESS,
        Error.COORDINATOR_NOT_AVAILABLE,
        Error.NOT_COORDINATOR,
    }
)
"""Answers by which a broker says that it does not (yet, any more) coordinate the group."""

BROKER_REFUSALS: frozenset[int] = frozenset({24, 29, 30, 35, 42, 100})
"""Errors that a broker answers without asking the coordinator (invalid, not authorized, unsupported)."""

REFUSALS_OF_JOIN: frozenset[Error] = frozenset(
    {
        Error.GROUP_MAX_SIZE_REACHED,
        Error.UNKNOWN_MEMBER_ID,
        Error.INCONSISTENT_GROUP_PROTOCOL,
        Error.FENCED_INSTANCE_ID,
    }
)
"""Answers to a JoinGroup that depend on who is in the group."""
