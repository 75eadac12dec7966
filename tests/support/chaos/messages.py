"""The requests that raw clients send, as tables: versions, fields, answers.

From the message files of kafka-clients (`JoinGroupRequest.json` and so on), as far as they are needed here. Layouts are
declared in the words of `schemas.records.fields`.
"""

from __future__ import annotations

from dataclasses import dataclass

from schemas.records.fields import ArrayOf, Field, Scalar, StructOf, struct, structs

_STRING, _INT16, _INT32 = Scalar.STRING, Scalar.INT16, Scalar.INT32

_THROTTLE = Field("throttleTimeMs", _INT32)
_ERROR = Field("errorCode", _INT16)
_GROUP = Field("groupId", _STRING)
_GENERATION = Field("generationId", _INT32)
_MEMBER = Field("memberId", _STRING)


def _text(name: str, since: int = 0, until: int | None = None) -> Field:
    """A string that may be null."""
    return Field(name, _STRING, since=since, until=until, nullable=True)


def _instance(since: int) -> Field:
    return _text("groupInstanceId", since)


@dataclass(frozen=True, slots=True)
class Api:
    """One API.

    Attributes:
        key: Kafka's number of it.
        versions: lowest and highest version that is declared here.
        flexible: first flexible version.
        request: layout of the request's body.
        answer: layout of the answer's body.
        has_plain_header: an answer's header is never flexible (ApiVersions alone).
    """

    key: int
    versions: tuple[int, int]
    flexible: int
    request: StructOf
    answer: StructOf
    has_plain_header: bool = False


APIS: dict[str, Api] = {
    "ApiVersions": Api(
        18,
        (0, 0),
        3,
        struct(),
        struct(
            _ERROR,
            structs("apiKeys", Field("apiKey", _INT16), Field("minVersion", _INT16), Field("maxVersion", _INT16)),
        ),
        has_plain_header=True,
    ),
    "CreateTopics": Api(
        19,
        (2, 4),
        5,
        struct(
            structs(
                "topics",
                Field("name", _STRING),
                Field("numPartitions", _INT32),
                Field("replicationFactor", _INT16),
                structs("assignments"),
                structs("configs"),
            ),
            Field("timeoutMs", _INT32),
            Field("validateOnly", Scalar.INT8),
        ),
        struct(_THROTTLE, structs("topics", Field("name", _STRING), _ERROR, _text("errorMessage"))),
    ),
    "FindCoordinator": Api(
        10,
        (1, 3),
        3,
        struct(Field("key", _STRING), Field("keyType", Scalar.INT8)),
        struct(
            _THROTTLE,
            _ERROR,
            _text("errorMessage"),
            Field("nodeId", _INT32),
            Field("host", _STRING),
            Field("port", _INT32),
        ),
    ),
    "JoinGroup": Api(
        11,
        (2, 9),
        6,
        struct(
            _GROUP,
            Field("sessionTimeoutMs", _INT32),
            Field("rebalanceTimeoutMs", _INT32),
            _MEMBER,
            _instance(5),
            Field("protocolType", _STRING),
            structs("protocols", Field("name", _STRING), Field("metadata", Scalar.BYTES)),
            _text("reason", 8),
        ),
        struct(
            _THROTTLE,
            _ERROR,
            _GENERATION,
            _text("protocolType", 7),
            _text("protocolName"),
            Field("leader", _STRING),
            Field("skipAssignment", Scalar.INT8, since=9),
            _MEMBER,
            structs("members", _MEMBER, _instance(5), Field("metadata", Scalar.BYTES)),
        ),
    ),
    "SyncGroup": Api(
        14,
        (1, 5),
        4,
        struct(
            _GROUP,
            _GENERATION,
            _MEMBER,
            _instance(3),
            _text("protocolType", 5),
            _text("protocolName", 5),
            structs("assignments", _MEMBER, Field("assignment", Scalar.BYTES)),
        ),
        struct(
            _THROTTLE,
            _ERROR,
            _text("protocolType", 5),
            _text("protocolName", 5),
            Field("assignment", Scalar.BYTES),
        ),
    ),
    "Heartbeat": Api(12, (1, 4), 4, struct(_GROUP, _GENERATION, _MEMBER, _instance(3)), struct(_THROTTLE, _ERROR)),
    "LeaveGroup": Api(
        13,
        (1, 5),
        4,
        struct(
            _GROUP,
            Field("memberId", _STRING, until=2),
            Field("members", ArrayOf(struct(_MEMBER, _instance(3), _text("reason", 5))), since=3),
        ),
        struct(_THROTTLE, _ERROR, Field("members", ArrayOf(struct(_MEMBER, _instance(3), _ERROR)), since=3)),
    ),
    "OffsetCommit": Api(
        8,
        (2, 9),
        8,
        struct(
            _GROUP,
            _GENERATION,
            _MEMBER,
            _instance(7),
            Field("retentionTimeMs", Scalar.INT64, since=2, until=4),
            structs(
                "topics",
                Field("name", _STRING),
                structs(
                    "partitions",
                    Field("partitionIndex", _INT32),
                    Field("committedOffset", Scalar.INT64),
                    Field("committedLeaderEpoch", _INT32, since=6),
                    _text("committedMetadata"),
                ),
            ),
        ),
        struct(
            Field("throttleTimeMs", _INT32, since=3),
            structs("topics", Field("name", _STRING), structs("partitions", Field("partitionIndex", _INT32), _ERROR)),
        ),
    ),
    "DescribeGroups": Api(
        15,
        (1, 4),
        5,
        struct(
            Field("groups", ArrayOf(_STRING)),
            Field("includeAuthorizedOperations", Scalar.INT8, since=3),
        ),
        struct(
            _THROTTLE,
            structs(
                "groups",
                _ERROR,
                _GROUP,
                Field("groupState", _STRING),
                Field("protocolType", _STRING),
                Field("protocolData", _STRING),
                structs(
                    "members",
                    _MEMBER,
                    _instance(4),
                    Field("clientId", _STRING),
                    Field("clientHost", _STRING),
                    Field("memberMetadata", Scalar.BYTES),
                    Field("memberAssignment", Scalar.BYTES),
                ),
                Field("authorizedOperations", _INT32, since=3),
            ),
        ),
    ),
    "DeleteGroups": Api(
        42,
        (1, 2),
        2,
        struct(Field("groupsNames", ArrayOf(_STRING))),
        struct(_THROTTLE, structs("results", _GROUP, _ERROR)),
    ),
}
"""Names of the APIs to what is sent and answered."""
