"""The requests that raw members of groups of epochs send, as `messages` has those of classic ones."""

from __future__ import annotations

from schemas.records.fields import ArrayOf, Field, Scalar, int32s, strings, struct, structs
from tests.support.chaos.messages import Api

_STRING, _INT16, _INT32 = Scalar.STRING, Scalar.INT16, Scalar.INT32

_THROTTLE = Field("throttleTimeMs", _INT32)
_ERROR = Field("errorCode", _INT16)
_GROUP = Field("groupId", _STRING)
_MEMBER = Field("memberId", _STRING)
_PARTITIONS = (Field("topicId", Scalar.UUID), int32s("partitions"))
_NAMED_PARTITIONS = struct(
    structs("topicPartitions", Field("topicId", Scalar.UUID), Field("topicName", _STRING), int32s("partitions"))
)


def _text(name: str, since: int = 0) -> Field:
    """A string that may be null."""
    return Field(name, _STRING, since=since, nullable=True)


def _listed(name: str, *fields: Field) -> Field:
    """A list of structs that may be null."""
    return Field(name, ArrayOf(struct(*fields)), nullable=True)


def _tasks(name: str) -> Field:
    return _listed(name, Field("subtopologyId", _STRING), int32s("partitions"))


_GIVEN = Field("assignment", struct(structs("topicPartitions", *_PARTITIONS)), nullable=True)
_MANY = struct(Field("groupIds", ArrayOf(_STRING)), Field("includeAuthorizedOperations", Scalar.INT8))
_PAIR = (Field("key", _STRING), Field("value", _STRING))
_TOPIC = (
    Field("name", _STRING),
    Field("partitions", _INT32),
    Field("replicationFactor", _INT16),
    structs("topicConfigs", *_PAIR),
)
_ENDPOINT = struct(Field("host", _STRING), Field("port", Scalar.UINT16))
_OFFSET = (Field("subtopologyId", _STRING), Field("partition", _INT32), Field("offset", Scalar.INT64))
_PLACES = (Field("topic", _STRING), int32s("partitions"))

_TOPOLOGY = struct(
    Field("epoch", _INT32),
    structs(
        "subtopologies",
        Field("subtopologyId", _STRING),
        strings("sourceTopics"),
        strings("sourceTopicRegex"),
        structs("stateChangelogTopics", *_TOPIC),
        strings("repartitionSinkTopics"),
        structs("repartitionSourceTopics", *_TOPIC),
        structs("copartitionGroups"),
    ),
)

APIS: dict[str, Api] = {
    "ConsumerGroupHeartbeat": Api(
        68,
        (0, 1),
        0,
        struct(
            _GROUP,
            _MEMBER,
            Field("memberEpoch", _INT32),
            _text("instanceId"),
            _text("rackId"),
            Field("rebalanceTimeoutMs", _INT32),
            Field("subscribedTopicNames", ArrayOf(_STRING), nullable=True),
            _text("subscribedTopicRegex", 1),
            _text("serverAssignor"),
            _listed("topicPartitions", *_PARTITIONS),
        ),
        struct(
            _THROTTLE,
            _ERROR,
            _text("errorMessage"),
            _text("memberId"),
            Field("memberEpoch", _INT32),
            Field("heartbeatIntervalMs", _INT32),
            _GIVEN,
        ),
    ),
    "ConsumerGroupDescribe": Api(
        69,
        (0, 1),
        0,
        _MANY,
        struct(
            _THROTTLE,
            structs(
                "groups",
                _ERROR,
                _text("errorMessage"),
                _GROUP,
                Field("groupState", _STRING),
                Field("groupEpoch", _INT32),
                Field("assignmentEpoch", _INT32),
                Field("assignorName", _STRING),
                structs(
                    "members",
                    _MEMBER,
                    _text("instanceId"),
                    _text("rackId"),
                    Field("memberEpoch", _INT32),
                    Field("clientId", _STRING),
                    Field("clientHost", _STRING),
                    strings("subscribedTopicNames"),
                    _text("subscribedTopicRegex"),
                    Field("assignment", _NAMED_PARTITIONS),
                    Field("targetAssignment", _NAMED_PARTITIONS),
                    Field("memberType", Scalar.INT8, since=1),
                ),
                Field("authorizedOperations", _INT32),
            ),
        ),
    ),
    "ShareGroupHeartbeat": Api(
        76,
        (1, 1),
        0,
        struct(
            _GROUP,
            _MEMBER,
            Field("memberEpoch", _INT32),
            _text("rackId"),
            Field("subscribedTopicNames", ArrayOf(_STRING), nullable=True),
        ),
        struct(
            _THROTTLE,
            _ERROR,
            _text("errorMessage"),
            _text("memberId"),
            Field("memberEpoch", _INT32),
            Field("heartbeatIntervalMs", _INT32),
            _GIVEN,
        ),
    ),
    "StreamsGroupHeartbeat": Api(
        88,
        (0, 0),
        0,
        struct(
            _GROUP,
            _MEMBER,
            Field("memberEpoch", _INT32),
            Field("endpointInformationEpoch", _INT32),
            _text("instanceId"),
            _text("rackId"),
            Field("rebalanceTimeoutMs", _INT32),
            Field("topology", _TOPOLOGY, nullable=True),
            _tasks("activeTasks"),
            _tasks("standbyTasks"),
            _tasks("warmupTasks"),
            _text("processId"),
            Field("userEndpoint", _ENDPOINT, nullable=True),
            _listed("clientTags", *_PAIR),
            _listed("taskOffsets", *_OFFSET),
            _listed("taskEndOffsets", *_OFFSET),
            Field("shutdownApplication", Scalar.INT8),
        ),
        struct(
            _THROTTLE,
            _ERROR,
            _text("errorMessage"),
            _MEMBER,
            Field("memberEpoch", _INT32),
            Field("heartbeatIntervalMs", _INT32),
            Field("acceptableRecoveryLag", _INT32),
            Field("taskOffsetIntervalMs", _INT32),
            _listed("status", Field("statusCode", Scalar.INT8), Field("statusDetail", _STRING)),
            _tasks("activeTasks"),
            _tasks("standbyTasks"),
            _tasks("warmupTasks"),
            Field("endpointInformationEpoch", _INT32),
            _listed(
                "partitionsByUserEndpoint",
                Field("userEndpoint", _ENDPOINT),
                structs("activePartitions", *_PLACES),
                structs("standbyPartitions", *_PLACES),
            ),
        ),
    ),
}
"""Names of the APIs to what is sent and answered; from `ConsumerGroupHeartbeat.json` and so on."""
