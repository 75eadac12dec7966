"""Records of classic groups and of committed offsets: types 0, 1 and 2.

Which release writes which version is decided by the inter-broker protocol: offset commits v1 before 2.1, v2 in
2.1-IV0, v3 up to 4.0, v4 from 4.1; group metadata v0 before 0.10.1, v1 before 2.1, v2 before 2.3, v3 since.
"""

from __future__ import annotations

from schemas.records.fields import Field, RecordType, Scalar, struct, structs

ZERO_UUID = "A" * 22
"""Uuid.ZERO_UUID as Kafka prints it: "no topic id"."""

_COMMIT_KEY = struct(Field("group", Scalar.STRING), Field("topic", Scalar.STRING), Field("partition", Scalar.INT32))

LEGACY_OFFSET_COMMIT = RecordType(
    0,
    "LegacyOffsetCommit",
    key=_COMMIT_KEY,
    value=struct(
        Field("offset", Scalar.INT64),
        Field("metadata", Scalar.STRING),
        Field("commitTimestamp", Scalar.INT64),
    ),
    first_flexible=None,
)

OFFSET_COMMIT = RecordType(
    1,
    "OffsetCommit",
    key=_COMMIT_KEY,
    value=struct(
        Field("offset", Scalar.INT64),
        Field("leaderEpoch", Scalar.INT32, since=3, default=-1),
        Field("metadata", Scalar.STRING),
        Field("commitTimestamp", Scalar.INT64),
        Field("expireTimestamp", Scalar.INT64, since=1, until=1, default=-1),
        Field("topicId", Scalar.UUID, since=4, tag=0, default=ZERO_UUID),
    ),
    last_version=4,
    first_flexible=4,
)

GROUP_METADATA = RecordType(
    2,
    "GroupMetadata",
    key=struct(Field("group", Scalar.STRING)),
    value=struct(
        Field("protocolType", Scalar.STRING),
        Field("generation", Scalar.INT32),
        Field("protocol", Scalar.STRING, nullable=True),
        Field("leader", Scalar.STRING, nullable=True),
        Field("currentStateTimestamp", Scalar.INT64, since=2, default=-1),
        structs(
            "members",
            Field("memberId", Scalar.STRING),
            Field("groupInstanceId", Scalar.STRING, since=3, nullable=True),
            Field("clientId", Scalar.STRING),
            Field("clientHost", Scalar.STRING),
            Field("rebalanceTimeout", Scalar.INT32, since=1, default=-1),
            Field("sessionTimeout", Scalar.INT32),
            Field("subscription", Scalar.BYTES),
            Field("assignment", Scalar.BYTES),
        ),
    ),
    last_version=4,
    first_flexible=4,
)

TYPES = (LEGACY_OFFSET_COMMIT, OFFSET_COMMIT, GROUP_METADATA)
