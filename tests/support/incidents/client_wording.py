"""The words of a Java consumer's INFO lines about refusals and leaves, as its AbstractCoordinator logs them."""

from __future__ import annotations

from transforms.coordinator.kafka.answers import Error

_MESSAGES = {
    Error.UNKNOWN_MEMBER_ID: "The coordinator is not aware of this member.",
    Error.ILLEGAL_GENERATION: "Specified group generation id is not valid.",
    Error.FENCED_INSTANCE_ID: "The broker rejected this static consumer since another consumer with the same "
    "group.instance.id has registered with a different member.id.",
}


def generation(member_id: str, number: int, protocol: str) -> str:
    """Return how a consumer writes whose generation it is in."""
    return f"Generation{{generationId={number}, memberId='{member_id}', protocol='{protocol}'}}"


def refused(error: int, api: str, who: str, instance: str | None) -> str | None:
    """Return what is logged of a refusal; None where it is nothing."""
    if error not in _MESSAGES:
        return None
    if api == "HEARTBEAT":
        of = "Optional.empty" if instance is None else f"Optional[{instance}]"
        name = Error(error).name
        return f"Attempt to heartbeat with {who} and group instance id {of} failed due to {name}, resetting generation"
    return f"OffsetCommit failed with {who}: {_MESSAGES[Error(error)]}" if api == "OFFSET_COMMIT" else None


def leaving(member_id: str, broker: str, reason: str) -> str:
    """Return what is logged as a consumer leaves: since 2.4 with the reason, which brokers are told since 3.2."""
    to = f"broker{broker}:9092 (id: {2147483647 - int(broker)} rack: null)"
    return f"Member {member_id} sending LeaveGroup request to coordinator {to} due to {reason}"
