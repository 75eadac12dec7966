"""What members of protocol type `consumer` put into a group's records: subscription and assignment.

An int16 version, then the body; no version is flexible (ConsumerProtocolSubscription, ConsumerProtocolAssignment).
Layouts only ever grow at the end, so a version from the future is read as the highest known one.
"""

from __future__ import annotations

from schemas.records.fields import ArrayOf, Field, Scalar, int32s, strings, struct

PROTOCOL_TYPE = "consumer"
LAST_VERSION = 3

_TOPIC_PARTITIONS = ArrayOf(struct(Field("topic", Scalar.STRING), int32s("partitions")))

SUBSCRIPTION = struct(
    strings("topics"),
    Field("userData", Scalar.BYTES, nullable=True),
    Field("ownedPartitions", _TOPIC_PARTITIONS, since=1),
    Field("generationId", Scalar.INT32, since=2, default=-1),
    Field("rackId", Scalar.STRING, since=3, nullable=True),
)

ASSIGNMENT = struct(
    Field("assignedPartitions", _TOPIC_PARTITIONS),
    Field("userData", Scalar.BYTES, nullable=True),
)
