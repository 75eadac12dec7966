"""Why a rebalance began, in the words of `schemas.words.TRIGGERS`."""

from __future__ import annotations

from transforms.coordinator.classic.machine.events import Event

BY_EVENT: dict[Event, str] = {
    Event.MEMBER_ADDED: "member_joined",
    Event.STATIC_MEMBER_REPLACED: "static_member_replaced",
    Event.STATIC_MEMBER_CHANGED_PROTOCOL: "static_member_replaced",
    Event.LEADER_REJOINED: "leader_rejoined",
    Event.METADATA_CHANGED: "subscription_changed",
    Event.MEMBERS_LEFT: "member_left",
    Event.PENDING_MEMBER_LEFT: "pending_member_left",
    Event.SESSION_EXPIRED: "session_expired",
    Event.SYNC_TIMED_OUT: "sync_timeout",
    Event.ASSIGNMENT_STORE_FAILED: "assignment_store_failed",
    Event.LOADED_OVER_CAPACITY: "group_over_capacity",
}
"""Trigger of the join phase that an event begins; an event that is not here says nothing of the cause."""

METADATA_CHANGED = "cached metadata has changed"
POLL_TIMEOUT = "consumer poll timeout has expired."
"""Reasons that Kafka's own clients give (KIP-800); the second of a consumer whose poll loop was too slow."""

BY_CLIENT_REASON: dict[tuple[str, str], str] = {
    ("leader_rejoined", METADATA_CHANGED): "topic_metadata_changed",
    ("member_left", POLL_TIMEOUT.rstrip(".")): "poll_timeout",
}
"""What a client's own reason makes of a trigger; without the final dot, which some lines leave out."""


def refined(trigger: str, client_reason: str | None) -> str:
    """Return the trigger with the client's own reason taken into account."""
    return BY_CLIENT_REASON.get((trigger, (client_reason or "").rstrip(".")), trigger)


def is_poll_timeout(client_reason: str | None) -> bool:
    """Whether a client's reason for leaving is that its application polled too rarely."""
    return client_reason is not None and client_reason.rstrip(".") == POLL_TIMEOUT.rstrip(".")
