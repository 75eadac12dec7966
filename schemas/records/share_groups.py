"""Records of share groups (KIP-932): types 9 to 15.

Share groups were early access up to 4.0, which wrote some of these under the same version 0 with fewer fields.
"""

from __future__ import annotations

from schemas.records.consumer_groups import PARTITION_METADATA
from schemas.records.fields import (
    GROUP_KEY,
    MEMBER_KEY,
    TOPIC_PARTITIONS,
    EarlierValue,
    Field,
    RecordType,
    Scalar,
    int32s,
    strings,
    struct,
    structs,
)

_TOPIC = (Field("topicId", Scalar.UUID), Field("topicName", Scalar.STRING))
_INITIALIZED_TOPICS = structs("initializedTopics", *_TOPIC, int32s("partitions"))
_DELETING_TOPICS = structs("deletingTopics", *_TOPIC)

TYPES = (
    RecordType(9, "ShareGroupPartitionMetadata", key=GROUP_KEY, value=PARTITION_METADATA),
    RecordType(
        10,
        "ShareGroupMemberMetadata",
        key=MEMBER_KEY,
        value=struct(
            Field("rackId", Scalar.STRING, nullable=True),
            Field("clientId", Scalar.STRING),
            Field("clientHost", Scalar.STRING),
            strings("subscribedTopicNames"),
        ),
    ),
    RecordType(
        11,
        "ShareGroupMetadata",
        key=GROUP_KEY,
        value=struct(Field("epoch", Scalar.INT32), Field("metadataHash", Scalar.INT64)),
        earlier_values=(EarlierValue(struct(Field("epoch", Scalar.INT32))),),
    ),
    RecordType(
        12,
        "ShareGroupTargetAssignmentMetadata",
        key=GROUP_KEY,
        value=struct(Field("assignmentEpoch", Scalar.INT32)),
    ),
    RecordType(
        13,
        "ShareGroupTargetAssignmentMember",
        key=MEMBER_KEY,
        value=struct(structs("topicPartitions", *TOPIC_PARTITIONS)),
    ),
    RecordType(
        14,
        "ShareGroupCurrentMemberAssignment",
        key=MEMBER_KEY,
        value=struct(
            Field("memberEpoch", Scalar.INT32),
            Field("previousMemberEpoch", Scalar.INT32),
            Field("state", Scalar.INT8),
            structs("assignedPartitions", *TOPIC_PARTITIONS),
        ),
    ),
    RecordType(
        15,
        "ShareGroupStatePartitionMetadata",
        key=GROUP_KEY,
        value=struct(
            structs("initializingTopics", *_TOPIC, int32s("partitions")), _INITIALIZED_TOPICS, _DELETING_TOPICS
        ),
        earlier_values=(EarlierValue(struct(_INITIALIZED_TOPICS, _DELETING_TOPICS)),),
    ),
)
