"""Records of consumer groups (KIP-848): types 3 to 8 and 16.

Kafka 3.7, which had the protocol as an early access, laid out types 4, 5, 7 and 8 in another way under the same version
number. Fields that it never set tell its values: what stands there cannot stand in a value of 3.8 and later.
"""

from __future__ import annotations

from schemas.records.fields import (
    GROUP_KEY,
    MEMBER_KEY,
    TOPIC_PARTITIONS,
    EarlierValue,
    Field,
    RecordType,
    Scalar,
    strings,
    struct,
    structs,
)

_TOPICS = structs(
    "topics",
    Field("topicId", Scalar.UUID),
    Field("topicName", Scalar.STRING),
    Field("numPartitions", Scalar.INT32),
    structs("partitionMetadata", Field("partition", Scalar.INT32), strings("racks")),
)
PARTITION_METADATA = struct(_TOPICS)
"""Topics as the coordinator knew them; since 4.1 a hash in the group's metadata takes its place (KIP-1101)."""

_CLASSIC_MEMBER_METADATA = struct(
    Field("sessionTimeoutMs", Scalar.INT32),
    structs("supportedProtocols", Field("name", Scalar.STRING), Field("metadata", Scalar.BYTES)),
)

_MEMBER = (
    Field("instanceId", Scalar.STRING, nullable=True),
    Field("rackId", Scalar.STRING, nullable=True),
    Field("clientId", Scalar.STRING),
    Field("clientHost", Scalar.STRING),
    strings("subscribedTopicNames"),
    Field("subscribedTopicRegex", Scalar.STRING, nullable=True),
    Field("rebalanceTimeoutMs", Scalar.INT32),
    Field("serverAssignor", Scalar.STRING, nullable=True),
)

# --- what 3.7 wrote ---------------------------------------------------------------------------------------------------

_METADATA = (Field("metadataVersion", Scalar.INT16), Field("metadataBytes", Scalar.BYTES))
_NO_METADATA = b"\0\0\1\0"
"""Version 0, no bytes, no tagged fields: nobody could set more."""

_PARTITION_METADATA_3_7 = EarlierValue(struct(Field("epoch", Scalar.INT32), _TOPICS), begins=b"\0\0\0\0")
_MEMBER_METADATA_3_7 = EarlierValue(
    struct(
        *_MEMBER,
        structs(
            "assignors",
            Field("name", Scalar.STRING),
            Field("minimumVersion", Scalar.INT16),
            Field("maximumVersion", Scalar.INT16),
            Field("reason", Scalar.INT8),
            Field("version", Scalar.INT16),
            Field("metadata", Scalar.BYTES),
        ),
    ),
    ends=b"\1\0",  # no assignors of its own, no tagged fields
)
_TARGET_MEMBER_3_7 = EarlierValue(
    struct(Field("error", Scalar.INT8), structs("topicPartitions", *TOPIC_PARTITIONS), *_METADATA),
    begins=b"\0",
    ends=_NO_METADATA,
)
_CURRENT_ASSIGNMENT_3_7 = EarlierValue(
    struct(
        Field("memberEpoch", Scalar.INT32),
        Field("previousMemberEpoch", Scalar.INT32),
        Field("targetMemberEpoch", Scalar.INT32),
        structs("assignedPartitions", *TOPIC_PARTITIONS),
        structs("partitionsPendingRevocation", *TOPIC_PARTITIONS),
        structs("partitionsPendingAssignment", *TOPIC_PARTITIONS),
        Field("error", Scalar.INT8),
        *_METADATA,
    ),
    ends=b"\0" + _NO_METADATA,
)

TYPES = (
    RecordType(
        3,
        "ConsumerGroupMetadata",
        key=GROUP_KEY,
        value=struct(Field("epoch", Scalar.INT32), Field("metadataHash", Scalar.INT64, tag=0, default=0)),
    ),
    RecordType(
        4,
        "ConsumerGroupPartitionMetadata",
        key=GROUP_KEY,
        value=PARTITION_METADATA,
        earlier_values=(_PARTITION_METADATA_3_7,),
    ),
    RecordType(
        5,
        "ConsumerGroupMemberMetadata",
        key=MEMBER_KEY,
        value=struct(
            *_MEMBER,
            # The default is an empty struct: null is written, and means a member of the consumer protocol.
            Field(
                "classicMemberMetadata",
                _CLASSIC_MEMBER_METADATA,
                nullable=True,
                tag=0,
                default={"sessionTimeoutMs": 0, "supportedProtocols": []},
            ),
        ),
        earlier_values=(_MEMBER_METADATA_3_7,),
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
        earlier_values=(_TARGET_MEMBER_3_7,),
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
        earlier_values=(_CURRENT_ASSIGNMENT_3_7,),
    ),
    RecordType(
        16,
        "ConsumerGroupRegularExpression",
        key=struct(Field("groupId", Scalar.STRING), Field("regularExpression", Scalar.STRING)),
        value=struct(strings("topics"), Field("version", Scalar.INT64), Field("timestamp", Scalar.INT64)),
    ),
)
