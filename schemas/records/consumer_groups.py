"""Records of consumer groups (KIP-848): types 3 to 8 and 16."""

from __future__ import annotations

from schemas.records.fields import (
    GROUP_KEY,
    MEMBER_KEY,
    TOPIC_PARTITIONS,
    Field,
    RecordType,
    Scalar,
    strings,
    struct,
    structs,
)

PARTITION_METADATA = struct(
    structs(
        "topics",
        Field("topicId", Scalar.UUID),
        Field("topicName", Scalar.STRING),
        Field("numPartitions", Scalar.INT32),
        structs("partitionMetadata", Field("partition", Scalar.INT32), strings("racks")),
    )
)
"""Topics as the coordinator knew them; since 4.1 a hash in the group's metadata takes its place (KIP-1101)."""

_CLASSIC_MEMBER_METADATA = struct(
    Field("sessionTimeoutMs", Scalar.INT32),
    structs("supportedProtocols", Field("name", Scalar.STRING), Field("metadata", Scalar.BYTES)),
)

TYPES = (
    RecordType(
        3,
        "ConsumerGroupMetadata",
        key=GROUP_KEY,
        value=struct(Field("epoch", Scalar.INT32), Field("metadataHash", Scalar.INT64, tag=0, default=0)),
    ),
    RecordType(4, "ConsumerGroupPartitionMetadata", key=GROUP_KEY, value=PARTITION_METADATA),
    RecordType(
        5,
        "ConsumerGroupMemberMetadata",
        key=MEMBER_KEY,
        value=struct(
            Field("instanceId", Scalar.STRING, nullable=True),
            Field("rackId", Scalar.STRING, nullable=True),
            Field("clientId", Scalar.STRING),
            Field("clientHost", Scalar.STRING),
            strings("subscribedTopicNames"),
            Field("subscribedTopicRegex", Scalar.STRING, nullable=True),
            Field("rebalanceTimeoutMs", Scalar.INT32),
            Field("serverAssignor", Scalar.STRING, nullable=True),
            # The default is an empty struct: null is written, and means a member of the consumer protocol.
            Field(
                "classicMemberMetadata",
                _CLASSIC_MEMBER_METADATA,
                nullable=True,
                tag=0,
                default={"sessionTimeoutMs": 0, "supportedProtocols": []},
            ),
        ),
    ),
    RecordType(
        6,
        "ConsumerGroupTargetAssignmentMetadata",
        key=GROUP_KEY,
        value=struct(Field("assignmentEpoch", Scalar.INT32)),
    ),
    RecordType(
        7,
        "ConsumerGroupTargetAssignmentMember",
        key=MEMBER_KEY,
        value=struct(structs("topicPartitions", *TOPIC_PARTITIONS)),
    ),
    RecordType(
        8,
        "ConsumerGroupCurrentMemberAssignment",
        key=MEMBER_KEY,
        value=struct(
            Field("memberEpoch", Scalar.INT32),
            Field("previousMemberEpoch", Scalar.INT32),
            Field("state", Scalar.INT8),
            structs("assignedPartitions", *TOPIC_PARTITIONS),
            structs("partitionsPendingRevocation", *TOPIC_PARTITIONS),
        ),
    ),
    RecordType(
        16,
        "ConsumerGroupRegularExpression",
        key=struct(Field("groupId", Scalar.STRING), Field("regularExpression", Scalar.STRING)),
        value=struct(strings("topics"), Field("version", Scalar.INT64), Field("timestamp", Scalar.INT64)),
    ),
)
