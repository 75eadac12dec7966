"""Reasons that Java consumers give in JoinGroup and LeaveGroup (KIP-800), where they tell more than the request does.

The texts are those of Kafka's `AbstractCoordinator` and `ConsumerCoordinator`. A coordinator logs them as they were
sent, and a consumer's own log has them since 2.4. Whether a final dot is there makes no difference.
"""

from __future__ import annotations

NOT_PROVIDED = "not provided"
"""What a coordinator prints where a client gave no reason."""

METADATA_CHANGED = "cached metadata has changed"
"""A leader joins again because the partitions of its topics are others."""

POLL_TIMEOUT = "consumer poll timeout has expired."
"""A consumer leaves because its application did not poll in time."""

REFINED: dict[tuple[str, str], str] = {
    ("leader_rejoined", METADATA_CHANGED): "topic_metadata_changed",
    ("member_left", POLL_TIMEOUT): "poll_timeout",
}
"""Trigger and client's reason to the trigger that the reason turns it into, both out of `schemas.words.TRIGGERS`."""

_REFINED = {(trigger, reason.rstrip(".")): refined for (trigger, reason), refined in REFINED.items()}


def said(printed: str) -> str | None:
    """Return a client's reason as a coordinator prints it; None where the client gave none."""
    return None if printed == NOT_PROVIDED else printed


def is_poll_timeout(reason: str | None) -> bool:
    """Tell whether a client's reason, as sent or as in its own log, is `POLL_TIMEOUT`."""
    return reason is not None and reason.rstrip(".") == POLL_TIMEOUT.rstrip(".")


def refined(trigger: str, reason: str | None) -> str:
    """Return the trigger that a client's own reason makes of the coordinator's."""
    return trigger if reason is None else _REFINED.get((trigger, reason.rstrip(".")), trigger)
