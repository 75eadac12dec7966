"""How clients of each library print the errors of Kafka that concern groups.

Java prints the message of `org.apache.kafka.common.protocol.Errors` or its name; librdkafka the text of
`rd_kafka_err2str`; kafka-python and aiokafka the name of a class; franz-go Kafka's name and message; Sarama texts of
its own (`errors.go`). Where a library words one error in the midst of a line of its own, that wording stands here too.
"""

from __future__ import annotations

WORDINGS: dict[str, tuple[str, ...]] = {
    "ILLEGAL_GENERATION": (
        "ILLEGAL_GENERATION",
        "IllegalGeneration",
        "Specified group generation id is not valid",  # Java, librdkafka
        " is not current",  # Java up to 2.5, aiokafka
        " is not  current",  # kafka-python, aiokafka before 0.12
        "The provided generation id is not the current generation",  # Sarama
    ),
    "UNKNOWN_MEMBER_ID": (
        "UNKNOWN_MEMBER_ID",
        "UnknownMemberI",  # the classes of Java and Python, franz-go
        "The coordinator is not aware of this member",  # Java
        "is unknown.",  # Java, new protocol
        "Unknown member",  # librdkafka
        "unknown member id",  # kafka-python
        "unknown member ID",  # Java, new protocol
        "member_id was not recognized",  # kafka-python, aiokafka
        "The provided member is not known in the current generation",  # Sarama
    ),
    "FENCED_INSTANCE_ID": (
        "FENCED_INSTANCE_ID",
        "FencedInstanceId",
        "The broker rejected this static consumer",  # Java, Sarama
        "Static consumer fenced",  # librdkafka
        "fenced group.instance.id",  # Java
        "group.instance.id gets fenced",  # Java
        "has been fenced",  # Java, Sarama
        "] fenced",  # Java, behind the instance id
        "fenced instance id",  # Java, new protocol
        "fenced group_instance_id",  # kafka-python
        "fenced id error",  # kafka-python
    ),
    "STALE_MEMBER_EPOCH": ("STALE_MEMBER_EPOCH", "StaleMemberEpoch", "stale member epoch", "member epoch is stale"),
    "FENCED_MEMBER_EPOCH": (
        "FENCED_MEMBER_EPOCH",
        "FencedMemberEpoch",
        "fenced by the group coordinator",
        " is fenced.",
    ),
    "UNRELEASED_INSTANCE_ID": (
        "UNRELEASED_INSTANCE_ID",
        "UnreleasedInstanceId",
        "unreleased instance id",  # Java
        "was not released",  # Java 3.7
        "instance ID is still used",
    ),
    "REBALANCE_IN_PROGRESS": (
        "REBALANCE_IN_PROGRESS",
        "RebalanceInProgress",
        "The group is rebalancing",  # Java
        "group is rebalancing",  # Java
        "group is already rebalancing",  # Java
        "The group began another rebalance",  # Java
        "Group rebalance in progress",  # librdkafka
        "A rebalance for the group is in progress",  # Sarama
        "because it is rebalancing",  # kafka-python, aiokafka
        "is rebalancing; rejoining",  # kafka-python
    ),
    "MEMBER_ID_REQUIRED": (
        "MEMBER_ID_REQUIRED",
        "MemberIdRequired",
        "MemberIDRequired",
        "The group member needs to have a valid member id",  # Java
        "Group member needs a valid member ID",  # librdkafka
    ),
    "NOT_COORDINATOR": (
        "NOT_COORDINATOR",
        "NotCoordinator",
        "This is not the correct coordinator",  # Java
        "is incorrect. Will attempt to find the coordinator",  # Java, new protocol
        "Broker: Not coordinator",  # librdkafka
        "that is not coordinated by this broker",  # Sarama
    ),
    "COORDINATOR_NOT_AVAILABLE": (
        "COORDINATOR_NOT_AVAILABLE",
        "CoordinatorNotAvailable",
        "The coordinator is not available",  # Java
        "is not available. Will attempt to find the coordinator",  # Java, new protocol
        "Broker: Coordinator not available",  # librdkafka
        "Offset's topic has not yet been created",  # Sarama
    ),
    "COORDINATOR_LOAD_IN_PROGRESS": (
        "COORDINATOR_LOAD_IN_PROGRESS",
        "LoadInProgress",
        "The coordinator is loading",  # Java
        "is still loading.",  # Java, new protocol; up to 3.9 without a blank behind it
        "Coordinator load in progress",  # librdkafka
        "The coordinator is still loading offsets",  # Sarama
    ),
    "INCONSISTENT_GROUP_PROTOCOL": (
        "INCONSISTENT_GROUP_PROTOCOL",
        "InconsistentGroupProtocol",
        "The group member's supported protocols are incompatible",  # Java
        "Inconsistent group protocol",  # librdkafka
        "The provider group protocol type is incompatible",  # Sarama
    ),
    "GROUP_MAX_SIZE_REACHED": ("GROUP_MAX_SIZE_REACHED", "GroupMaxSizeReached", "has reached its max size"),
    "GROUP_AUTHORIZATION_FAILED": (
        "GROUP_AUTHORIZATION_FAILED",
        "GroupAuthorization",
        "Not authorized to access group",  # Java
        "Group authorization failed",  # librdkafka
        "The client is not authorized to access this group",  # Sarama
    ),
}
"""Kafka's name of an error to the texts that clients print for it; of several in one line the first here is meant."""
REFUSED_BY_CLIENT: dict[str, str] = {"not part of an active group for auto partition assignment": "UNKNOWN_MEMBER_ID"}
"""What a client says when it refuses a commit itself, to the error that its coordinator would have answered.

Java's consumer (ConsumerCoordinator.sendOffsetCommitRequest) and kafka-python do not send a commit when they know that
they are no members any more. While a rebalance is under way they say so instead: that is REBALANCE_IN_PROGRESS.
"""


def refused_by_client(text: str) -> str | None:
    """Return the error that a commit was spared which its own client refused; None where it was not."""
    return next((error for wording, error in REFUSED_BY_CLIENT.items() if wording in text), None)


def error_in(text: str) -> str | None:
    """Return Kafka's name of the error that a client's line tells of; None where it tells of none."""
    for error, wordings in WORDINGS.items():
        if any(wording in text for wording in wordings):
            return error
    return None
