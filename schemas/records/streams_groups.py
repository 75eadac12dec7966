"""Records of streams groups (KIP-1071): types 17 and 19 to 23. No release has a type 18."""

from __future__ import annotations

from schemas.records.fields import (
    GROUP_KEY,
    MEMBER_KEY,
    ArrayOf,
    Field,
    RecordType,
    Scalar,
    int32s,
    strings,
    struct,
    structs,
)

_KEY_VALUE = (Field("key", Scalar.STRING), Field("value", Scalar.STRING))
_TASKS = (Field("subtopologyId", Scalar.STRING), int32s("partitions"))
_EPOCH_TASKS = (*_TASKS, Field("assignmentEpochs", ArrayOf(Scalar.INT32), nullable=True, tag=0))
_TOPIC_INFO = (
    Field("name", Scalar.STRING),
    Field("partitions", Scalar.INT32),
    Field("replicationFactor", Scalar.INT16),
    structs("topicConfigs", *_KEY_VALUE),
)
_ENDPOINT = struct(Field("host", Scalar.STRING), Field("port", Scalar.UINT16))
_COPARTITION_GROUP = tuple(
    Field(name, ArrayOf(Scalar.INT16)) for name in ("sourceTopics", "sourceTopicRegex", "repartitionSourceTopics")
)

TYPES = (
    RecordType(
        17,
        "StreamsGroupMetadata",
        key=GROUP_KEY,
        value=struct(
            Field("epoch", Scalar.INT32),
            Field("metadataHash", Scalar.INT64),
            Field("validatedTopologyEpoch", Scalar.INT32, tag=0, default=-1),
            Field("lastAssignmentConfigs", ArrayOf(struct(*_KEY_VALUE)), nullable=True, tag=1),
        ),
    ),
    RecordType(
        19,
        "StreamsGroupMemberMetadata",
        key=MEMBER_KEY,
        value=struct(
            Field("instanceId", Scalar.STRING, nullable=True),
            Field("rackId", Scalar.STRING, nullable=True),
            Field("clientId", Scalar.STRING),
            Field("clientHost", Scalar.STRING),
            Field("rebalanceTimeoutMs", Scalar.INT32),
            Field("topologyEpoch", Scalar.INT32),
            Field("processId", Scalar.STRING),
            Field("userEndpoint", _ENDPOINT, nullable=True),
            structs("clientTags", *_KEY_VALUE),
        ),
    ),
    RecordType(
        20,
        "StreamsGroupTargetAssignmentMetadata",
        key=GROUP_KEY,
        value=struct(Field("assignmentEpoch", Scalar.INT32)),
    ),
    RecordType(
        21,
        "StreamsGroupTargetAssignmentMember",
        key=MEMBER_KEY,
        value=struct(*(structs(name, *_TASKS) for name in ("activeTasks", "standbyTasks", "warmupTasks"))),
    ),
    RecordType(
        22,
        "StreamsGroupCurrentMemberAssignment",
        key=MEMBER_KEY,
        value=struct(
            Field("memberEpoch", Scalar.INT32),
            Field("previousMemberEpoch", Scalar.INT32),
            Field("state", Scalar.INT8),
            *(
                structs(name, *_EPOCH_TASKS)
                for name in (
                    "activeTasks",
                    "standbyTasks",
                    "warmupTasks",
                    "activeTasksPendingRevocation",
                    "standbyTasksPendingRevocation",
                    "warmupTasksPendingRevocation",
                )
            ),
        ),
    ),
    RecordType(
        23,
        "StreamsGroupTopology",
        key=GROUP_KEY,
        value=struct(
            Field("epoch", Scalar.INT32),
            structs(
                "subtopologies",
                Field("subtopologyId", Scalar.STRING),
                strings("sourceTopics"),
                strings("sourceTopicRegex"),
                structs("stateChangelogTopics", *_TOPIC_INFO),
                strings("repartitionSinkTopics"),
                structs("repartitionSourceTopics", *_TOPIC_INFO),
                structs("copartitionGroups", *_COPARTITION_GROUP),
            ),
        ),
    ),
)
